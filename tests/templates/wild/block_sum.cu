#pragma tuner kernel    block_sum
#pragma tuner type      T = float
#pragma tuner size      n : unsigned = 5000
#pragma tuner parameter blockSize = 32 64 256
#pragma tuner parameter byName = false true
#pragma tuner define    blockSize byName
#pragma tuner let       blocks = ceil_div(n, 256 * 2)
#pragma tuner in        x[n]
#pragma tuner out       sums[blocks]
#pragma tuner arguments x, sums, n
#pragma tuner block     blockSize
#pragma tuner grid      blocks
#pragma tuner shared    blockSize * sizeof(T)
#pragma tuner instantiate block_sum<T>
#pragma tuner reference block_sum_reference
#pragma tuner accumulates 512
#include "common/shared_memory.h"
#include <stdio.h>

template <class T>
__global__ void block_sum(const T* x, T* sums, unsigned int n) {
#if byName
  T* values = block_values;
#else
  T* values = SharedMemory<T>();
#endif
  unsigned int tid = threadIdx.x;
  T sum = 0;
  for (unsigned int i = tid; i < 512; i += blockSize) {
    unsigned int at = blockIdx.x * 512 + i;
    if (at < n) sum += x[at];
  }
  values[tid] = sum;
  __syncthreads();
  for (unsigned int s = blockSize / 2; s > 0; s >>= 1) {
    if (tid < s) values[tid] = sum = sum + values[tid + s];
    __syncthreads();
  }
  if (tid == 0) sums[blockIdx.x] = sum;
}

__global__ void block_sum_reference(const float* x, float* sums, unsigned int n) {
  const unsigned int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= (n + 511) / 512) return;
  float sum = 0;
  for (unsigned int i = block * 512; i < min(n, (block + 1) * 512); ++i) sum += x[i];
  sums[block] = sum;
}

int main(void) { say("run through tuner"); }
