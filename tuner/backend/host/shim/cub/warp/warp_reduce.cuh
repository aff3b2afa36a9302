#pragma once
#include "../thread/thread_reduce.cuh"

namespace cub {

/// The first lane of each (logical) warp gets the result.
template <typename T, int threads = 32, int = 0>
class WarpReduce {
 public:
  struct TempStorage {
    TunerValues<T, threads> values;
  };

  WarpReduce(TempStorage& storage) : storage_(storage) {}

  template <typename Operation>
  T Reduce(T input, Operation operation, int valid) {
    const int lane = static_cast<int>(tuner_host::lane()) % threads;
    storage_.values[lane] = input;
    __syncwarp(mask());
    T sum = input;
    if (lane == 0)
      for (int i = 1; i < valid && i < threads; ++i) sum = operation(sum, storage_.values[i]);
    __syncwarp(mask());
    return sum;
  }
  template <typename Operation>
  T Reduce(T input, Operation operation) {
    return Reduce(input, operation, threads);
  }
  T Sum(T input) { return Reduce(input, cub::Sum()); }
  T Sum(T input, int valid) { return Reduce(input, cub::Sum(), valid); }

  /// Combines the values from each head up to the next head. The heads get the results.
  template <typename Flag, typename Operation>
  T HeadSegmentedReduce(T input, Flag head, Operation operation) {
    const unsigned heads = __ballot_sync(mask(), static_cast<bool>(head)) >> first();
    return segmented(input, operation, [heads](int i) { return (heads >> i & 1u) != 0; });
  }
  /// Combines the values from the lane up to the next tail, and with it.
  template <typename Flag, typename Operation>
  T TailSegmentedReduce(T input, Flag tail, Operation operation) {
    const unsigned tails = __ballot_sync(mask(), static_cast<bool>(tail)) >> first();
    return segmented(input, operation, [tails](int i) { return (tails >> (i - 1) & 1u) != 0; });
  }
  template <typename Flag>
  T HeadSegmentedSum(T input, Flag head) {
    return HeadSegmentedReduce(input, head, cub::Sum());
  }
  template <typename Flag>
  T TailSegmentedSum(T input, Flag tail) {
    return TailSegmentedReduce(input, tail, cub::Sum());
  }

 private:
  static unsigned first() { return tuner_host::lane() / threads * threads; }
  static unsigned mask() { return (threads == 32 ? 0xffffffffu : (1u << (threads % 32)) - 1u) << first(); }

  template <typename Operation, typename Begins>
  T segmented(T input, Operation operation, Begins begins) {
    const int lane = static_cast<int>(tuner_host::lane()) % threads;
    storage_.values[lane] = input;
    __syncwarp(mask());
    T sum = input;
    for (int i = lane + 1; i < threads && !begins(i); ++i) sum = operation(sum, storage_.values[i]);
    __syncwarp(mask());
    return sum;
  }

  TempStorage& storage_;
};

}  // namespace cub
