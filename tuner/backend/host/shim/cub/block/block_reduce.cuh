#pragma once
#include "../tuner_cub.cuh"

namespace cub {

/// The first thread of \p Threads gets the result; the others get their own input.
template <typename T, typename Threads>
class TunerReduce {
 public:
  struct Room {
    TunerValues<T, Threads::kThreads> values;
  };
  using TempStorage = typename Threads::template Temp<Room>;

  TunerReduce(TempStorage& storage) : storage_(Threads::room(storage)) {}

  template <typename Operation>
  T Reduce(T input, Operation operation, int valid) {
    storage_.values[Threads::rank()] = input;
    Threads::sync();
    T sum = input;
    if (Threads::rank() == 0)
      for (int i = 1; i < valid && i < Threads::kThreads; ++i) sum = operation(sum, storage_.values[i]);
    Threads::leave();
    return sum;
  }
  template <typename Operation>
  T Reduce(T input, Operation operation) {
    return Reduce(input, operation, Threads::kThreads);
  }
  T Sum(T input) { return Reduce(input, cub::Sum()); }
  T Sum(T input, int valid) { return Reduce(input, cub::Sum(), valid); }

 protected:
  Room& storage_;
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};

template <typename T, int dim_x, BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int dim_y = 1,
          int dim_z = 1, int = 0>
class BlockReduce : public TunerReduce<T, TunerBlock<dim_x * dim_y * dim_z>> {
  using Base = TunerReduce<T, TunerBlock<dim_x * dim_y * dim_z>>;

 public:
  using Base::Base;
  BlockReduce() : Base(tuner_storage<typename Base::TempStorage>()) {}

  using Base::Reduce;
  using Base::Sum;
  template <int items, typename Operation>
  T Reduce(T (&inputs)[items], Operation operation) {
    return Base::Reduce(ThreadReduce(inputs, operation), operation);
  }
  template <int items>
  T Sum(T (&inputs)[items]) {
    return Reduce(inputs, cub::Sum());
  }
};

}  // namespace cub
