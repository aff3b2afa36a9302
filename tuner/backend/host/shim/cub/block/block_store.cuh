#pragma once
#include <limits.h>

#include "../tuner_cub.cuh"

namespace cub {

enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int items, typename Iterator>
inline void StoreDirectBlocked(int rank, Iterator to, T (&from)[items], int valid = INT_MAX) {
  for (int i = 0; i < items; ++i)
    if (rank * items + i < valid) to[rank * items + i] = from[i];
}
template <int threads, typename T, int items, typename Iterator>
inline void StoreDirectStriped(int rank, Iterator to, T (&from)[items], int valid = INT_MAX) {
  for (int i = 0; i < items; ++i)
    if (rank + i * threads < valid) to[rank + i * threads] = from[i];
}

/// Stores consecutive items of each thread. BLOCK_STORE_STRIPED stores the first items of all threads first.
template <typename T, int dim_x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int dim_y = 1,
          int dim_z = 1, int = 0>
class BlockStore {
  static constexpr int kThreads = dim_x * dim_y * dim_z;

 public:
  struct TempStorage {
    TunerValues<T, kThreads * items> values;
  };

  BlockStore() = default;
  BlockStore(TempStorage&) {}

  template <typename Iterator>
  void Store(Iterator to, T (&from)[items], int valid = INT_MAX) {
    // CUB exchanges items here, so all threads have to come.
    if constexpr (algorithm == BLOCK_STORE_TRANSPOSE || algorithm == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED)
      __syncthreads();
    if constexpr (algorithm == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<kThreads>(tuner_rank(), to, from, valid);
    } else {
      StoreDirectBlocked(tuner_rank(), to, from, valid);
    }
  }
};

}  // namespace cub
