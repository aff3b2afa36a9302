// Reduces n elements to one: sum, min, max or product, at the speed of memory for large n and of two round trips to it
// for small n.
//
// A thread reads `loads` words of `load_bytes` bytes before it uses the first. Enough bytes are then in flight to cover
// the latency of memory (Little's law; CUDA C++ Best Practices Guide, "Exposing Sufficient Parallelism"). The blocks
// walk over the input together, tile by tile. Then each warp, each block and finally the grid combine the values of
// their threads.
//
// Sources: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); J. Cheng, M. Grossman, T. McKercher,
// "Professional CUDA C Programming" (2014), chapters 3 and 5; CUDA C++ Programming Guide, "Warp Shuffle Functions",
// "Warp Reduce Functions", "Memory Fence Functions" (whose example has the last-block ticket used here).
//
// Meaning:
// - 8- and 16-bit integers are reduced exactly in 64 bits, half and bfloat16 in float; 32- and 64-bit integers wrap.
// - Of an empty range, sum is 0, product 1, min the largest and max the lowest value of the result type (infinities for
//   floating types).
// - min and max of a range that holds a NaN are NaN, wherever it stands: a NaN is not lost.
// - The order of combination depends on n, the alignment of x and the configuration alone: equal runs give equal bits.
//   The caller who does not need that chooses order=any, which lets the `atomic` finish combine floating values in the
//   order in which blocks happen to end.

#pragma tuner kernel      reduce
#pragma tuner type        T = float double int unsigned int64 uint64 int16 uint16 int8 uint8 half bfloat16
#pragma tuner type        R of T = int8:int64 uint8:uint64 int16:int64 uint16:uint64 half:float bfloat16:float
#pragma tuner type        W of T = int8:int64 uint8:uint64 int16:int64 uint16:uint64 half:double bfloat16:double \
                                   float:double   // of the reference
#pragma tuner choice      operation = sum min max product
#pragma tuner choice      order     = fixed any
#pragma tuner size        n : uint64 = 16777216
#pragma tuner parameter   threads       = 32 64 128 256 512 1024   // a block
#pragma tuner parameter   load_bytes    = 4 8 16                   // that a thread loads at once
#pragma tuner parameter   loads         = 1 2 4 8 16               // such loads in flight a thread
#pragma tuner parameter   blocks_per_sm = 1 2 4 8 16               // unless n needs fewer
#pragma tuner parameter   cache         = plain streaming no_allocate
#pragma tuner parameter   warp_step     = shuffle shuffle_xor redux volatile_shared tile
#pragma tuner parameter   finish        = last_block counted one_block atomic two_launches
#pragma tuner let         elements = threads * loads * (load_bytes / sizeof(T))   // of a tile
#pragma tuner let         blocks   = finish == one_block ? 1 : \
                                     max(1, min(ceil_div(n, elements), blocks_per_sm * sm_count))
#pragma tuner constraint  whole_elements:  load_bytes >= sizeof(T)
#pragma tuner constraint  registers:       loads * load_bytes <= 128
#pragma tuner constraint  redux:           warp_step != redux or T in {int, unsigned} and operation != product
#pragma tuner constraint  fixed_order:     finish != atomic or order == any or not (T in {float, double, half, bfloat16})
#pragma tuner constraint  redux_on_chip:   warp_step != redux or cc >= 80 or is_host
#pragma tuner constraint  counted_bits:    finish != counted or T in {int, unsigned} and operation == sum
#pragma tuner constraint  one_block_alone: finish != one_block or blocks_per_sm == 1
#pragma tuner constraint  one_block_small: finish != one_block or n <= 4194304   // one multiprocessor alone
#pragma tuner in          x[n]
#pragma tuner out         y[1] : R
#pragma tuner scratch     partials[finish == two_launches ? blocks : 1] : R
#pragma tuner zeroed      slots[finish == last_block ? blocks * sizeof(R) / 4 : 1] : uint64
#pragma tuner zeroed      ticket[1] : unsigned
#pragma tuner scratch     wide[8192] : W                 // of the reference

#pragma tuner launch      initialise
#pragma tuner when        finish == atomic
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   y
#pragma tuner instantiate initialise<R, Operation::operation>

#pragma tuner launch      reduce
#pragma tuner grid        blocks
#pragma tuner block       threads
#pragma tuner arguments   x, n, y, partials, slots, ticket
#pragma tuner instantiate reduce<T, R, Operation::operation, threads, load_bytes, loads, Cache::cache, \
                                 WarpStep::warp_step, Finish::finish>

#pragma tuner launch      combine
#pragma tuner when        finish == two_launches
#pragma tuner grid        1
#pragma tuner block       threads
#pragma tuner arguments   y, partials, ticket
#pragma tuner instantiate combinePartials<R, Operation::operation, threads, WarpStep::warp_step>

#pragma tuner reference   reduceReference<T, W, Operation::operation>
#pragma tuner grid        32
#pragma tuner block       256
#pragma tuner arguments   x, n, wide
#pragma tuner reference   reduceReferenceEnd<W, R, Operation::operation>
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   wide, y
#pragma tuner verify      n=0
#pragma tuner verify      n=1 offset=1
#pragma tuner verify      n=37 offset=3
#pragma tuner verify      n=4097 offset=1
#pragma tuner verify      n=100003 offset=3
#pragma tuner accumulates operation == product ? 16 * n : n   // each product rounds, small terms of a sum hardly do
#pragma tuner bytes       n * sizeof(T)
#pragma tuner in_flight   loads * load_bytes
#pragma tuner flops       n
#pragma tuner default     threads=256 load_bytes=16 loads=4 blocks_per_sm=8 cache=plain warp_step=shuffle \
                          finish=last_block

#if !defined(TUNER) || defined(TUNER_T_half)
#include <cuda_fp16.h>
#endif
#if !defined(TUNER) || defined(TUNER_T_bfloat16)
#include <cuda_bf16.h>
#endif
// NVRTC takes 16 ms longer with this header so limited, and 550 ms longer with all that it includes otherwise. Without
// a toolkit the `tile` step does not compile; everything else does.
#if __has_include(<cooperative_groups.h>)
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
#define HAS_TILES 1
#else
#define HAS_TILES 0
#endif

enum class Operation { sum, min, max, product };

enum class Cache {
  plain,
  streaming,    // __ldcs: evict first
  no_allocate,  // read-only, and no line of L1 is spent on it
};

enum class WarpStep { shuffle, shuffle_xor, redux, volatile_shared, tile };

// Once a block has its result, only the finish needs memory. Each access waits some hundred nanoseconds for its answer,
// and for small n little else takes time.
enum class Finish {
  last_block,    // The block that ends last combines the partial results in the order of their blocks: two accesses.
  counted,       // Results are added up in the word that counts the blocks that ended: one access.
  one_block,     // There is only one block.
  atomic,        // Each block combines its result into y, which an earlier launch has initialised.
  two_launches,  // A second launch combines the partial results.
};

using uint64 = unsigned long long;
constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xffffffffu;

// ---- Arithmetic -----------------------------------------------------------------------------------------------------

template <typename To, typename From>
__host__ __device__ To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// Signed overflow is undefined; unsigned arithmetic wraps and has the same bits.
template <typename R> struct Wrapping { using type = R; };
template <> struct Wrapping<int> { using type = unsigned; };
template <> struct Wrapping<long long> { using type = uint64; };

// Only `b != b` sees a NaN in b; one in a fails `b < a` and stays.
template <Operation operation, typename R>
__device__ R combine(R a, R b) {
  using U = typename Wrapping<R>::type;
  if constexpr (operation == Operation::sum) return static_cast<R>(static_cast<U>(a) + static_cast<U>(b));
  else if constexpr (operation == Operation::product) return static_cast<R>(static_cast<U>(a) * static_cast<U>(b));
  else if constexpr (operation == Operation::min) return b < a || b != b ? b : a;
  else return a < b || b != b ? b : a;
}

// NVRTC has no <limits>. All result types have 4 or 8 bytes.
template <typename R> constexpr bool is_floating = static_cast<R>(0.5) != static_cast<R>(0);
template <typename R> constexpr bool is_signed = static_cast<R>(-1) < static_cast<R>(0);

template <typename R>
__device__ R highest() {
  if constexpr (is_floating<R> && sizeof(R) == 4) return bit_cast<R>(0x7f800000u);
  else if constexpr (is_floating<R>) return bit_cast<R>(0x7ff0000000000000ull);
  else return static_cast<R>(static_cast<typename Wrapping<R>::type>(-1) >> (is_signed<R> ? 1 : 0));
}

template <typename R>
__device__ R lowest() {
  if constexpr (is_floating<R>) return -highest<R>();
  else if constexpr (is_signed<R>) return -highest<R>() - 1;
  else return 0;
}

template <Operation operation, typename R>
__device__ R identity() {
  if constexpr (operation == Operation::sum) return R(0);
  else if constexpr (operation == Operation::product) return R(1);
  else if constexpr (operation == Operation::min) return highest<R>();
  else return lowest<R>();
}

// ---- Loading --------------------------------------------------------------------------------------------------------

template <unsigned bytes> struct WordOf;
template <> struct WordOf<4>  { using type = unsigned; };
template <> struct WordOf<8>  { using type = uint2; };
template <> struct WordOf<16> { using type = uint4; };

// PTX ISA, "ld.global.nc": .L1::no_allocate. Without effect where there is no PTX.
__device__ inline unsigned load_no_allocate(const unsigned* from) {
#if defined(__CUDA_ARCH__)
  unsigned word;
  asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(word) : "l"(from));
  return word;
#else
  return *from;
#endif
}
__device__ inline uint2 load_no_allocate(const uint2* from) {
#if defined(__CUDA_ARCH__)
  uint2 word;
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(word.x), "=r"(word.y) : "l"(from));
  return word;
#else
  return *from;
#endif
}
__device__ inline uint4 load_no_allocate(const uint4* from) {
#if defined(__CUDA_ARCH__)
  uint4 word;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w) : "l"(from));
  return word;
#else
  return *from;
#endif
}

template <Cache cache, typename Word>
__device__ Word load(const Word* from) {
  if constexpr (cache == Cache::streaming) return __ldcs(from);
  else if constexpr (cache == Cache::no_allocate) return load_no_allocate(from);
  else return *from;
}

// The type in which the elements of one word are combined. 16 values of 8 bits fit into 32 bits, except for products.
template <typename T, typename R, Operation operation>
constexpr bool fits_32_bits = sizeof(T) < 4 && !is_floating<R> && operation != Operation::product;
template <typename R, bool fits_32_bits> struct Folded { using type = R; };
template <> struct Folded<long long, true> { using type = int; };
template <> struct Folded<uint64, true> { using type = unsigned; };

// The elements of a word combined pairwise: short chains of dependent operations, and less rounding than one long one.
template <typename T, typename R, Operation operation, typename Word>
__device__ R fold(Word word) {
  using F = typename Folded<R, fits_32_bits<T, R, operation>>::type;
  constexpr unsigned lanes = sizeof(Word) / sizeof(T);
  T element[lanes];
  memcpy(element, &word, sizeof word);
  F value[lanes];
#pragma unroll
  for (unsigned i = 0; i < lanes; ++i) value[i] = static_cast<F>(element[i]);
#pragma unroll
  for (unsigned width = lanes / 2; width > 0; width /= 2) {
#pragma unroll
    for (unsigned i = 0; i < width; ++i) value[i] = combine<operation>(value[i], value[i + width]);
  }
  return static_cast<R>(value[0]);
}

// A block alone gets few elements (the constraint one_block_small), and 32 bits are quicker to count in.
template <bool alone> struct SizeOf { using type = uint64; };
template <> struct SizeOf<true> { using type = unsigned; };

// This thread's share of x[0, n), of `blocks` blocks that walk together. Elements before the first and after the last
// whole word are the first block's; whole words are read tile by tile; one tile at most is not full. Addresses outside
// x are never touched. Size: what n and an index past it fit into.
template <typename T, typename R, Operation operation, unsigned threads, unsigned load_bytes, unsigned loads,
          Cache cache, typename Size>
__device__ R reduce_thread(const T* x, Size n, unsigned block, unsigned blocks) {
  using Word = typename WordOf<load_bytes>::type;
  constexpr unsigned lanes = load_bytes / sizeof(T);
  constexpr unsigned tile = threads * loads;
  static_assert(lanes >= 1, "a load holds at least one element");
  static_assert(2 * (lanes - 1) <= threads, "one element a thread before and after the whole words");

  const unsigned past_boundary = reinterpret_cast<uint64>(x) % load_bytes;
  const unsigned to_boundary = past_boundary == 0 ? 0 : (load_bytes - past_boundary) / sizeof(T);
  const unsigned head = n < to_boundary ? static_cast<unsigned>(n) : to_boundary;
  const Size words = (n - head) / lanes;
  const unsigned edges = head + static_cast<unsigned>((n - head) % lanes);
  const Word* body = reinterpret_cast<const Word*>(x + head);

  R edge = identity<operation, R>();  // loaded first and used last, so that the tiles hide its latency
  if (block == 0 && threadIdx.x < edges) {
    edge = static_cast<R>(x[threadIdx.x < head ? threadIdx.x : n - edges + threadIdx.x]);
  }

  R total = identity<operation, R>();
  Size first = static_cast<Size>(block) * tile;
  for (; first + tile <= words; first += static_cast<Size>(blocks) * tile) {
    Word word[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) word[k] = load<cache>(body + first + k * threads + threadIdx.x);
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) total = combine<operation>(total, fold<T, R, operation>(word[k]));
  }
  if (first < words) {
    Word word[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const Size i = first + k * threads + threadIdx.x;
      if (i < words) word[k] = load<cache>(body + i);
    }
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      const Size i = first + k * threads + threadIdx.x;
      if (i < words) total = combine<operation>(total, fold<T, R, operation>(word[k]));
    }
  }
  return combine<operation>(total, edge);
}

// ---- Warp and block -------------------------------------------------------------------------------------------------

// The values of the first `lanes` lanes (a power of two) combined, in lane 0. Called by all 32 lanes of a warp. The
// values of the other lanes do not matter, except for redux, where they must be the identity.
template <Operation operation, unsigned lanes, unsigned threads, WarpStep step, typename R>
__device__ R reduce_warp(R value) {
  if constexpr (step == WarpStep::shuffle) {
#pragma unroll
    for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
      value = combine<operation>(value, __shfl_down_sync(all_lanes, value, offset));
    }
  } else if constexpr (step == WarpStep::shuffle_xor) {
#pragma unroll
    for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
      value = combine<operation>(value, __shfl_xor_sync(all_lanes, value, offset));
    }
  } else if constexpr (step == WarpStep::redux) {
    // One instruction for 32-bit integers.
    static_assert(!is_floating<R> && sizeof(R) == 4 && operation != Operation::product, "no redux for this");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    static_assert(step != WarpStep::redux, "redux needs compute capability 8.0");
#else
    if constexpr (operation == Operation::sum) value = __reduce_add_sync(all_lanes, value);
    else if constexpr (operation == Operation::min) value = __reduce_min_sync(all_lanes, value);
    else value = __reduce_max_sync(all_lanes, value);
#endif
  } else if constexpr (step == WarpStep::volatile_shared) {
    // The textbooks' warp-synchronous tail. `volatile` keeps the accesses, not their order between lanes: since Volta
    // lanes advance independently (Programming Guide, "Independent Thread Scheduling"). So each lane may write only
    // after its partner has read, and read only after its partner has written.
    __shared__ volatile R shared[threads];
    shared[threadIdx.x] = value;
    __syncwarp();
#pragma unroll
    for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
      const R other = shared[threadIdx.x ^ offset];
      __syncwarp();  // both partners have read
      value = combine<operation>(value, other);
      shared[threadIdx.x] = value;
      __syncwarp();  // both partners have written
    }
  } else {
#if HAS_TILES
    const auto lane_group = cooperative_groups::tiled_partition<warp>(cooperative_groups::this_thread_block());
#pragma unroll
    for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
      value = combine<operation>(value, lane_group.shfl_down(value, offset));
    }
#else
    static_assert(step != WarpStep::tile, "cooperative_groups.h was not found: name the toolkit's include folder");
#endif
  }
  return value;
}

// The values of all threads of the block combined, in thread 0. Called by all threads. Between two calls stands a
// __syncthreads(): the second writes what the first warp still reads in the first.
template <Operation operation, unsigned threads, WarpStep step, typename R>
__device__ R reduce_block(R value) {
  static_assert(threads % warp == 0 && threads <= warp * warp, "whole warps, and one value of each fits into a warp");
  constexpr unsigned warps = threads / warp;
  value = reduce_warp<operation, warp, threads, step>(value);
  if constexpr (warps > 1) {
    __shared__ R of_warp[warps];
    if (threadIdx.x % warp == 0) of_warp[threadIdx.x / warp] = value;
    __syncthreads();
    if (threadIdx.x < warp) {
      value = threadIdx.x < warps ? of_warp[threadIdx.x] : identity<operation, R>();
      value = reduce_warp<operation, warps, threads, step>(value);
    }
  }
  return value;
}

// ---- Grid -----------------------------------------------------------------------------------------------------------

template <unsigned bytes> struct BitsOf;
template <> struct BitsOf<4> { using type = unsigned; };
template <> struct BitsOf<8> { using type = uint64; };

// *to = combine(*to, value) against any number of other threads.
template <Operation operation, typename R>
__device__ void atomic_combine(R* to, R value) {
  using Bits = typename BitsOf<sizeof(R)>::type;
  Bits* const bits = reinterpret_cast<Bits*>(to);
  if constexpr (operation == Operation::sum && is_floating<R>) atomicAdd(to, value);
  else if constexpr (operation == Operation::sum) atomicAdd(bits, static_cast<Bits>(value));
  else if constexpr (operation == Operation::min && !is_floating<R>) atomicMin(to, value);
  else if constexpr (operation == Operation::max && !is_floating<R>) atomicMax(to, value);
  else {
    // Programming Guide, "Atomic Functions": compare-and-swap makes any other. A stale first look costs one turn.
    Bits expected, seen = *static_cast<volatile Bits*>(bits);
    do {
      expected = seen;
      seen = atomicCAS(bits, expected, bit_cast<Bits>(combine<operation>(bit_cast<R>(expected), value)));
    } while (seen != expected);
  }
}

// A partial result in 64-bit words, each of 32 bits and a mark that they are there. Such a word is never seen half
// written (PTX ISA, "Memory Consistency Model"), so that no fence needs to stand between data and mark.
constexpr uint64 is_there = 1ull << 32;
template <typename R> constexpr unsigned words_of = sizeof(R) / 4;

template <typename R>
__device__ void publish(volatile uint64* slot, R value) {
  const uint64 bits = bit_cast<typename BitsOf<sizeof(R)>::type>(value);
#pragma unroll
  for (unsigned i = 0; i < words_of<R>; ++i) slot[i] = is_there | static_cast<unsigned>(bits >> (32 * i));
}

// The value that was published, whose words may still be on their way. Leaves zeros.
template <typename R>
__device__ R take(volatile uint64* slot) {
  uint64 word[words_of<R>];
  bool complete;
  do {
    complete = true;
#pragma unroll
    for (unsigned i = 0; i < words_of<R>; ++i) word[i] = slot[i];
#pragma unroll
    for (unsigned i = 0; i < words_of<R>; ++i) complete = complete && (word[i] & is_there) != 0;
  } while (!complete);
  uint64 bits = 0;
#pragma unroll
  for (unsigned i = 0; i < words_of<R>; ++i) {
    slot[i] = 0;
    bits |= static_cast<uint64>(static_cast<unsigned>(word[i])) << (32 * i);
  }
  return bit_cast<R>(static_cast<typename BitsOf<sizeof(R)>::type>(bits));
}

template <typename R, Operation operation>
__global__ void initialise(R* y) {
  *y = identity<operation, R>();
}

// x: n elements at any address that suits a T. partials: one R a block. The slots and *ticket are 0 before and, once the
// last launch of this kernel has ended, 0 again: a graph that holds the launches can be replayed.
template <typename T, typename R, Operation operation, unsigned threads, unsigned load_bytes, unsigned loads,
          Cache cache, WarpStep warp_step, Finish finish>
__global__ void __launch_bounds__(threads)
    reduce(const T* x, uint64 n, R* y, R* partials, uint64* slots, unsigned* ticket) {
  constexpr bool alone = finish == Finish::one_block;
  using Size = typename SizeOf<alone>::type;
  const R of_thread = reduce_thread<T, R, operation, threads, load_bytes, loads, cache>(
      x, static_cast<Size>(n), alone ? 0 : blockIdx.x, alone ? 1 : gridDim.x);
  const R of_block = reduce_block<operation, threads, warp_step>(of_thread);

  if constexpr (finish == Finish::one_block) {
    if (threadIdx.x == 0) *y = of_block;
  } else if constexpr (finish == Finish::counted) {
    static_assert(sizeof(R) == 4 && !is_floating<R> && operation == Operation::sum, "a sum that wraps in 32 bits");
    if (threadIdx.x == 0) {
      // The count stands below the sum, whose carry leaves the word.
      const uint64 before = atomicAdd(slots, static_cast<uint64>(static_cast<unsigned>(of_block)) << 32 | 1);
      if (static_cast<unsigned>(before) == gridDim.x - 1) {
        *y = combine<operation>(static_cast<R>(before >> 32), of_block);
        *slots = 0;
      }
    }
  } else if constexpr (finish == Finish::atomic) {
    if (threadIdx.x == 0) atomic_combine<operation>(y, of_block);
  } else if constexpr (finish == Finish::two_launches) {
    if (threadIdx.x == 0) partials[blockIdx.x] = of_block;
    if (threadIdx.x == 0 && blockIdx.x == 0) *ticket = gridDim.x;  // for the second launch: the number of partial results
  } else {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
      publish(slots + blockIdx.x * words_of<R>, of_block);
      is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();  // is_last is known to all; also parts the two calls of reduce_block
    if (!is_last) return;
    R total = identity<operation, R>();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += threads) {
      total = combine<operation>(total, take<R>(slots + i * words_of<R>));
    }
    total = reduce_block<operation, threads, warp_step>(total);
    if (threadIdx.x == 0) {
      *y = total;
      *ticket = 0;
    }
  }
}

template <typename R, Operation operation, unsigned threads, WarpStep warp_step>
__global__ void __launch_bounds__(threads) combinePartials(R* y, const R* partials, unsigned* ticket) {
  const unsigned count = *ticket;
  R total = identity<operation, R>();
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < count; i += threads) total = combine<operation>(total, partials[i]);
  total = reduce_block<operation, threads, warp_step>(total);
  __syncthreads();  // everybody has read the count
  if (threadIdx.x == 0) {
    *y = total;
    *ticket = 0;
  }
}

// ---- Reference ------------------------------------------------------------------------------------------------------

// half and bfloat16 convert to float only.
template <typename W, typename T>
__device__ W as_wide(T value) {
  if constexpr (is_floating<W> && sizeof(T) < 4) return static_cast<float>(value);
  else return static_cast<W>(value);
}

// Thread i of 8192 combines the elements i, i + 8192, ... in that order, in a type W that is wider where there is one;
// a single thread combines the 8192 results in their order.
template <typename T, typename W, Operation operation>
__global__ void reduceReference(const T* x, uint64 n, W* wide) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  W total = identity<operation, W>();
  for (uint64 i = thread; i < n; i += gridDim.x * blockDim.x) total = combine<operation>(total, as_wide<W>(x[i]));
  wide[thread] = total;
}

template <typename W, typename R, Operation operation>
__global__ void reduceReferenceEnd(const W* wide, R* y) {
  W total = identity<operation, W>();
  for (unsigned i = 0; i < 8192; ++i) total = combine<operation>(total, wide[i]);
  *y = static_cast<R>(total);
}
