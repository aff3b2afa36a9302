// The sum of each row by CUB's BlockReduce, whose algorithm is a parameter. CUB comes with the CUDA toolkit and is found
// without an option. On the host, tuner provides the part of CUB that this file needs.
#pragma tuner kernel      rowSumCub
#pragma tuner type        T = float double int
#pragma tuner size        rows cols : int = 1024
#pragma tuner parameter   algorithm = BLOCK_REDUCE_WARP_REDUCTIONS BLOCK_REDUCE_RAKING BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY
#pragma tuner parameter   threads = 64 128 256 512
#pragma tuner parameter   items   = 1 2 4 8     // loaded by a thread before the block adds them
#pragma tuner block       threads
#pragma tuner grid        rows
#pragma tuner in          x[rows * cols]
#pragma tuner out         sums[rows]
#pragma tuner arguments   x, sums, cols
#pragma tuner instantiate rowSumCub<T, threads, items, cub::algorithm>
#pragma tuner accumulates cols
#pragma tuner bytes       rows * cols * sizeof(T)
#pragma tuner flops       rows * cols
#pragma tuner default     algorithm=BLOCK_REDUCE_WARP_REDUCTIONS threads=256 items=4
#pragma tuner verify      rows=3 cols=1031
#pragma tuner reference   rowSumReference<T>
#pragma tuner grid        rows
#pragma tuner block       1

#include <cub/block/block_reduce.cuh>

template <typename T, int threads, int items, cub::BlockReduceAlgorithm algorithm>
__global__ void rowSumCub(const T* x, T* sums, int cols) {
  using Reduce = cub::BlockReduce<T, threads, algorithm>;
  __shared__ typename Reduce::TempStorage storage;
  const T* row = x + static_cast<size_t>(blockIdx.x) * cols;
  T mine[items] = {};
  for (int first = threadIdx.x; first < cols; first += threads * items) {
#pragma unroll
    for (int i = 0; i < items; ++i)
      if (first + i * threads < cols) mine[i] += row[first + i * threads];
  }
  const T sum = Reduce(storage).Sum(mine);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <typename T>
__global__ void rowSumReference(const T* x, T* sums, int cols) {
  T sum = 0;
  for (int i = 0; i < cols; ++i) sum += x[static_cast<size_t>(blockIdx.x) * cols + i];
  sums[blockIdx.x] = sum;
}
