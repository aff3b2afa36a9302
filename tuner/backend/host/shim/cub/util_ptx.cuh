#pragma once
#include "config.cuh"

namespace cub {

inline unsigned LaneId() { return tuner_host::lane(); }
inline unsigned WarpId() { return tuner_host::context.thread->linear / 32u; }
inline int RowMajorTid(int, int, int) { return tuner_rank(); }
inline void CTA_SYNC() { __syncthreads(); }
inline void WARP_SYNC(unsigned mask) { __syncwarp(mask); }

}  // namespace cub
