// How often each key occurs: counts[k] is the number of elements whose key is k.
//
// Every element adds one to a counter, atomically, and equal keys wait for each other. Two remedies are parameters. A
// block can have its own counters in shared memory: one copy, or several so that warps meet less often. And lanes can
// first find out which of them have the same key, so that one adds for all. They do so by __match_any_sync (each key of
// the warp once), or by __match_all_sync (one addition if the whole warp agrees, else 32). Whether that pays depends on
// the keys.
//
// Keys are made from random numbers, in the place of data that has them: `keys` says how unequal they are.
//
// Sources: V. Podlozhnyuk, "Histogram Calculation in CUDA" (2007); E. Westphal, "Voting and Shuffling to Optimize
// Atomic Operations" (2015); A. Adinets, "CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics" (2014); CUDA C++
// Programming Guide, "Warp Match Functions", "Warp Vote Functions", "Atomic Functions".

#pragma tuner kernel      histogram
#pragma tuner choice      keys = uniform skewed equal         // see key_of()
#pragma tuner choice      bins = 256 1024 4096
#pragma tuner size        n : unsigned = 16777216             // counts are 32 bits too
#pragma tuner parameter   counters      = global shared
#pragma tuner parameter   equal_keys    = each match_any match_all
#pragma tuner parameter   threads       = 128 256 512 1024
#pragma tuner parameter   copies        = 1 2 4 8             // of the counters in shared memory, a block
#pragma tuner parameter   loads         = 1 2 4 8             // in flight a thread
#pragma tuner parameter   blocks_per_sm = 1 2 4 8 16          // unless n needs fewer
#pragma tuner let         blocks = max(1, min(ceil_div(n, threads * loads), blocks_per_sm * sm_count))
#pragma tuner constraint  copies_are_shared: counters == shared or copies == 1
#pragma tuner constraint  copies_fit:        copies * bins <= 12288
#pragma tuner constraint  copies_have_warps: copies * warp_size <= threads
#pragma tuner in          x[n] : unsigned
#pragma tuner fill        x = uniform 0 1048576               // 20 random bits
#pragma tuner out         counts[bins] : unsigned
#pragma tuner scratch     wide[1024 * bins] : unsigned        // of the reference

#pragma tuner launch      clear
#pragma tuner grid        ceil_div(bins, 256)
#pragma tuner block       256
#pragma tuner arguments   counts
#pragma tuner instantiate clearCounts<bins>

#pragma tuner launch      count
#pragma tuner grid        blocks
#pragma tuner block       threads
#pragma tuner arguments   x, n, counts
#pragma tuner instantiate histogram<Keys::keys, bins, Counters::counters, EqualKeys::equal_keys, threads, copies, loads>

#pragma tuner reference   histogramReference<Keys::keys, bins>
#pragma tuner grid        32
#pragma tuner block       32
#pragma tuner arguments   x, n, wide
#pragma tuner reference   histogramReferenceEnd<bins>
#pragma tuner grid        ceil_div(bins, 256)
#pragma tuner block       256
#pragma tuner arguments   wide, counts
#pragma tuner verify      n=0
#pragma tuner verify      n=1 offset=1
#pragma tuner verify      n=33 offset=3
#pragma tuner verify      n=4097
#pragma tuner verify      n=100003 offset=1
#pragma tuner bytes       n * 4 + bins * 4
#pragma tuner in_flight   loads * 4
#pragma tuner default     counters=shared equal_keys=each threads=256 copies=1 loads=4 blocks_per_sm=4

enum class Keys {
  uniform,  // all keys alike often
  skewed,   // key 0 for half of the elements, key 1 for a quarter, and so on
  equal,    // one key for 1023 of 1024 elements
};
enum class Counters { global, shared };
enum class EqualKeys {
  each,       // every element adds one
  match_any,  // of the lanes with one key, the lowest adds their number
  match_all,  // a warp of one key adds once, any other each for itself
};

using uint64 = unsigned long long;
constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xffffffffu;

// The key of 20 random bits.
template <Keys keys, unsigned bins>
__device__ unsigned key_of(unsigned bits) {
  if constexpr (keys == Keys::uniform)
    return bits % bins;
  else if constexpr (keys == Keys::skewed)
    return static_cast<unsigned>(__clz(static_cast<int>(bits << 12 | 1u << 11)));
  else
    return bits % 1024 == 0 ? bits / 1024 % bins : bins / 2;
}

// Adds one to the counter of each key, for the lanes whose element exists. Called by all 32 lanes.
template <EqualKeys equal_keys>
__device__ void add(unsigned* counters, unsigned key, bool exists) {
  if constexpr (equal_keys == EqualKeys::each) {
    if (exists) atomicAdd(&counters[key], 1u);
    return;
  }
  const unsigned there = __ballot_sync(all_lanes, exists);  // __activemask() promises nothing about who has come
  if (!exists) return;
  const unsigned lane = threadIdx.x % warp;
  if constexpr (equal_keys == EqualKeys::match_any) {
    const unsigned same = __match_any_sync(there, key);
    if (lane == static_cast<unsigned>(__ffs(static_cast<int>(same))) - 1)
      atomicAdd(&counters[key], static_cast<unsigned>(__popc(same)));
  } else {
    int whole = 0;
    __match_all_sync(there, key, &whole);
    if (!whole)
      atomicAdd(&counters[key], 1u);
    else if (lane == static_cast<unsigned>(__ffs(static_cast<int>(there))) - 1)
      atomicAdd(&counters[key], static_cast<unsigned>(__popc(there)));
  }
}

template <unsigned bins>
__global__ void clearCounts(unsigned* counts) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < bins) counts[i] = 0;
}

// counts are 0 before.
template <Keys keys, unsigned bins, Counters counters, EqualKeys equal_keys, unsigned threads, unsigned copies,
          unsigned loads>
__global__ void __launch_bounds__(threads) histogram(const unsigned* x, unsigned n, unsigned* counts) {
  static_assert(threads % (warp * copies) == 0, "the same number of whole warps for each copy");
  __shared__ unsigned of_block[counters == Counters::shared ? copies * bins : 1];
  unsigned* mine = counts;
  if constexpr (counters == Counters::shared) {
    for (unsigned i = threadIdx.x; i < copies * bins; i += threads) of_block[i] = 0;
    __syncthreads();
    mine = &of_block[threadIdx.x / warp % copies * bins];
  }

  // Elements begin + threadIdx.x + k * stride. The loop's condition is the same for all threads of the block, so that
  // every lane takes part in every vote.
  const uint64 stride = static_cast<uint64>(gridDim.x) * threads;
  for (uint64 begin = static_cast<uint64>(blockIdx.x) * threads; begin < n; begin += stride * loads) {
    unsigned element[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const uint64 i = begin + k * stride + threadIdx.x;
      element[k] = i < n ? x[i] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < loads; ++k)
      add<equal_keys>(mine, key_of<keys, bins>(element[k]), begin + k * stride + threadIdx.x < n);
  }

  if constexpr (counters == Counters::shared) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < bins; i += threads) {
      unsigned count = 0;
#pragma unroll
      for (unsigned copy = 0; copy < copies; ++copy) count += of_block[copy * bins + i];
      if (count != 0) atomicAdd(&counts[i], count);
    }
  }
}

// Thread i of 1024 counts the elements i, i + 1024, ... for itself, without atomics; then the 1024 are added up.
template <Keys keys, unsigned bins>
__global__ void histogramReference(const unsigned* x, unsigned n, unsigned* wide) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* const own = wide + static_cast<uint64>(thread) * bins;
  for (unsigned k = 0; k < bins; ++k) own[k] = 0;
  for (uint64 i = thread; i < n; i += gridDim.x * blockDim.x) ++own[key_of<keys, bins>(x[i])];
}

template <unsigned bins>
__global__ void histogramReferenceEnd(const unsigned* wide, unsigned* counts) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= bins) return;
  unsigned count = 0;
  for (unsigned i = 0; i < 1024; ++i) count += wide[static_cast<uint64>(i) * bins + k];
  counts[k] = count;
}
