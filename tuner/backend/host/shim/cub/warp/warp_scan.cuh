#pragma once
#include "../thread/thread_operators.cuh"

namespace cub {

template <typename T, int threads = 32, int = 0>
class WarpScan {
 public:
  struct TempStorage {
    TunerValues<T, threads> values;
  };

  WarpScan(TempStorage& storage) : storage_(storage) {}

  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, cub::Sum()); }
  void InclusiveSum(T input, T& output, T& aggregate) { InclusiveScan(input, output, cub::Sum(), aggregate); }
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(), cub::Sum()); }
  void ExclusiveSum(T input, T& output, T& aggregate) { ExclusiveScan(input, output, T(), cub::Sum(), aggregate); }

  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation) {
    T aggregate;
    InclusiveScan(input, output, operation, aggregate);
  }
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& aggregate) {
    T before;
    output = sum_before(input, operation, before, aggregate) ? static_cast<T>(operation(before, input)) : input;
  }
  /// The output of the first lane is not defined.
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
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation) {
    T aggregate;
    ExclusiveScan(input, output, initial, operation, aggregate);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, T& aggregate) {
    T before;
    output = sum_before(input, operation, before, aggregate) ? static_cast<T>(operation(initial, before)) : initial;
  }
  template <typename Operation>
  void Scan(T input, T& inclusive, T& exclusive, Operation operation) {
    T before, aggregate;
    const bool has_before = sum_before(input, operation, before, aggregate);
    inclusive = has_before ? static_cast<T>(operation(before, input)) : input;
    if (has_before) exclusive = before;
  }
  template <typename Operation>
  void Scan(T input, T& inclusive, T& exclusive, T initial, Operation operation) {
    T before, aggregate;
    exclusive = sum_before(input, operation, before, aggregate) ? static_cast<T>(operation(initial, before)) : initial;
    inclusive = operation(exclusive, input);
  }
  T Broadcast(T input, unsigned source) {
    storage_.values[lane()] = input;
    __syncwarp(mask());
    const T result = storage_.values[static_cast<int>(source)];
    __syncwarp(mask());
    return result;
  }

 private:
  static int lane() { return static_cast<int>(tuner_host::lane()) % threads; }
  static unsigned mask() {
    return (threads == 32 ? 0xffffffffu : (1u << (threads % 32)) - 1u) << (tuner_host::lane() / threads * threads);
  }

  /// Combines the values of the lanes before this one; false for the first.
  template <typename Operation>
  bool sum_before(T input, Operation operation, T& before, T& aggregate) {
    storage_.values[lane()] = input;
    __syncwarp(mask());
    aggregate = storage_.values[0];
    if (lane() > 0) before = aggregate;
    for (int i = 1; i < threads; ++i) {
      aggregate = operation(aggregate, storage_.values[i]);
      if (i + 1 == lane()) before = aggregate;
    }
    __syncwarp(mask());
    return lane() > 0;
  }

  TempStorage& storage_;
};

}  // namespace cub
