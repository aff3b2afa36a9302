// The textbook's ladder: one reduction written fifteen times. Most versions remove one cost of the version before
// them. It is not the fastest reduction (reduce.cu is); it shows the gain of each step.
//
// Source: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 3, sections "Avoiding
// Branch Divergence" and "Unrolling Loops" and exercises 2 to 4, after M. Harris, "Optimizing Parallel Reduction in
// CUDA" (2007). Written anew, for two reasons:
// - As published, the kernels need n to be a multiple of everything they are unrolled by. Here any n is right: only
//   elements that exist are read, and no thread returns before a barrier that others wait at (undefined: Programming
//   Guide, "Synchronization Functions").
// - As published, the last warp relies on its lanes running in step. Since Volta they need not (Programming Guide,
//   "Independent Thread Scheduling"): `volatile` alone is a race. See finish_warp().
//
// Like the originals these work in place and destroy x; each block leaves one partial result and a second launch adds
// those. The textbooks time the first launch and add the partial results on the CPU: so does partials=left, where the
// second launch only completes what is verified. Results of integers wrap.

#pragma tuner kernel      reduceClassic
#pragma tuner type        T = int float double
#pragma tuner type        W of T = int:int64 float:double
#pragma tuner choice      partials = second_launch left       // part of the time, or not
#pragma tuner size        n : uint64 = 16777216
#pragma tuner parameter   step = neighbored neighbored_less_divergent interleaved unroll2 unroll4 unroll8 \
                                 unroll8_loop unroll8_rolled unroll16 unroll_warps8 barrier_warps8 \
                                 shrinking_warps8 complete_unroll8 barrier_complete8 template8
#pragma tuner parents     step = unroll8_loop:unroll8 unroll8_rolled:unroll8 unroll16:unroll8 unroll_warps8:unroll8 \
                                 barrier_warps8:unroll_warps8 shrinking_warps8:unroll_warps8 \
                                 complete_unroll8:unroll_warps8 barrier_complete8:complete_unroll8 \
                                 template8:complete_unroll8
#pragma tuner parameter   threads = 32 64 128 256 512 1024
#pragma tuner parameter   final_threads = 128 256 512 1024    // of the second launch's only block
#pragma tuner let         chunks = step in {neighbored, neighbored_less_divergent, interleaved} ? 1 : \
                                   step == unroll2 ? 2 : step == unroll4 ? 4 : step == unroll16 ? 16 : 8
#pragma tuner let         blocks = max(1, ceil_div(n, threads * chunks))
#pragma tuner constraint  nothing_is_left_to_tune: partials == second_launch or final_threads == 1024
#pragma tuner consumed    x[n]
#pragma tuner fill        x = uniform 0 256            // the textbooks' rand() & 0xFF: 2^24 ints add up to 2.1e9
#pragma tuner out         y[1]
#pragma tuner scratch     sums[blocks]                 // one a block
#pragma tuner scratch     wide[8192] : W               // of the reference

#pragma tuner launch      reduce
#pragma tuner grid        blocks
#pragma tuner block       threads
#pragma tuner arguments   x, n, sums
#pragma tuner instantiate reduceClassic<T, Step::step, threads, chunks>

#pragma tuner launch      sum_partials
#pragma tuner untimed     partials == left
#pragma tuner grid        1
#pragma tuner block       final_threads
#pragma tuner arguments   sums, n, y
#pragma tuner instantiate sumPartials<T, threads * chunks, final_threads>

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
#pragma tuner in_flight   sizeof(T) * (step in {neighbored, neighbored_less_divergent, interleaved} ? 2 : \
                                       step == unroll8_rolled ? 1 : chunks)
#pragma tuner flops       n
#pragma tuner default     step=template8 threads=256 final_threads=1024

#include "textbook_sum.cuh"

enum class Step {
  neighbored,                 // A thread adds its neighbour. Every second, fourth, ... thread works: warps diverge.
  neighbored_less_divergent,  // The same additions by the first threads of the block: whole warps work or rest.
  interleaved,                // The partner is half a block away: neighbouring threads, neighbouring addresses.
  unroll2,                    // Interleaved, after each thread has added 2, 4, 8, 16 elements:
  unroll4,                    //   fewer blocks, and independent loads in flight.
  unroll8,
  unroll8_loop,               // The same eight by a pointer and a loop, which compilers unroll.
  unroll8_rolled,             // The same loop left as it is: one load at a time.
  unroll16,
  unroll_warps8,              // The last warp needs no block barrier.
  barrier_warps8,             // Its steps with barriers of the block again, instead of `volatile`.
  shrinking_warps8,           // Its steps by fewer and fewer lanes, although the hardware still schedules the whole warp.
  complete_unroll8,           // No loop either; the block size is a run-time value.
  barrier_complete8,          // The same with barriers of the block in the last warp's steps.
  template8,                  // The block size is a compile-time value: no comparisons are left.
};

// a[0] = a[0] + ... + a[min(size, 64) - 1], by the lanes of the first warp. The textbooks' warp-synchronous tail: in
// each step a lane reads what another writes in the same step, so all read, meet, write and meet again. Lanes
// beyond the width of a step compute sums that nobody needs: that spares a branch, and is why the first meeting is
// needed. `volatile` makes each access one of memory, so that the partner can see it.
template <typename T>
__device__ void finish_warp(volatile T* a, unsigned size) {
  const unsigned lane = threadIdx.x;
  T sum = lane < size ? a[lane] : T(0);
#pragma unroll
  for (unsigned distance = 32; distance > 0; distance /= 2) {
    const T other = lane + distance < size ? a[lane + distance] : T(0);
    __syncwarp();  // nobody writes before all have read
    sum = plus(sum, other);
    if (lane < size) a[lane] = sum;
    __syncwarp();  // nobody reads before all have written
  }
}

// The same by barriers that the whole block meets at: nothing must be `volatile`.
template <typename T>
__device__ void finish_warp_by_barriers(T* a, unsigned size) {
#pragma unroll
  for (unsigned distance = 32; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) add_from(a, threadIdx.x, distance, size);
    __syncthreads();
  }
}

// The same by the lanes that a step needs. They write what no lane of the step reads: one meeting is enough.
template <typename T>
__device__ void finish_warp_shrinking(volatile T* a, unsigned size) {
  const unsigned lane = threadIdx.x;
#pragma unroll
  for (unsigned distance = 32; distance > 0; distance /= 2) {
    if (lane < distance && lane + distance < size) a[lane] = plus(T(a[lane]), T(a[lane + distance]));
    __syncwarp();
  }
}

// The tree over a[0, size) without a loop; a block of `threads` threads holds at most that many values.
template <bool by_barriers, typename T>
__device__ void finish_block_unrolled(T* a, unsigned size, unsigned threads) {
  if (threads >= 1024 && threadIdx.x < 512) add_from(a, threadIdx.x, 512, size);
  __syncthreads();
  if (threads >= 512 && threadIdx.x < 256) add_from(a, threadIdx.x, 256, size);
  __syncthreads();
  if (threads >= 256 && threadIdx.x < 128) add_from(a, threadIdx.x, 128, size);
  __syncthreads();
  if (threads >= 128 && threadIdx.x < 64) add_from(a, threadIdx.x, 64, size);
  __syncthreads();
  if constexpr (by_barriers) {
    finish_warp_by_barriers(a, size);
  } else if (threadIdx.x < 32) {
    finish_warp<T>(a, size);
  }
}

// `chunks`: consecutive runs of `threads` elements that one block adds up.
template <typename T, Step step, unsigned threads, unsigned chunks>
__global__ void __launch_bounds__(threads) reduceClassic(T* x, uint64 n, T* partials) {
  static_assert(threads >= 32 && threads <= 1024 && (threads & (threads - 1)) == 0, "a power of two of whole warps");
  const unsigned i = threadIdx.x;
  const uint64 begin = static_cast<uint64>(blockIdx.x) * (threads * chunks);
  const uint64 left = n > begin ? n - begin : 0;
  T* const a = x + begin;  // this block's part, a[0, left)

  // A thread's own elements first, so that the tree below is over one chunk.
  if constexpr (step == Step::unroll8_loop || step == Step::unroll8_rolled) {
    const T* next = a + i;
    T sum = T(0);
    const auto add = [&](unsigned chunk) {
      if (chunk * threads + i < left) sum = plus(sum, *next);
      next += threads;
    };
    if constexpr (step == Step::unroll8_rolled) {
#pragma unroll 1
      for (unsigned chunk = 0; chunk < chunks; ++chunk) add(chunk);
    } else {
      for (unsigned chunk = 0; chunk < chunks; ++chunk) add(chunk);  // compilers unroll it
    }
    if (i < left) a[i] = sum;
    __syncthreads();
  } else if constexpr (chunks > 1) {
    T sum = T(0);
#pragma unroll
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      if (chunk * threads + i < left) sum = plus(sum, a[chunk * threads + i]);
    }
    if (i < left) a[i] = sum;
    __syncthreads();
  }
  const unsigned size = left < threads ? static_cast<unsigned>(left) : threads;

  if constexpr (step == Step::neighbored) {
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
      if (i % (2 * stride) == 0) add_from(a, i, stride, size);
      __syncthreads();  // outside of the branch: all threads of the block must meet
    }
  } else if constexpr (step == Step::neighbored_less_divergent) {
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
      const unsigned index = 2 * stride * i;
      if (index < blockDim.x) add_from(a, index, stride, size);
      __syncthreads();
    }
  } else if constexpr (step == Step::unroll_warps8 || step == Step::barrier_warps8 ||
                       step == Step::shrinking_warps8) {
    for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) {
      if (i < stride) add_from(a, i, stride, size);
      __syncthreads();
    }
    if constexpr (step == Step::barrier_warps8) {
      finish_warp_by_barriers(a, size);
    } else if (i < 32) {
      if constexpr (step == Step::unroll_warps8) {
        finish_warp<T>(a, size);
      } else {
        finish_warp_shrinking<T>(a, size);
      }
    }
  } else if constexpr (step == Step::complete_unroll8) {
    finish_block_unrolled<false>(a, size, blockDim.x);
  } else if constexpr (step == Step::barrier_complete8) {
    finish_block_unrolled<true>(a, size, blockDim.x);
  } else if constexpr (step == Step::template8) {
    finish_block_unrolled<false>(a, size, threads);
  } else {
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
      if (i < stride) add_from(a, i, stride, size);
      __syncthreads();
    }
  }
  if (i == 0) partials[blockIdx.x] = size > 0 ? a[0] : T(0);  // written last by thread 0 itself: no barrier needed
}
