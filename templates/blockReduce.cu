// One sum the way a block adds up in shared memory. Each thread first adds elements a grid apart. A tree over dynamic
// shared memory then halves the values until `width` are left, and a tail adds those. The tails differ only in how the
// lanes of one warp meet: at the block's barrier, at the warp's, in shuffles, or in a cooperative group. The compiler
// knows the size of such a group (a tile) or does not (a thread group). The blocks' sums meet by atomicAdd, in a second
// launch, or in the same launch after the whole grid has met.
//
// A grid can meet only where all of its blocks are resident at once (a cooperative launch), since none makes way for
// another. On an H200 that is 2112 blocks of 128 threads, 264 of 1024: larger grids are invalid with finish=grid_sync.
//
// Not the fastest sum (that is reduce.cu, whose warps add up before anything is shared) but the place to see what the
// last steps of a tree cost.
//
// Sources: Fan Zheyong, "CUDA Programming: Basics and Practice" (2020), chapter 10; CUDA C++ Programming Guide, "Warp
// Shuffle Functions", "Cooperative Groups" ("Grid Synchronization" too), "Synchronization Functions" (__syncwarp).
// Written anew: any n is right, the tail of the published tile adds each value twice (it starts a step too early), and
// its second call is a launch here. Results of integers wrap.

#pragma tuner kernel      blockReduce
#pragma tuner type        T = float int double
#pragma tuner type        W of T = float:double int:int64
#pragma tuner size        n : uint64 = 16777216
#pragma tuner parameter   tail    = barrier syncwarp shuffle_down shuffle_xor tile thread_group
#pragma tuner parameter   width   = 2 4 8 16 32               // values that the tree leaves to the tail
#pragma tuner parameter   threads = 32 64 128 256 512 1024
#pragma tuner parameter   grid_blocks = 0 256 1024 2048 4096 10240 16384  // unless n needs fewer; 0: what n needs
#pragma tuner parameter   finish  = atomic two_launches grid_sync
#pragma tuner parameter   final_threads = 128 256 512 1024    // of the second launch's only block
#pragma tuner let         blocks = max(1, grid_blocks == 0 ? ceil_div(n, threads) : min(ceil_div(n, threads), grid_blocks))
#pragma tuner constraint  barriers_have_no_width: tail != barrier or width == 32
#pragma tuner constraint  only_a_second_launch_has_threads: finish == two_launches or final_threads == 1024
#pragma tuner in          x[n]
#pragma tuner out         y[1]
#pragma tuner scratch     partials[blocks]
#pragma tuner scratch     wide[8192] : W                      // of the reference

#pragma tuner launch      clear
#pragma tuner when        finish == atomic
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   y
#pragma tuner instantiate clearSum<T>

#pragma tuner launch      reduce
#pragma tuner grid        blocks
#pragma tuner block       threads
#pragma tuner shared      threads * sizeof(T)
#pragma tuner cooperative finish == grid_sync
#pragma tuner arguments   x, n, partials, y
#pragma tuner instantiate blockReduce<T, Tail::tail, width, threads, Finish::finish>

#pragma tuner launch      finish
#pragma tuner when        finish == two_launches
#pragma tuner grid        1
#pragma tuner block       final_threads
#pragma tuner shared      final_threads * sizeof(T)
#pragma tuner arguments   partials, n, y
#pragma tuner instantiate addPartials<T, Tail::tail, width, threads, grid_blocks, final_threads>

#pragma tuner reference   sumReference<T, W>
#pragma tuner grid        32
#pragma tuner block       256
#pragma tuner arguments   x, n, wide
#pragma tuner reference   sumReferenceEnd<T, W>
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   wide, y
#pragma tuner verify      n=0
#pragma tuner verify      n=1 offset=1
#pragma tuner verify      n=33 offset=3
#pragma tuner verify      n=4097
#pragma tuner verify      n=100003 offset=1
#pragma tuner accumulates n
#pragma tuner bytes       n * sizeof(T)
#pragma tuner flops       n
#pragma tuner default     tail=shuffle_down width=32 threads=128 grid_blocks=10240 finish=two_launches \
                          final_threads=1024

#include "sum_reference.cuh"

// See reduce.cu: limited so, the header costs NVRTC 16 ms.
#if __has_include(<cooperative_groups.h>)
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
#define HAS_GROUPS 1
#else
#define HAS_GROUPS 0
#endif

enum class Tail {
  barrier,       // the tree continues to its end: every step waits for the whole block
  syncwarp,      // in shared memory, every step waits for the warp alone
  shuffle_down,  // registers move, in groups of `width` lanes
  shuffle_xor,
  tile,          // a group of `width` threads, known to the compiler: shuffles without masks
  thread_group,  // a group of a size known at run time: it can only meet, values go through shared memory
};
enum class Finish {
  atomic,        // one atomicAdd a block: of floats in another order each time
  two_launches,
  grid_sync,     // all blocks wait for each other, then one adds up
};

constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xffffffffu;

// shared[0] + ... + shared[width - 1], in thread 0. Called by all threads, after a barrier. A thread below `offset`
// reads from beyond it and writes below it: within a step no thread reads what another writes.
template <Tail tail, unsigned width, typename T>
__device__ T add_tail(T* shared) {
  const unsigned i = threadIdx.x;
  if constexpr (tail == Tail::barrier) {
    for (unsigned offset = width / 2; offset > 0; offset /= 2) {
      if (i < offset) shared[i] = plus(shared[i], shared[i + offset]);
      __syncthreads();
    }
    return shared[0];
  }
  if (i >= warp) return T(0);
  if constexpr (tail == Tail::syncwarp) {
    for (unsigned offset = width / 2; offset > 0; offset /= 2) {
      if (i < offset) shared[i] = plus(shared[i], shared[i + offset]);
      __syncwarp();
    }
    return shared[0];
  } else if constexpr (tail == Tail::tile || tail == Tail::thread_group) {
#if HAS_GROUPS
    namespace cg = cooperative_groups;
    if constexpr (tail == Tail::tile) {
      const auto group = cg::tiled_partition<width>(cg::this_thread_block());
      T sum = shared[i];
      for (unsigned offset = group.size() / 2; offset > 0; offset /= 2) sum = plus(sum, group.shfl_down(sum, offset));
      return sum;
    } else {
      const cg::thread_group group = cg::tiled_partition(cg::this_thread_block(), width);
      T* const of_group = shared + (i - group.thread_rank());
      for (unsigned offset = group.size() / 2; offset > 0; offset /= 2) {
        const unsigned rank = group.thread_rank();
        if (rank < offset) of_group[rank] = plus(of_group[rank], of_group[rank + offset]);
        group.sync();
      }
      return of_group[0];
    }
#else
    static_assert(tail == Tail::barrier, "cooperative_groups.h was not found: name the toolkit's include folder");
#endif
  } else {
    T sum = shared[i];  // the groups of lanes beyond the first add what nobody needs
#pragma unroll
    for (unsigned offset = width / 2; offset > 0; offset /= 2) {
      if constexpr (tail == Tail::shuffle_down) sum = plus(sum, __shfl_down_sync(all_lanes, sum, offset, width));
      else sum = plus(sum, __shfl_xor_sync(all_lanes, sum, offset, width));
    }
    return sum;
  }
}

// The sum of one value of each of the block's `threads` threads, in thread 0.
template <Tail tail, unsigned width, unsigned threads, typename T>
__device__ T add_block(T mine) {
  static_assert(threads >= warp && (threads & (threads - 1)) == 0, "a power of two of whole warps");
  extern __shared__ __align__(8) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned offset = threads / 2; offset >= width; offset /= 2) {
    if (threadIdx.x < offset) shared[threadIdx.x] = plus(shared[threadIdx.x], shared[threadIdx.x + offset]);
    __syncthreads();
  }
  return add_tail<tail, width>(shared);
}

template <typename T>
__global__ void clearSum(T* y) { *y = T(0); }

template <typename T, Tail tail, unsigned width, unsigned threads, Finish finish>
__global__ void __launch_bounds__(threads) blockReduce(const T* x, uint64 n, T* partials, T* y) {
  T mine = T(0);
  const uint64 stride = static_cast<uint64>(gridDim.x) * threads;
  for (uint64 i = static_cast<uint64>(blockIdx.x) * threads + threadIdx.x; i < n; i += stride) mine = plus(mine, x[i]);
  const T sum = add_block<tail, width, threads>(mine);
  if (threadIdx.x == 0) {
    if constexpr (finish == Finish::atomic) atomicAdd(y, sum);
    else partials[blockIdx.x] = sum;
  }
  if constexpr (finish == Finish::grid_sync) {
#if HAS_GROUPS
    cooperative_groups::this_grid().sync();  // all blocks see what each of them wrote before it
#else
    static_assert(finish == Finish::atomic, "cooperative_groups.h was not found: name the toolkit's include folder");
#endif
    if (blockIdx.x != 0) return;
    T rest = T(0);
    for (unsigned i = threadIdx.x; i < gridDim.x; i += threads) rest = plus(rest, partials[i]);
    const T total = add_block<tail, width, threads>(rest);
    if (threadIdx.x == 0) *y = total;
  }
}

template <typename T, Tail tail, unsigned width, unsigned threads, unsigned grid_blocks, unsigned final_threads>
__global__ void __launch_bounds__(final_threads) addPartials(const T* partials, uint64 n, T* y) {
  const uint64 needed = n == 0 ? 1 : (n + threads - 1) / threads;
  const unsigned count = grid_blocks == 0 || needed < grid_blocks ? static_cast<unsigned>(needed) : grid_blocks;
  T mine = T(0);
  for (unsigned i = threadIdx.x; i < count; i += final_threads) mine = plus(mine, partials[i]);
  const T sum = add_block<tail, width, final_threads>(mine);
  if (threadIdx.x == 0) *y = sum;
}
