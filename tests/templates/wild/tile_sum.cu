#pragma tuner kernel    tile_sum
#pragma tuner type      T = int
#pragma tuner size      n : int = 3000
#pragma tuner parameter threads = 32 256
#pragma tuner parameter how = 0 1 2
#pragma tuner define    how
#pragma tuner in        x[n]
#pragma tuner out       sums[ceil_div(n, 32)], scans[n]
#pragma tuner arguments x, sums, scans, n
#pragma tuner block     threads
#pragma tuner grid      ceil_div(n, threads)
#pragma tuner instantiate tile_sum
#pragma tuner reference tile_sum_reference
#pragma tuner grid      ceil_div(n, 32)
#pragma tuner block     1
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__device__ int add_up(cg::thread_block_tile<32> tile, int value) {
#if how == 0 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
  return cg::reduce(tile, value, cg::plus<int>());
#elif how == 1
  return __reduce_add_sync(0xffffffff, value);
#else
  for (int i = tile.size() / 2; i > 0; i /= 2) value += tile.shfl_down(value, i);
  return tile.shfl(value, 0);
#endif
}

extern "C" __global__ void tile_sum(const int* x, int* sums, int* scans, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int i = blockIdx.x * blockDim.x + block.thread_rank();
  const int value = i < n ? x[i] : 0;
  const int sum = add_up(warp, value);
  if (warp.thread_rank() == 0 && i < n) sums[i / 32] = sum;
  const int scan = cg::inclusive_scan(warp, value);
  if (i < n) scans[i] = scan;
}

extern "C" __global__ void tile_sum_reference(const int* x, int* sums, int* scans, int n) {
  int sum = 0;
  for (int i = blockIdx.x * 32; i < n && i < (int)blockIdx.x * 32 + 32; ++i) scans[i] = sum += x[i];
  sums[blockIdx.x] = sum;
}
