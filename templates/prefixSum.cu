// Prefix sums: y[i] is the sum of the elements up to x[i] (inclusive) or before it (exclusive).
//
// A block takes a tile of `items` elements a thread, scans it, and adds the sum of all tiles before it. Three questions
// are parameters: how threads pass sums to later threads, how a tile lies in its threads, and how a block learns the
// sum of the tiles before it. Sums pass in shared memory between barriers of the block, or in registers between lanes.
//
// Sources: W. D. Hillis, G. L. Steele, "Data Parallel Algorithms" (1986); G. E. Blelloch, "Prefix Sums and Their
// Applications" (1990); M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA" (GPU Gems 3, 2007);
// D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016); CUDA C++ Programming
// Guide, "Warp Vote Functions" and "Warp Shuffle Functions". The second example of the latter is a scan by
// __shfl_up_sync. Fan Zheyong, "CUDA Programming: Basics and Practice" (2020), chapter 10, introduces __shfl_up_sync
// and the broadcast by __shfl_sync without a kernel that needs them.
//
// Results of integers wrap. Equal runs give equal bits: the order in which floating values are added depends on n and
// the configuration alone. Looking back adds what is there already, which depends on time: it is for integers only.

#pragma tuner kernel      prefixSum
#pragma tuner type        T = int float double
#pragma tuner type        W of T = int:int64 float:double
#pragma tuner choice      form = inclusive exclusive
#pragma tuner size        n : uint64 = 16777216
#pragma tuner parameter   step        = hillis_steele blelloch shuffle_up
#pragma tuner parameter   arrangement = runs exchanged rows
#pragma tuner parameter   threads     = 64 128 256 512 1024
#pragma tuner parameter   items       = 1 2 4 8 16            // elements a thread
#pragma tuner parameter   offsets     = scan_add sum_scan look_back
#pragma tuner let         tile  = threads * items
#pragma tuner let         tiles = max(1, ceil_div(n, tile))
#pragma tuner constraint  rows_are_of_warps:  arrangement != rows or step == shuffle_up
#pragma tuner constraint  one_item_is_a_run:  arrangement == runs or items > 1
#pragma tuner constraint  exchange_fits:      arrangement != exchanged or tile * sizeof(T) <= 16384
#pragma tuner constraint  integers_look_back: offsets != look_back or T == int
#pragma tuner in          x[n]
#pragma tuner out         y[n]
#pragma tuner scratch     sums[tiles]
#pragma tuner scratch     states[offsets == look_back ? tiles : 1] : uint64
#pragma tuner scratch     ticket[1] : unsigned
#pragma tuner scratch     wide[8192] : W                      // of the reference

#pragma tuner launch      clear
#pragma tuner when        offsets == look_back
#pragma tuner grid        ceil_div(tiles, 256)
#pragma tuner block       256
#pragma tuner arguments   n, states, ticket
#pragma tuner instantiate clearStates<threads, items>

#pragma tuner launch      sum_tiles
#pragma tuner when        offsets == sum_scan
#pragma tuner grid        tiles
#pragma tuner block       threads
#pragma tuner arguments   x, n, sums
#pragma tuner instantiate sumTiles<T, Step::step, threads, items>

#pragma tuner launch      scan_sums_before
#pragma tuner when        offsets == sum_scan
#pragma tuner grid        1
#pragma tuner block       1024
#pragma tuner arguments   sums, n
#pragma tuner instantiate scanSums<T, Step::step, threads, items>

#pragma tuner launch      scan
#pragma tuner grid        tiles
#pragma tuner block       threads
#pragma tuner arguments   x, n, y, sums, states, ticket
#pragma tuner instantiate prefixSum<T, Form::form, Step::step, Arrangement::arrangement, threads, items, \
                                    Offsets::offsets>

#pragma tuner launch      scan_sums_behind
#pragma tuner when        offsets == scan_add
#pragma tuner grid        1
#pragma tuner block       1024
#pragma tuner arguments   sums, n
#pragma tuner instantiate scanSums<T, Step::step, threads, items>

#pragma tuner launch      add
#pragma tuner when        offsets == scan_add
#pragma tuner grid        tiles
#pragma tuner block       threads
#pragma tuner arguments   y, n, sums
#pragma tuner instantiate addSums<T, threads, items>

#pragma tuner reference   prefixSumReferenceParts<T, W>
#pragma tuner grid        32
#pragma tuner block       256
#pragma tuner arguments   x, n, wide
#pragma tuner reference   prefixSumReferenceOffsets<W>
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   wide
#pragma tuner reference   prefixSumReference<T, W, Form::form>
#pragma tuner grid        32
#pragma tuner block       256
#pragma tuner arguments   x, n, wide, y
#pragma tuner verify      n=0
#pragma tuner verify      n=1 offset=1
#pragma tuner verify      n=33 offset=3
#pragma tuner verify      n=4097
#pragma tuner verify      n=100003 offset=1
#pragma tuner accumulates n
#pragma tuner bytes       2 * n * sizeof(T)
#pragma tuner in_flight   items * sizeof(T)
#pragma tuner flops       n
#pragma tuner default     step=shuffle_up arrangement=rows threads=256 items=8 offsets=sum_scan

#include "look_back.cuh"

enum class Form { inclusive, exclusive };
enum class Step {
  hillis_steele,  // Each thread adds the value 1, 2, 4, ... places before it: a barrier and an addition a step.
  blelloch,       // A tree of sums up, then down: twice the barriers, but only two additions a thread in all.
  shuffle_up,     // The additions of hillis_steele, in registers between the lanes of a warp, then between warps.
};
enum class Arrangement {
  runs,       // A thread holds neighbouring elements: few steps, but its loads are `items` elements apart.
  exchanged,  // The same, but loads and stores are side by side, and shared memory exchanges the elements.
  rows,       // A warp holds rows of 32 elements: loads are side by side, and the warp scans every row.
};
enum class Offsets {
  scan_add,   // Scan each tile, scan the tiles' sums, add them to y: x is read once, y written twice and read once.
  sum_scan,   // Sum each tile, scan the sums, then scan each tile from there: x is read twice, y written once.
  look_back,  // One pass: a block looks back at the sums that the blocks before it have published.
};

// From sums up to each lane to sums before it.
template <typename T>
__device__ T one_lane_later(T up_to_me) {
  const T before = __shfl_up_sync(all_lanes, up_to_me, 1);
  return lane() == 0 ? T(0) : before;
}

// Over one value of each thread. Between two calls stands a __syncthreads(): the second writes what some threads still
// read in the first.
template <Step step, unsigned threads, typename T>
__device__ Scanned<T> scan_block(T mine) {
  static_assert((threads & (threads - 1)) == 0, "a power of two");
  const unsigned i = threadIdx.x;
  if constexpr (step == Step::hillis_steele) {
    // Two copies: within a step no thread writes what another reads.
    __shared__ T copies[2][threads];
    unsigned from = 0;
    copies[0][i] = mine;
    __syncthreads();
#pragma unroll
    for (unsigned offset = 1; offset < threads; offset *= 2) {
      const T own = copies[from][i];
      copies[1 - from][i] = i >= offset ? plus(copies[from][i - offset], own) : own;
      from = 1 - from;
      __syncthreads();
    }
    return {i == 0 ? T(0) : copies[from][i - 1], copies[from][threads - 1]};
  } else if constexpr (step == Step::blelloch) {
    __shared__ T padded[threads + threads / warp];  // a word more for every 32, against conflicts of banks
    const auto at = [](unsigned index) { return index + index / warp; };
    padded[at(i)] = mine;
#pragma unroll
    for (unsigned stride = 1; stride < threads; stride *= 2) {
      __syncthreads();
      const unsigned end = (i + 1) * 2 * stride - 1;
      if (end < threads) padded[at(end)] = plus(padded[at(end - stride)], padded[at(end)]);
    }
    __syncthreads();
    const T all = padded[at(threads - 1)];
    __syncthreads();
    if (i == 0) padded[at(threads - 1)] = T(0);
#pragma unroll
    for (unsigned stride = threads / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned end = (i + 1) * 2 * stride - 1;
      if (end < threads) {
        const T left = padded[at(end - stride)];
        padded[at(end - stride)] = padded[at(end)];
        padded[at(end)] = plus(padded[at(end)], left);
      }
    }
    __syncthreads();
    return {padded[at(i)], all};
  } else {
    const T up_to_me = scan_warp(mine);
    const T before = one_lane_later(up_to_me);
    const Scanned<T> of_warps = scan_warps<threads>(__shfl_sync(all_lanes, up_to_me, warp - 1));
    return {plus(of_warps.before, before), of_warps.all};
  }
}

// Where this thread's k-th element lies in its tile, when the tile is loaded and stored.
template <Arrangement arrangement, unsigned threads, unsigned items>
__device__ unsigned place(unsigned k) {
  if constexpr (arrangement == Arrangement::runs)
    return threadIdx.x * items + k;
  else if constexpr (arrangement == Arrangement::exchanged)
    return k * threads + threadIdx.x;
  else
    return (threadIdx.x / warp * items + k) * warp + lane();
}

// From elements that lie side by side in neighbouring threads to runs, or back. `tile` is padded as above.
template <bool to_runs, unsigned threads, unsigned items, typename T>
__device__ void exchange(T (&value)[items], T* tile) {
  const auto at = [](unsigned index) { return index + index / warp; };
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    tile[at(to_runs ? k * threads + threadIdx.x : threadIdx.x * items + k)] = value[k];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    value[k] = tile[at(to_runs ? threadIdx.x * items + k : k * threads + threadIdx.x)];
}

// The prefix sums of a tile within it, in place of its elements, and the tile's sum.
template <Form form, Step step, Arrangement arrangement, unsigned threads, unsigned items, typename T>
__device__ T scan_tile(T (&value)[items]) {
  constexpr bool exchanged = arrangement == Arrangement::exchanged;
  __shared__ T tile[exchanged ? threads * items + threads * items / warp : 1];
  Scanned<T> group;  // of the runs of threads, or of the rows of warps
  T sum = T(0);
  if constexpr (arrangement == Arrangement::rows) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k) {
      const T up_to_me = scan_warp(value[k]);
      value[k] = plus(sum, form == Form::inclusive ? up_to_me : one_lane_later(up_to_me));
      sum = plus(sum, __shfl_sync(all_lanes, up_to_me, warp - 1));  // the row's sum, from its last lane to all
    }
    group = scan_warps<threads>(sum);
  } else {
    if constexpr (exchanged) exchange<true, threads>(value, tile);
#pragma unroll
    for (unsigned k = 0; k < items; ++k) {
      const T up_to_me = plus(sum, value[k]);
      value[k] = form == Form::inclusive ? up_to_me : sum;
      sum = up_to_me;
    }
    group = scan_block<step, threads>(sum);
  }
#pragma unroll
  for (unsigned k = 0; k < items; ++k) value[k] = plus(group.before, value[k]);
  if constexpr (exchanged) exchange<false, threads>(value, tile);  // the barriers of scan_block() stand between
  return group.all;
}

// sums[tile] = the sum of the tile's elements.
template <typename T, Step step, unsigned threads, unsigned items>
__global__ void __launch_bounds__(threads) sumTiles(const T* x, uint64 n, T* sums) {
  const uint64 begin = static_cast<uint64>(blockIdx.x) * (threads * items);
  T value[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const uint64 i = begin + k * threads + threadIdx.x;
    value[k] = i < n ? x[i] : T(0);
  }
  T sum = value[0];
#pragma unroll
  for (unsigned k = 1; k < items; ++k) sum = plus(sum, value[k]);
  const T of_tile = scan_block<step, threads>(sum).all;
  if (threadIdx.x == 0) sums[blockIdx.x] = of_tile;
}

// sums[tile] becomes the sum of all tiles before it. One block, which walks over them.
template <typename T, Step step, unsigned threads, unsigned items>
__global__ void __launch_bounds__(1024) scanSums(T* sums, uint64 n) {
  constexpr unsigned own = 4;  // sums a thread, so that a walk of many tiles has fewer barriers
  const unsigned tiles = count_tiles<threads, items>(n);
  T carry = T(0);
  for (unsigned begin = 0; begin < tiles; begin += 1024 * own) {
    T value[own];
#pragma unroll
    for (unsigned k = 0; k < own; ++k) {
      const unsigned i = begin + threadIdx.x * own + k;
      value[k] = i < tiles ? sums[i] : T(0);
    }
    const T all = scan_tile<Form::exclusive, step, Arrangement::runs, 1024>(value);
#pragma unroll
    for (unsigned k = 0; k < own; ++k) {
      const unsigned i = begin + threadIdx.x * own + k;
      if (i < tiles) sums[i] = plus(carry, value[k]);
    }
    carry = plus(carry, all);
    __syncthreads();
  }
}

template <typename T, Form form, Step step, Arrangement arrangement, unsigned threads, unsigned items, Offsets offsets>
__global__ void __launch_bounds__(threads)
    prefixSum(const T* x, uint64 n, T* y, T* sums, uint64* states, unsigned* ticket) {
  unsigned tile = blockIdx.x;
  if constexpr (offsets == Offsets::look_back) {
    __shared__ unsigned drawn;
    if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1u);
    __syncthreads();
    tile = drawn;
  }
  const uint64 begin = static_cast<uint64>(tile) * (threads * items);
  T value[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const uint64 i = begin + place<arrangement, threads, items>(k);
    value[k] = i < n ? x[i] : T(0);
  }
  const T sum = scan_tile<form, step, arrangement, threads>(value);

  T before = T(0);
  if constexpr (offsets == Offsets::scan_add) {
    if (threadIdx.x == 0) sums[tile] = sum;
  } else if constexpr (offsets == Offsets::sum_scan) {
    before = sums[tile];
  } else {
    __shared__ int found;
    if (threadIdx.x < warp) {
      const int all_before = look_back(states, tile, sum);
      if (threadIdx.x == 0) found = all_before;
    }
    __syncthreads();
    before = found;
  }
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const uint64 i = begin + place<arrangement, threads, items>(k);
    if (i < n) y[i] = plus(before, value[k]);
  }
}

template <typename T, unsigned threads, unsigned items>
__global__ void __launch_bounds__(threads) addSums(T* y, uint64 n, const T* sums) {
  const uint64 begin = static_cast<uint64>(blockIdx.x) * (threads * items);
  const T before = sums[blockIdx.x];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const uint64 i = begin + k * threads + threadIdx.x;
    if (i < n) y[i] = plus(before, y[i]);
  }
}

// Thread i of 8192 adds up the i-th of 8192 parts in a wider type W. A single thread then finds the sum of all that
// stands before each part, and thread i walks over its part once more from there. An int's sum wraps when it is stored.
template <typename T, typename W>
__global__ void prefixSumReferenceParts(const T* x, uint64 n, W* wide) {
  const uint64 thread = blockIdx.x * blockDim.x + threadIdx.x, part = (n + 8191) / 8192;
  W sum = 0;
  for (uint64 i = thread * part; i < n && i < (thread + 1) * part; ++i) sum += x[i];
  wide[thread] = sum;
}

template <typename W>
__global__ void prefixSumReferenceOffsets(W* wide) {
  W before = 0;
  for (unsigned i = 0; i < 8192; ++i) {
    const W part = wide[i];
    wide[i] = before;
    before += part;
  }
}

template <typename T, typename W, Form form>
__global__ void prefixSumReference(const T* x, uint64 n, const W* wide, T* y) {
  const uint64 thread = blockIdx.x * blockDim.x + threadIdx.x, part = (n + 8191) / 8192;
  W sum = wide[thread];
  for (uint64 i = thread * part; i < n && i < (thread + 1) * part; ++i) {
    const W before = sum;
    sum += x[i];
    y[i] = static_cast<T>(form == Form::inclusive ? sum : before);
  }
}
