// Stream compaction: the elements that satisfy a condition, side by side and in their order, and how many there are.
// The rest of y stays as it was.
//
// An element's place is the number of elements kept before it: in its row of 32, in its warp, in its tile, in the tiles
// before. The first of these is the question here. With a ballot, 32 conditions are one word, and each lane counts the
// bits below its own. By shuffles or in shared memory, it is a prefix sum of zeros and ones. If a warp keeps all or none,
// one vote over all of its rows replaces their ballots: a shortcut that depends on the data.
//
// Sources: M. Billeter, O. Olsson, U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core Architectures"
// (2009); D. M. Hughes et al., "InK-Compact" (2013), for ballots and population counts; D. Merrill, M. Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016); CUDA C++ Programming Guide, "Warp Vote
// Functions"; Fan Zheyong, "CUDA Programming: Basics and Practice" (2020), chapter 10, where the votes are introduced.

#pragma tuner kernel      compact
#pragma tuner type        T = float int double
#pragma tuner choice      density = half few most             // one element in 2, one in 1024, all but one in 1024
#pragma tuner size        n : uint64 = 16777216
#pragma tuner parameter   rank     = shared shuffle_up ballot
#pragma tuner parameter   shortcut = none any all both
#pragma tuner parameter   threads  = 64 128 256 512 1024
#pragma tuner parameter   items    = 1 2 4 8 16               // elements a thread: rows of 32 a warp
#pragma tuner parameter   offsets  = count_scan look_back
#pragma tuner let         tiles = max(1, ceil_div(n, threads * items))
#pragma tuner in          x[n]
#pragma tuner fill        x = uniform 0 1024                  // integers: 0 to 1023
#pragma tuner inout       y[n]                                // so that nothing behind the kept elements may change
#pragma tuner out         count[1] : uint64
#pragma tuner scratch     counts[offsets == count_scan ? tiles : 1] : uint64
#pragma tuner scratch     states[offsets == look_back ? tiles : 1] : uint64
#pragma tuner scratch     ticket[1] : unsigned
#pragma tuner scratch     parts[8192] : uint64                // of the reference

#pragma tuner launch      clear
#pragma tuner when        offsets == look_back
#pragma tuner grid        ceil_div(tiles, 256)
#pragma tuner block       256
#pragma tuner arguments   n, states, ticket
#pragma tuner instantiate clearStates<threads, items>

#pragma tuner launch      count
#pragma tuner when        offsets == count_scan
#pragma tuner grid        tiles
#pragma tuner block       threads
#pragma tuner arguments   x, n, counts
#pragma tuner instantiate countTiles<T, Density::density, RankBy::rank, Shortcut::shortcut, threads, items>

#pragma tuner launch      scan
#pragma tuner when        offsets == count_scan
#pragma tuner grid        1
#pragma tuner block       1024
#pragma tuner arguments   n, counts, count
#pragma tuner instantiate scanCounts<threads, items>

#pragma tuner launch      compact
#pragma tuner grid        tiles
#pragma tuner block       threads
#pragma tuner arguments   x, n, y, count, counts, states, ticket
#pragma tuner instantiate compact<T, Density::density, RankBy::rank, Shortcut::shortcut, threads, items, \
                                  Offsets::offsets>

#pragma tuner reference   compactReferenceParts<T, Density::density>
#pragma tuner grid        32
#pragma tuner block       256
#pragma tuner arguments   x, n, parts
#pragma tuner reference   compactReferenceOffsets
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   parts, count
#pragma tuner reference   compactReference<T, Density::density>
#pragma tuner grid        32
#pragma tuner block       256
#pragma tuner arguments   x, n, parts, y
#pragma tuner verify      n=0
#pragma tuner verify      n=1 offset=1
#pragma tuner verify      n=33 offset=3
#pragma tuner verify      n=4097
#pragma tuner verify      n=100003 offset=1
#pragma tuner bytes       (n + (density == half ? n / 2 : density == few ? n / 1024 : n - n / 1024)) * sizeof(T)
#pragma tuner default     rank=ballot shortcut=none threads=256 items=8 offsets=count_scan

#include "look_back.cuh"

enum class Density { half, few, most };
enum class RankBy { shared, shuffle_up, ballot };
enum class Shortcut {
  none,
  any,  // where no lane keeps any of its elements, the warp is done
  all,  // where every lane keeps all of its elements, places are known without counting
  both,
};
enum class Offsets {
  count_scan,  // count each tile, scan the counts, then compact each tile from there: x is read twice
  look_back,   // one pass: a block looks back at what the blocks before it have published
};

// The condition. Elements are 0 or more, and less than 1024.
template <Density density, typename T>
__device__ bool keeps(T element) {
  if constexpr (density == Density::half)
    return element < T(512);
  else if constexpr (density == Density::few)
    return element < T(1);
  else
    return element >= T(1);
}

// Of a row of 32 elements.
struct Rank {
  unsigned below;  // kept by lanes below this one
  unsigned all;    // kept by the warp
};

template <RankBy by, unsigned threads>
__device__ Rank rank_in_row(bool kept) {
  if constexpr (by == RankBy::ballot) {
    const unsigned votes = __ballot_sync(all_lanes, kept);
    return {static_cast<unsigned>(__popc(votes & ((1u << lane()) - 1))), static_cast<unsigned>(__popc(votes))};
  } else if constexpr (by == RankBy::shuffle_up) {
    const unsigned up_to_me = scan_warp(kept ? 1u : 0u);
    return {up_to_me - kept, __shfl_sync(all_lanes, up_to_me, warp - 1)};
  } else {
    __shared__ unsigned shared[threads];
    unsigned up_to_me = kept;
    shared[threadIdx.x] = up_to_me;
    __syncwarp();
#pragma unroll
    for (unsigned offset = 1; offset < warp; offset *= 2) {
      const unsigned other = lane() >= offset ? shared[threadIdx.x - offset] : 0;
      __syncwarp();  // all have read
      shared[threadIdx.x] = up_to_me += other;
      __syncwarp();  // all have written
    }
    const unsigned all = shared[threadIdx.x | (warp - 1)];
    __syncwarp();  // the next row writes there
    return {up_to_me - kept, all};
  }
}

// Where the kept ones of this thread's elements go within what their warp keeps, and how many that is. A warp's
// elements are `items` rows of 32.
template <RankBy by, Shortcut shortcut, unsigned threads, unsigned items>
__device__ unsigned rank_in_warp(const bool (&kept)[items], unsigned (&below)[items]) {
  constexpr bool asks_any = shortcut == Shortcut::any || shortcut == Shortcut::both;
  constexpr bool asks_all = shortcut == Shortcut::all || shortcut == Shortcut::both;
  bool any_of_mine = false, all_of_mine = true;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    any_of_mine |= kept[k];
    all_of_mine &= kept[k];
  }
  if (asks_any && !__any_sync(all_lanes, any_of_mine)) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k) below[k] = 0;
    return 0;
  }
  if (asks_all && __all_sync(all_lanes, all_of_mine)) {
#pragma unroll
    for (unsigned k = 0; k < items; ++k) below[k] = k * warp + lane();
    return items * warp;
  }
  unsigned of_warp = 0;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const Rank rank = rank_in_row<by, threads>(kept[k]);
    below[k] = of_warp + rank.below;
    of_warp += rank.all;
  }
  return of_warp;
}

// This thread's elements of a tile, and which of them are kept.
template <Density density, unsigned threads, unsigned items, typename T>
__device__ void load_tile(const T* x, uint64 n, unsigned tile, T (&element)[items], bool (&kept)[items]) {
  const uint64 begin = static_cast<uint64>(tile) * (threads * items) + threadIdx.x / warp * (warp * items) + lane();
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const uint64 i = begin + k * warp;
    element[k] = i < n ? x[i] : T(0);
    kept[k] = i < n && keeps<density>(element[k]);
  }
}

// counts[tile] = how many elements of the tile are kept.
template <typename T, Density density, RankBy rank, Shortcut shortcut, unsigned threads, unsigned items>
__global__ void __launch_bounds__(threads) countTiles(const T* x, uint64 n, uint64* counts) {
  T element[items];
  bool kept[items];
  unsigned below[items];
  load_tile<density, threads>(x, n, blockIdx.x, element, kept);
  const unsigned of_warp = rank_in_warp<rank, shortcut, threads>(kept, below);
  const unsigned of_tile = scan_warps<threads>(of_warp).all;
  if (threadIdx.x == 0) counts[blockIdx.x] = of_tile;
}

// counts[tile] becomes how many all tiles before it keep, and *count how many all tiles keep. One block, which walks
// over them.
template <unsigned threads, unsigned items>
__global__ void __launch_bounds__(1024) scanCounts(uint64 n, uint64* counts, uint64* count) {
  const unsigned tiles = count_tiles<threads, items>(n);
  uint64 carry = 0;
  for (unsigned begin = 0; begin < tiles; begin += 1024) {
    const unsigned i = begin + threadIdx.x;
    const uint64 mine = i < tiles ? counts[i] : 0;
    const uint64 up_to_me = scan_warp(mine);
    const Scanned<uint64> of_warps = scan_warps<1024>(__shfl_sync(all_lanes, up_to_me, warp - 1));
    if (i < tiles) counts[i] = carry + of_warps.before + up_to_me - mine;
    carry += of_warps.all;
    __syncthreads();
  }
  if (threadIdx.x == 0) *count = carry;
}

template <typename T, Density density, RankBy rank, Shortcut shortcut, unsigned threads, unsigned items,
          Offsets offsets>
__global__ void __launch_bounds__(threads)
    compact(const T* x, uint64 n, T* y, uint64* count, const uint64* counts, uint64* states, unsigned* ticket) {
  unsigned tile = blockIdx.x;
  if constexpr (offsets == Offsets::look_back) {
    __shared__ unsigned drawn;
    if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1u);
    __syncthreads();
    tile = drawn;
  }
  T element[items];
  bool kept[items];
  unsigned below[items];
  load_tile<density, threads>(x, n, tile, element, kept);
  const unsigned of_warp = rank_in_warp<rank, shortcut, threads>(kept, below);
  const Scanned<unsigned> of_warps = scan_warps<threads>(of_warp);

  uint64 before;
  if constexpr (offsets == Offsets::count_scan) {
    before = counts[tile];
  } else {
    __shared__ uint64 found;
    if (threadIdx.x < warp) {
      const uint64 all_before = look_back(states, tile, uint64{of_warps.all});
      if (threadIdx.x == 0) {
        found = all_before;
        if (tile == gridDim.x - 1) *count = all_before + of_warps.all;
      }
    }
    __syncthreads();
    before = found;
  }
  T* const to = y + before + of_warps.before;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    if (kept[k]) to[below[k]] = element[k];
  }
}

// Thread i of 8192 counts what the i-th of 8192 parts keeps, a single thread what all parts before each keep, and
// thread i copies its part's elements to there.
template <typename T, Density density>
__global__ void compactReferenceParts(const T* x, uint64 n, uint64* parts) {
  const uint64 thread = blockIdx.x * blockDim.x + threadIdx.x, part = (n + 8191) / 8192;
  uint64 count = 0;
  for (uint64 i = thread * part; i < n && i < (thread + 1) * part; ++i) count += keeps<density>(x[i]);
  parts[thread] = count;
}

__global__ void compactReferenceOffsets(uint64* parts, uint64* count) {
  uint64 before = 0;
  for (unsigned i = 0; i < 8192; ++i) {
    const uint64 part = parts[i];
    parts[i] = before;
    before += part;
  }
  *count = before;
}

template <typename T, Density density>
__global__ void compactReference(const T* x, uint64 n, const uint64* parts, T* y) {
  const uint64 thread = blockIdx.x * blockDim.x + threadIdx.x, part = (n + 8191) / 8192;
  uint64 to = parts[thread];
  for (uint64 i = thread * part; i < n && i < (thread + 1) * part; ++i) {
    if (keeps<density>(x[i])) y[to++] = x[i];
  }
}
