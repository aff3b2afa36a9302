#pragma once
#include "../thread/thread_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};

/// Thread 0 gets the result; other threads get their own input.
template <typename T, int dim_x, BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int dim_y = 1,
          int dim_z = 1, int = 0>
class BlockReduce {
  static constexpr int kThreads = dim_x * dim_y * dim_z;

 public:
  struct TempStorage {
    TunerValues<T, kThreads> values;
  };

  BlockReduce() : storage_(tuner_storage<TempStorage>()) {}
  BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <typename Operation>
  T Reduce(T input, Operation operation, int valid) {
    storage_.values[tuner_rank()] = input;
    __syncthreads();
    if (tuner_rank() != 0) return input;
    T sum = input;
    for (int i = 1; i < valid && i < kThreads; ++i) sum = operation(sum, storage_.values[i]);
    return sum;
  }
  template <typename Operation>
  T Reduce(T input, Operation operation) {
    return Reduce(input, operation, kThreads);
  }
  template <int items, typename Operation>
  T Reduce(T (&inputs)[items], Operation operation) {
    return Reduce(ThreadReduce(inputs, operation), operation);
  }
  T Sum(T input) { return Reduce(input, cub::Sum()); }
  T Sum(T input, int valid) { return Reduce(input, cub::Sum(), valid); }
  template <int items>
  T Sum(T (&inputs)[items]) {
    return Reduce(inputs, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
