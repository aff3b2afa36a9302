#pragma once
// What the reductions of the textbooks have in common.

#include "sum_reference.cuh"

// a[i] += a[i + distance], where both exist.
template <typename T>
__device__ void add_from(T* a, unsigned i, unsigned distance, unsigned size) {
  if (i + distance < size) a[i] = plus(a[i], a[i + distance]);
}

// y = the sum of the partial results, one for each `tile` elements, by one block. The textbooks do this on the CPU.
template <typename T, unsigned tile, unsigned final_threads>
__global__ void __launch_bounds__(final_threads) sumPartials(const T* partials, uint64 n, T* y) {
  const uint64 count = n == 0 ? 1 : (n + tile - 1) / tile;
  __shared__ T sum[final_threads];
  T mine = T(0);
#pragma unroll 8
  for (uint64 i = threadIdx.x; i < count; i += final_threads) mine = plus(mine, partials[i]);
  sum[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned stride = final_threads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) sum[threadIdx.x] = plus(sum[threadIdx.x], sum[threadIdx.x + stride]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *y = sum[0];
}
