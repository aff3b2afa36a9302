#pragma tuner kernel    cub_parts
#pragma tuner type      T = int
#pragma tuner size      n : int = 1000
#pragma tuner parameter threads = 64 128
#pragma tuner parameter load = BLOCK_LOAD_DIRECT BLOCK_LOAD_TRANSPOSE BLOCK_LOAD_WARP_TRANSPOSE
#pragma tuner let       blocks = ceil_div(n, 256)
#pragma tuner in        x[n]
#pragma tuner fill      x = uniform -50 50
#pragma tuner out       scans[n], sorted[blocks * 256], most[blocks], warps[blocks]
#pragma tuner arguments x, scans, sorted, most, warps, n
#pragma tuner block     threads
#pragma tuner grid      blocks
#pragma tuner instantiate cub_parts<threads, 256 / threads, cub::load>
#pragma tuner reference cub_parts_reference
#pragma tuner grid      blocks
#pragma tuner block     1
#include <cub/cub.cuh>
#include <iostream>

struct Most {
  __device__ int operator()(const int& a, const int& b) const { return a < b ? b : a; }
};

// What CUB calls a running prefix: the sum so far, which starts at 1000.
struct Running {
  int total;
  __device__ int operator()(int aggregate) {
    const int before = total;
    total += aggregate;
    return before;
  }
};

template <int threads, int items, cub::BlockLoadAlgorithm how>
__global__ void cub_parts(const int* x, int* scans, int* sorted, int* most, int* warps, int n) {
  using Load = cub::BlockLoad<int, threads, items, how>;
  using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, threads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Sort = cub::BlockRadixSort<int, threads, items>;
  using Reduce = cub::BlockReduce<int, threads>;
  using WarpSum = cub::WarpReduce<int>;
  using WarpScan = cub::WarpScan<int>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
    typename WarpSum::TempStorage warp[threads / 32];
    typename WarpScan::TempStorage warp_scan[threads / 32];
  } temp;
  const int first = blockIdx.x * threads * items, valid = min(n - first, threads * items);
  int values[items], scanned[items];
  Load(temp.load).Load(x + first, values, valid, 0);
  __syncthreads();
  Running running{1000};
  Scan(temp.scan).InclusiveSum(values, scanned, running);
  __syncthreads();
  int before, all;
  Scan(temp.scan).ExclusiveSum(values[0], before, all);
  __syncthreads();
  Scan(temp.scan).InclusiveScan(before, before, Most());
  __syncthreads();
  Store(temp.store).Store(scans + first, scanned, valid);
  __syncthreads();
  const int largest = Reduce(temp.reduce).Reduce(values, Most());
  __syncthreads();
  const int part = Reduce(temp.reduce).Sum(values[0], 3);
  if (threadIdx.x == 0) most[blockIdx.x] = largest;
  __syncthreads();
  const int warp = threadIdx.x / 32;
  int rank;
  WarpScan(temp.warp_scan[warp]).ExclusiveSum(1, rank);
  __syncthreads();
  const int sum = WarpSum(temp.warp[warp]).Sum(rank);
  if (threadIdx.x == 0) warps[blockIdx.x] = sum + 0 * (part + before + all);
  __syncthreads();
  Sort(temp.sort).Sort(values);
  for (int i = 0; i < items; ++i) sorted[first + threadIdx.x * items + i] = values[i];
}

__global__ void cub_parts_reference(const int* x, int* scans, int* sorted, int* most, int* warps, int n) {
  const int first = blockIdx.x * 256;
  int total = 1000, largest = x[first];
  for (int i = 0; i < 256; ++i) {
    const int value = first + i < n ? x[first + i] : 0;
    if (first + i < n) scans[first + i] = total += value;
    if (value > largest) largest = value;
    int at = i;
    for (; at > 0 && sorted[first + at - 1] > value; --at) sorted[first + at] = sorted[first + at - 1];
    sorted[first + at] = value;
  }
  most[blockIdx.x] = largest;
  warps[blockIdx.x] = 31 * 32 / 2;
}

int main() { std::cout << CUB_VERSION << std::endl; }
