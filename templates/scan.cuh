#pragma once
// Prefix sums within a warp, and between the warps of a block.

#include "plus.cuh"

constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xffffffffu;

__device__ inline unsigned lane() { return threadIdx.x % warp; }

// The sum of the values of the lanes up to this one. Called by all 32 lanes.
template <typename T>
__device__ T scan_warp(T value) {
#pragma unroll
  for (unsigned offset = 1; offset < warp; offset *= 2) {
    const T other = __shfl_up_sync(all_lanes, value, offset);
    if (lane() >= offset) value = plus(other, value);  // lanes below receive their own value
  }
  return value;
}

// The result of a scan over one value of each thread or warp.
template <typename T>
struct Scanned {
  T before;  // the sum of the values of those before this one
  T all;     // the sum of all, the same everywhere
};

// Over one value of each warp, the same in its lanes. Every warp scans all values for itself, in place of a second
// barrier, and broadcasts two of the results. Called by all threads, with a barrier between two calls.
template <unsigned threads, typename T>
__device__ Scanned<T> scan_warps(T of_warp) {
  static_assert(threads % warp == 0 && threads <= warp * warp, "whole warps, and one value of each fits into a warp");
  constexpr unsigned warps = threads / warp;
  if constexpr (warps == 1) return {T(0), of_warp};
  __shared__ T of_warps[warps];
  const unsigned mine = threadIdx.x / warp;
  if (lane() == 0) of_warps[mine] = of_warp;
  __syncthreads();
  const T up_to = scan_warp(lane() < warps ? of_warps[lane()] : T(0));
  const T before = __shfl_sync(all_lanes, up_to, mine == 0 ? 0 : mine - 1);
  return {mine == 0 ? T(0) : before, __shfl_sync(all_lanes, up_to, warps - 1)};
}
