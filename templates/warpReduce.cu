// How the 32 lanes of a warp add up one value each: through shared memory, by two kinds of shuffle, through a
// cooperative group, or by a vote. Around that one step everything is equal: each thread first combines elements a grid
// apart, each warp and each block leaves one partial result, and the finish adds those.
//
// The operation is `sum` (of the elements) or `count` (of the elements above one half). All warp steps can count, so
// that they can be compared. A vote can do nothing else: 32 predicates are one ballot and one population count, with no
// tree at all.
//
// Sources: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 5, "The Warp Shuffle
// Instruction"; CUDA C++ Programming Guide, "Warp Vote Functions", "Warp Shuffle Functions", "Cooperative Groups",
// "Synchronization Functions" (__syncwarp); Y. Lin and V. Grover, "Using CUDA Warp-Level Primitives" (2018).

#pragma tuner kernel      warpReduce
#pragma tuner type        T = float int
#pragma tuner type        R of T = float:double int:int64
#pragma tuner choice      operation = sum count
#pragma tuner size        n : uint64 = 16777216
#pragma tuner parameter   warp_step     = syncwarp shuffle_down shuffle_xor tile vote
#pragma tuner parameter   threads       = 32 64 128 256 512 1024
#pragma tuner parameter   unroll        = 1 2 4 8             // elements in flight a thread
#pragma tuner parameter   blocks_per_sm = 1 2 4 8 16 32       // unless n needs fewer
#pragma tuner parameter   finish        = one_launch two_launches
#pragma tuner let         blocks = max(1, min(ceil_div(n, threads * unroll), blocks_per_sm * sm_count))
#pragma tuner constraint  votes_count: warp_step != vote or operation == count
#pragma tuner in_flight   (T == float and warp_step != vote ? min(unroll, 4) : unroll) * sizeof(T)
#pragma tuner in          x[n]
#pragma tuner out         y[1] : R
#pragma tuner scratch     partials[blocks] : R
#pragma tuner zeroed      ticket[1] : unsigned
#pragma tuner scratch     wide[8192] : R                      // of the reference

#pragma tuner launch      reduce
#pragma tuner grid        blocks
#pragma tuner block       threads
#pragma tuner arguments   x, n, y, partials, ticket
#pragma tuner instantiate warpReduce<T, R, Operation::operation, WarpStep::warp_step, threads, unroll, Finish::finish>

#pragma tuner launch      finish
#pragma tuner when        finish == two_launches
#pragma tuner grid        1
#pragma tuner block       threads
#pragma tuner arguments   y, partials, ticket
#pragma tuner instantiate addPartials<R, WarpStep::warp_step, threads>

#pragma tuner reference   warpReduceReference<T, R, Operation::operation>
#pragma tuner grid        32
#pragma tuner block       256
#pragma tuner arguments   x, n, wide
#pragma tuner reference   warpReduceReferenceEnd<R>
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   wide, y
#pragma tuner verify      n=0
#pragma tuner verify      n=1 offset=1
#pragma tuner verify      n=31 offset=3
#pragma tuner verify      n=4097
#pragma tuner verify      n=100003 offset=1
#pragma tuner accumulates n
#pragma tuner bytes       n * sizeof(T)
#pragma tuner flops       n
#pragma tuner default     warp_step=shuffle_down threads=256 unroll=4 blocks_per_sm=8 finish=one_launch

// See reduce.cu: limited so, the header costs NVRTC 16 ms.
#if __has_include(<cooperative_groups.h>)
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
#define HAS_TILES 1
#else
#define HAS_TILES 0
#endif

enum class Operation { sum, count };
enum class WarpStep { syncwarp, shuffle_down, shuffle_xor, tile, vote };
enum class Finish {
  one_launch,    // the block that ends last adds the partial results
  two_launches,  // a second launch does
};

using uint64 = unsigned long long;
constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xffffffffu;

template <typename T>
__device__ bool counts(T element) { return element > T(0.5); }

// The share of one element in the result.
template <typename R, Operation operation, typename T>
__device__ R term(T element) {
  if constexpr (operation == Operation::sum) return static_cast<R>(element);
  else return counts(element) ? R(1) : R(0);
}

// The sum of the 32 values of a warp, in lane 0. Called by all 32 lanes.
template <WarpStep step, unsigned threads, typename R>
__device__ R add_warp(R value) {
  if constexpr (step == WarpStep::syncwarp) {
    // Lanes advance independently since Volta: without the two barriers a lane reads its partner's old or new value as
    // chance has it. __syncwarp() also orders the accesses to memory of the lanes that meet.
    __shared__ R shared[threads];
    shared[threadIdx.x] = value;
    __syncwarp();
#pragma unroll
    for (unsigned offset = warp / 2; offset > 0; offset /= 2) {
      const R other = shared[threadIdx.x ^ offset];
      __syncwarp();  // both partners have read
      shared[threadIdx.x] = value += other;
      __syncwarp();  // both partners have written
    }
  } else if constexpr (step == WarpStep::shuffle_xor) {
#pragma unroll
    for (unsigned offset = warp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(all_lanes, value, offset);
  } else if constexpr (step == WarpStep::tile) {
#if HAS_TILES
    const auto lane_group = cooperative_groups::tiled_partition<warp>(cooperative_groups::this_thread_block());
#pragma unroll
    for (unsigned offset = warp / 2; offset > 0; offset /= 2) value += lane_group.shfl_down(value, offset);
#else
    static_assert(step != WarpStep::tile, "cooperative_groups.h was not found: name the toolkit's include folder");
#endif
  } else {  // shuffle_down; and vote, whose lanes hold no predicates any more once warps have counted
#pragma unroll
    for (unsigned offset = warp / 2; offset > 0; offset /= 2) value += __shfl_down_sync(all_lanes, value, offset);
  }
  return value;
}

// The sum of one value of each warp, given by its lane 0, in thread 0. Called by all threads. Between two calls stands
// a __syncthreads(): the second writes what the first warp still reads in the first.
template <WarpStep step, unsigned threads, typename R>
__device__ R add_block(R of_warp) {
  static_assert(threads % warp == 0 && threads <= warp * warp, "whole warps, and one value of each fits into a warp");
  if constexpr (threads == warp) return of_warp;
  __shared__ R of_warps[warp];
  if (threadIdx.x % warp == 0) of_warps[threadIdx.x / warp] = of_warp;
  __syncthreads();
  if (threadIdx.x < warp) {
    const R value = threadIdx.x < threads / warp ? of_warps[threadIdx.x] : R(0);
    of_warp = add_warp<step, threads>(value);
  }
  return of_warp;
}

// All partial results by one block, in an order that does not depend on which block ended when. In thread 0.
template <WarpStep step, unsigned threads, typename R>
__device__ R add_partials(const R* partials, unsigned count) {
  R sum = R(0);
  for (unsigned i = threadIdx.x; i < count; i += threads) sum += partials[i];
  return add_block<step, threads>(add_warp<step, threads>(sum));
}

// *ticket is 0 before and, once the last launch of this kernel has ended, 0 again.
template <typename T, typename R, Operation operation, WarpStep step, unsigned threads, unsigned unroll, Finish finish>
__global__ void __launch_bounds__(threads) warpReduce(const T* x, uint64 n, R* y, R* partials, unsigned* ticket) {
  static_assert(step != WarpStep::vote || operation == Operation::count, "a vote can only count");
  const uint64 stride = static_cast<uint64>(gridDim.x) * threads;
  const uint64 first = static_cast<uint64>(blockIdx.x) * threads;

  // Elements first + threadIdx.x + k * stride. The loop's condition is the same for all threads of the block, so that
  // every lane takes part in every ballot.
  R of_warp = R(0);
  for (uint64 begin = first; begin < n; begin += stride * unroll) {
    T element[unroll];
    bool exists[unroll];
#pragma unroll
    for (unsigned k = 0; k < unroll; ++k) {
      const uint64 i = begin + k * stride + threadIdx.x;
      exists[k] = i < n;
      element[k] = exists[k] ? x[i] : T(0);
    }
#pragma unroll
    for (unsigned k = 0; k < unroll; ++k) {
      if constexpr (step == WarpStep::vote) {
        of_warp += static_cast<R>(__popc(__ballot_sync(all_lanes, exists[k] && counts(element[k]))));  // in all lanes
      } else {
        if (exists[k]) of_warp += term<R, operation>(element[k]);
      }
    }
  }
  if constexpr (step != WarpStep::vote) of_warp = add_warp<step, threads>(of_warp);
  const R of_block = add_block<step, threads>(of_warp);

  if constexpr (finish == Finish::two_launches) {
    if (threadIdx.x == 0) partials[blockIdx.x] = of_block;
    if (threadIdx.x == 0 && blockIdx.x == 0) *ticket = gridDim.x;  // for the second launch: the number of partial results
  } else {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
      partials[blockIdx.x] = of_block;
      __threadfence();  // whoever sees the ticket sees the partial result too
      is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
      if (is_last) __threadfence();  // and what is read from here on was written before the tickets seen
    }
    __syncthreads();
    if (!is_last) return;
    const R sum = add_partials<step, threads>(partials, gridDim.x);
    if (threadIdx.x == 0) {
      *y = sum;
      *ticket = 0;
    }
  }
}

template <typename R, WarpStep step, unsigned threads>
__global__ void __launch_bounds__(threads) addPartials(R* y, const R* partials, unsigned* ticket) {
  const unsigned count = *ticket;
  const R sum = add_partials<step, threads>(partials, count);
  __syncthreads();  // everybody has read the count
  if (threadIdx.x == 0) {
    *y = sum;
    *ticket = 0;
  }
}

// Thread i of 8192 combines the elements i, i + 8192, ... in that order, and a single thread the 8192 results.
template <typename T, typename R, Operation operation>
__global__ void warpReduceReference(const T* x, uint64 n, R* wide) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  R sum = 0;
  for (uint64 i = thread; i < n; i += gridDim.x * blockDim.x) sum += term<R, operation>(x[i]);
  wide[thread] = sum;
}

template <typename R>
__global__ void warpReduceReferenceEnd(const R* wide, R* y) {
  R sum = 0;
  for (unsigned i = 0; i < 8192; ++i) sum += wide[i];
  *y = sum;
}
