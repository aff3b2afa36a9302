#pragma tuner kernel    warp_sum
#pragma tuner type      T = float
#pragma tuner size      rows cols : int = 50
#pragma tuner parameter threads = 32 128
#pragma tuner in        x[rows * cols]
#pragma tuner out       sums[rows]
#pragma tuner arguments x, sums, cols
#pragma tuner block     threads
#pragma tuner grid      rows
#pragma tuner instantiate warp_sum<T, threads>
#pragma tuner reference warp_sum_reference
#pragma tuner grid      rows
#pragma tuner block     1
#pragma tuner accumulates cols
#include <cassert>
#include <cstdio>

#define FULL_MASK 0xffffffff
#define DEVICE_INLINE __device__ __forceinline__

template <typename T>
DEVICE_INLINE T warpReduceSum(T val) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}

template <typename T>
__inline__ __device__ T blockReduceSum(T val) {
  static __shared__ T shared[32];
  int lane = threadIdx.x % warpSize;
  int wid = threadIdx.x / warpSize;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : T(0);
  if (wid == 0) val = warpReduceSum(val);
  return val;
}

template <typename T, int threads>
__global__ void __launch_bounds__(threads, 1) warp_sum(const T* __restrict__ x, T* sums, int cols) {
  assert(blockDim.x == threads);
  T sum = 0;
  for (int i = threadIdx.x; i < cols; i += threads) sum += x[(size_t)blockIdx.x * cols + i];
  sum = blockReduceSum(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    if (sum != sum) printf("row %d is not a number\n", (int)blockIdx.x);
  }
}

__global__ void warp_sum_reference(const float* x, float* sums, int cols) {
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += x[blockIdx.x * cols + i];
  sums[blockIdx.x] = sum;
}
