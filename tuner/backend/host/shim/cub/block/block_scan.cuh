#pragma once
#include "../tuner_cub.cuh"

namespace cub {

/// Each thread of \p Threads gets its items combined with those of the threads before it.
template <typename T, typename Threads>
class TunerScan {
 public:
  struct Room {
    TunerValues<T, Threads::kThreads> values;
    TunerValues<T, 1> prefix;
  };
  using TempStorage = typename Threads::template Temp<Room>;

  TunerScan(TempStorage& storage) : storage_(Threads::room(storage)) {}

  // One item a thread: mostly as an array of one.
  template <typename... More>
  void ExclusiveSum(T input, T& output, More&... more) {
    ExclusiveScan(input, output, T(), cub::Sum(), more...);
  }
  template <typename... More>
  void InclusiveSum(T input, T& output, More&... more) {
    InclusiveScan(input, output, cub::Sum(), more...);
  }
  template <typename... More>
  void ExclusiveScan(T input, T& output, More&&... more) {
    T inputs[1] = {input}, outputs[1];
    ExclusiveScan(inputs, outputs, static_cast<More&&>(more)...);
    output = outputs[0];
  }
  template <typename... More>
  void InclusiveScan(T input, T& output, More&&... more) {
    T inputs[1] = {input}, outputs[1];
    InclusiveScan(inputs, outputs, static_cast<More&&>(more)...);
    output = outputs[0];
  }
  /// The output of the first thread is not defined.
  template <typename Operation>
  void ExclusiveScan(T input, T& output, Operation operation) {
    T aggregate;
    ExclusiveScan(input, output, operation, aggregate);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, Operation operation, T& aggregate) {
    T before;
    if (sum_before(input, operation, before, aggregate)) output = before;
  }

  // Several items a thread.
  template <int items, typename... More>
  void ExclusiveSum(T (&input)[items], T (&output)[items], More&... more) {
    ExclusiveScan(input, output, T(), cub::Sum(), more...);
  }
  template <int items, typename... More>
  void InclusiveSum(T (&input)[items], T (&output)[items], More&... more) {
    InclusiveScan(input, output, cub::Sum(), more...);
  }
  template <int items, typename Operation>
  void ExclusiveScan(T (&input)[items], T (&output)[items], T initial, Operation operation) {
    T aggregate;
    ExclusiveScan(input, output, initial, operation, aggregate);
  }
  template <int items, typename Operation>
  void ExclusiveScan(T (&input)[items], T (&output)[items], T initial, Operation operation, T& aggregate) {
    T before;
    const bool has_before = sum_before(ThreadReduce(input, operation), operation, before, aggregate);
    shift(input, output, has_before ? static_cast<T>(operation(initial, before)) : initial, operation);
  }
  template <int items, typename Operation, typename Prefix>
  void ExclusiveScan(T (&input)[items], T (&output)[items], T, Operation operation, Prefix& prefix) {
    ExclusiveScan(input, output, operation, prefix);
  }
  template <int items, typename Operation, typename Prefix>
  void ExclusiveScan(T (&input)[items], T (&output)[items], Operation operation, Prefix& prefix) {
    T before, aggregate;
    const bool has_before = sum_before(ThreadReduce(input, operation), operation, before, aggregate);
    const T first = prefix_of(prefix, aggregate);
    shift(input, output, has_before ? static_cast<T>(operation(first, before)) : first, operation);
  }
  template <int items, typename Operation>
  void InclusiveScan(T (&input)[items], T (&output)[items], Operation operation) {
    T aggregate;
    InclusiveScan(input, output, operation, aggregate);
  }
  template <int items, typename Operation>
  void InclusiveScan(T (&input)[items], T (&output)[items], Operation operation, T& aggregate) {
    T before;
    const bool has_before = sum_before(ThreadReduce(input, operation), operation, before, aggregate);
    ThreadScanInclusive(input, output, operation, before, has_before);
  }
  template <int items, typename Operation, typename Prefix>
  void InclusiveScan(T (&input)[items], T (&output)[items], Operation operation, Prefix& prefix) {
    T before, aggregate;
    const bool has_before = sum_before(ThreadReduce(input, operation), operation, before, aggregate);
    const T first = prefix_of(prefix, aggregate);
    ThreadScanInclusive(input, output, operation, has_before ? static_cast<T>(operation(first, before)) : first);
  }

 protected:
  /// Combines the values of the threads before this one; false for the first. \p aggregate: of all threads.
  template <typename Operation>
  bool sum_before(T input, Operation operation, T& before, T& aggregate) {
    const int rank = Threads::rank();
    storage_.values[rank] = input;
    Threads::sync();
    aggregate = storage_.values[0];
    if (rank > 0) before = aggregate;
    for (int i = 1; i < Threads::kThreads; ++i) {
      aggregate = operation(aggregate, storage_.values[i]);
      if (i + 1 == rank) before = aggregate;
    }
    Threads::leave();
    return rank > 0;
  }
  /// Gives each item the combination of \p first and the items before it. Both arrays may be the same.
  template <int items, typename Operation>
  static void shift(T (&input)[items], T (&output)[items], T first, Operation operation) {
    for (int i = 0; i < items; ++i) {
      const T next = operation(first, input[i]);
      output[i] = first;
      first = next;
    }
  }
  /// The first warp calls \p prefix, as in CUB. The result of its first lane counts.
  template <typename Prefix>
  T prefix_of(Prefix& prefix, T aggregate) {
    if (Threads::rank() < 32) {
      const T first = prefix(aggregate);
      if (Threads::rank() == 0) storage_.prefix[0] = first;
    }
    Threads::sync();
    return storage_.prefix[0];
  }

  Room& storage_;
};

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <typename T, int dim_x, BlockScanAlgorithm algorithm = BLOCK_SCAN_RAKING, int dim_y = 1, int dim_z = 1,
          int = 0>
class BlockScan : public TunerScan<T, TunerBlock<dim_x * dim_y * dim_z>> {
  using Base = TunerScan<T, TunerBlock<dim_x * dim_y * dim_z>>;

 public:
  using Base::Base;
  BlockScan() : Base(tuner_storage<typename Base::TempStorage>()) {}
};

}  // namespace cub
