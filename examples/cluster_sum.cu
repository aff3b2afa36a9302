// The sum of an array in two launches that overlap. The blocks of a cluster add their sums in shared memory, so that the
// first launch writes one number for each cluster, not for each block. Clusters need compute capability 9.0, or the host.
#pragma tuner kernel    clusterSum
#pragma tuner size      n = 1M
#pragma tuner parameter width = 1 2 4 8 16   // blocks of a cluster
#pragma tuner parameter block = 128 256 512
#pragma tuner parameter overlap = true false
#pragma tuner let       tile = width * block * 16
#pragma tuner in        x[n] : int
#pragma tuner scratch   part[max(1, ceil_div(n, tile))] : int
#pragma tuner out       y[1] : int
#pragma tuner bytes     n * 4
#pragma tuner default   width=4 block=256 overlap=true

#pragma tuner grid      width * max(1, ceil_div(n, tile))
#pragma tuner block     block
#pragma tuner cluster   width
#pragma tuner arguments x, part, n

#pragma tuner launch    sumParts
#pragma tuner grid      1
#pragma tuner block     256
#pragma tuner dependent overlap
#pragma tuner arguments part, y, max(1, ceil_div(n, tile))

#pragma tuner reference sumAll
#pragma tuner arguments x, y, n
#pragma tuner grid      1
#pragma tuner block     1

#include <cooperative_groups.h>

__device__ int sumOfBlock(int value) {  // in every thread
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, value);
  __syncthreads();
  return sum;
}

__global__ void clusterSum(const int* x, int* part, int n) {
  __shared__ int mine;
  const auto cluster = cooperative_groups::this_cluster();
  int sum = 0;
  for (int k = 0; k < 16; ++k) {
    const int i = (blockIdx.x * 16 + k) * blockDim.x + threadIdx.x;
    if (i < n) sum += x[i];
  }
  sum = sumOfBlock(sum);
  if (threadIdx.x == 0) mine = sum;
  cluster.sync();  // every block has its sum, and no block has ended
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int all = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) all += *cluster.map_shared_rank(&mine, rank);
    part[blockIdx.x / cluster.num_blocks()] = all;
  }
  cluster.sync();  // no block ends before its sum was read
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void sumParts(const int* part, int* y, int parts) {
  cudaGridDependencySynchronize();  // the parts are there from here on
  int sum = 0;
  for (int i = threadIdx.x; i < parts; i += blockDim.x) sum += part[i];
  sum = sumOfBlock(sum);
  if (threadIdx.x == 0) *y = sum;
}

__global__ void sumAll(const int* x, int* y, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  *y = sum;
}
