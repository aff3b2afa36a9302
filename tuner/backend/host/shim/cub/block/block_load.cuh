#pragma once
#include <limits.h>

#include "../tuner_cub.cuh"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int items, typename Iterator>
inline void LoadDirectBlocked(int rank, Iterator from, T (&to)[items], int valid = INT_MAX) {
  for (int i = 0; i < items; ++i)
    if (rank * items + i < valid) to[i] = from[rank * items + i];
}
template <int threads, typename T, int items, typename Iterator>
inline void LoadDirectStriped(int rank, Iterator from, T (&to)[items], int valid = INT_MAX) {
  for (int i = 0; i < items; ++i)
    if (rank + i * threads < valid) to[i] = from[rank + i * threads];
}

/// Loads consecutive items into each thread. BLOCK_LOAD_STRIPED loads the first items of all threads first.
template <typename T, int dim_x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int dim_y = 1,
          int dim_z = 1, int = 0>
class BlockLoad {
  static constexpr int kThreads = dim_x * dim_y * dim_z;

 public:
  struct TempStorage {
    TunerValues<T, kThreads * items> values;
  };

  BlockLoad() = default;
  BlockLoad(TempStorage&) {}

  template <typename Iterator>
  void Load(Iterator from, T (&to)[items], int valid = INT_MAX) {
    if constexpr (algorithm == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<kThreads>(tuner_rank(), from, to, valid);
    } else {
      LoadDirectBlocked(tuner_rank(), from, to, valid);
    }
    // CUB exchanges items here, so all threads have to come.
    if constexpr (algorithm == BLOCK_LOAD_TRANSPOSE || algorithm == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED)
      __syncthreads();
  }
  template <typename Iterator, typename Default>
  void Load(Iterator from, T (&to)[items], int valid, Default otherwise) {
    for (int i = 0; i < items; ++i) to[i] = otherwise;
    Load(from, to, valid);
  }
};

}  // namespace cub
