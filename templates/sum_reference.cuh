#pragma once
// The reference of kernels that compute one sum.

#include "plus.cuh"

// Thread i of 8192 adds the elements i, i + 8192, ... in that order, and a single thread the 8192 results, in a wider
// type W. An int's sum wraps when it is stored.
template <typename T, typename W>
__global__ void sumReference(const T* x, uint64 n, W* wide) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  W sum = 0;
  for (uint64 i = thread; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  wide[thread] = sum;
}

template <typename T, typename W>
__global__ void sumReferenceEnd(const W* wide, T* y) {
  W sum = 0;
  for (unsigned i = 0; i < 8192; ++i) sum += wide[i];
  *y = static_cast<T>(sum);
}
