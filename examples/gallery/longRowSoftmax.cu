// y = softmax of each row of x, for rows so long that no block can keep one.
// y[r][c] = exp(x[r][c] - max of row r) / sum over the row of exp(x[r][.] - max)
//
// The blocks of a cluster share a row. Each keeps its part in registers, so that x is read once. They exchange the
// largest element and the sum of their parts through distributed shared memory, and then write the results. Without
// clusters a row would be read twice, or half of the multiprocessors would do nothing.
//
// See the CUDA C++ Programming Guide, "Thread Block Clusters" and "Distributed Shared Memory", and M. Milakov,
// N. Gimelshein, "Online normalizer calculation for softmax" (2018), for the sum beside a maximum of parts.
//
// Parameters:
// - cluster  the blocks that share a row. More of them keep longer rows, and more wait for each other.
// - threads  the threads of a block.
// - kept     the vectors of four elements that a thread keeps. All together hold a row.
// - cache    streaming: loads and stores hint that nothing will be used again.

#pragma tuner kernel      longRowSoftmax
#pragma tuner size        rows    : int = 512
#pragma tuner size        columns : int = 131072
#pragma tuner parameter   cluster = 1 2 4 8 16
#pragma tuner parameter   threads = 128 256 512 1024
#pragma tuner parameter   kept    = 1 2 4 8 16
#pragma tuner parameter   cache   = plain streaming
#pragma tuner constraint  whole_vectors: columns % 4 == 0
#pragma tuner constraint  holds_a_row:   4 * cluster * threads * kept >= columns
#pragma tuner constraint  registers:     threads * (4 * kept + 24) <= 65536
#pragma tuner in          x[rows * columns] : float
#pragma tuner out         y[rows * columns] : float
#pragma tuner aligned     16
#pragma tuner fill        x = uniform -4 4
#pragma tuner grid        cluster, max(1, rows)
#pragma tuner block       threads
#pragma tuner cluster     cluster
#pragma tuner arguments   x, y, columns
#pragma tuner instantiate longRowSoftmax<cluster, threads, kept, Cache::cache>
#pragma tuner reference   longRowSoftmaxReference
#pragma tuner grid        max(1, rows)
#pragma tuner block       256
#pragma tuner verify      rows=3 columns=16388
#pragma tuner verify      rows=2 columns=4
#pragma tuner tolerance   relative 2e-5 absolute 1e-12
#pragma tuner bytes       2 * rows * columns * 4
#pragma tuner flops       5 * rows * columns
#pragma tuner default     cluster=8 threads=512 kept=8 cache=plain

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum class Cache { plain, streaming };

// The largest element of a part of a row, and the sum of the powers relative to it.
struct Part {
  float largest, sum;
};

__device__ Part together(Part a, Part b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ Part of_warp(Part part) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    part = together(part, {__shfl_xor_sync(~0u, part.largest, step), __shfl_xor_sync(~0u, part.sum, step)});
  return part;
}

template <int cluster, int threads, int kept, Cache cache>
__global__ __launch_bounds__(threads) void longRowSoftmax(const float* x, float* y, int columns) {
  // Finite, so that the difference of two maxima is never NaN; the power of an element less than all is 0.
  const float lowest = -3.402823466e38f;
  __shared__ Part of_warps[threads / 32];
  __shared__ Part of_blocks[cluster];
  const long long row = static_cast<long long>(blockIdx.y) * columns;
  const float4* const from = reinterpret_cast<const float4*>(x + row);
  float4* const to = reinterpret_cast<float4*>(y + row);
  const int first = blockIdx.x * threads + threadIdx.x, vectors = columns / 4;

  float4 own[kept];
#pragma unroll
  for (int i = 0; i < kept; ++i) {
    const int at = first + i * cluster * threads;
    if (at >= vectors) own[i] = {lowest, lowest, lowest, lowest};
    else if constexpr (cache == Cache::streaming) own[i] = __ldcs(from + at);
    else own[i] = from[at];
  }
  Part part{lowest, 0};
#pragma unroll
  for (int i = 0; i < kept; ++i)
    part.largest = fmaxf(part.largest, fmaxf(fmaxf(own[i].x, own[i].y), fmaxf(own[i].z, own[i].w)));
#pragma unroll
  for (int i = 0; i < kept; ++i) {
    if (first + i * cluster * threads >= vectors) continue;
    own[i] = {__expf(own[i].x - part.largest), __expf(own[i].y - part.largest), __expf(own[i].z - part.largest),
              __expf(own[i].w - part.largest)};
    part.sum += (own[i].x + own[i].y) + (own[i].z + own[i].w);
  }
  const float own_largest = part.largest;

  part = of_warp(part);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = part;
  __syncthreads();
  if (threadIdx.x < 32) {
    part = of_warp(threadIdx.x < threads / 32 ? of_warps[threadIdx.x] : Part{lowest, 0});
    if constexpr (cluster > 1) {
      const auto blocks = cg::this_cluster();
      if (threadIdx.x < cluster) *blocks.map_shared_rank(of_blocks + blocks.block_rank(), threadIdx.x) = part;
    } else if (threadIdx.x == 0) {
      of_blocks[0] = part;
    }
  }
  if constexpr (cluster > 1) cg::this_cluster().sync();
  else __syncthreads();

  Part whole = of_blocks[0];
#pragma unroll
  for (int i = 1; i < cluster; ++i) whole = together(whole, of_blocks[i]);
  const float factor = __expf(own_largest - whole.largest) / whole.sum;
#pragma unroll
  for (int i = 0; i < kept; ++i) {
    const int at = first + i * cluster * threads;
    if (at >= vectors) continue;
    const float4 result{own[i].x * factor, own[i].y * factor, own[i].z * factor, own[i].w * factor};
    if constexpr (cache == Cache::streaming) __stcs(to + at, result);
    else to[at] = result;
  }
}

__global__ void longRowSoftmaxReference(const float* x, float* y, int columns) {
  __shared__ double sums[256];
  __shared__ float most[256];
  const float* const from = x + static_cast<long long>(blockIdx.x) * columns;
  float* const to = y + static_cast<long long>(blockIdx.x) * columns;
  float largest = from[0];
  for (int i = threadIdx.x; i < columns; i += 256) largest = fmaxf(largest, from[i]);
  most[threadIdx.x] = largest;
  __syncthreads();
  for (int i = 0; i < 256; ++i) largest = fmaxf(largest, most[i]);
  double sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) sum += exp(double(from[i]) - largest);
  sums[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 256; ++i) sum += sums[i];
  for (int i = threadIdx.x; i < columns; i += 256) to[i] = float(exp(double(from[i]) - largest) / sum);
}
