// The textbook's reductions by dynamic parallelism: each step of the tree is a grid that a kernel launches. This is
// never the fast way to add numbers. It shows the cost of a launch from the device, and who waits for whom.
//
// Source: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 3, section "Dynamic
// Parallelism" (nested_reduce). Written anew, for three reasons:
// - As published, a parent waits for its child by cudaDeviceSynchronize(). Since CUDA 12 a grid cannot. Work that must
//   come later is launched into the grid's tail stream (Programming Guide, "The Tail Launch Stream"). That stream starts
//   when the grid and all that it launched have ended, and runs one launch with its whole progeny after the other. A
//   tree of 1024 blocks pays for this last rule: its grids run one at a time. `stream=fire_and_forget` starts a child at
//   once, beside the others; its input must have been written before its launch.
// - As published, `nested2` launches the next step from one block while others may not have done theirs: a race. A tail
//   launch begins after all of them.
// - As published, n is a multiple of the block size. Here any n is right: only elements that exist are read.
//
// A context holds a limited number of launches that wait: 2048 by default, less two on an H200. One more is dropped
// without a word, and its sum is lost. `device_launches` states how many there may be. It asks for no more than that,
// because a launch costs more if more could wait. `pending=default` leaves the limit as it is, to show the wrong sum:
//
//   tune run nestedReduce --choice pending=default --config "step=nested stream=tail threads=32"
//
// A child may use global memory, which it sees as its parent left it at the launch, and constant memory, which neither
// can write. It gets no pointer to shared or local memory, which belong to a block and a thread of the parent. The tail
// launches of the parent see the child's results, and so does the host after their end. The parent never sees them,
// because it can no longer wait. Launches may be nested 24 deep (Programming Guide, "Memory Model" and "Limits" of
// dynamic parallelism).
//
// Like the originals these work in place and destroy x; each block of the first grid leaves one partial result and a
// second launch adds those. Results of integers wrap.

#pragma tuner kernel      nestedReduce
#pragma tuner type        T = int float double
#pragma tuner type        W of T = int:int64 float:double
#pragma tuner choice      pending = enough default            // launches that may wait: as many as there are, or the
                                                              // context's usual number
#pragma tuner size        n : uint64 = 524288
#pragma tuner parameter   step = nested nested_nosync nested2 flat
#pragma tuner parameter   stream = tail fire_and_forget
#pragma tuner parameter   threads = 32 64 128 256 512 1024
#pragma tuner parameter   final_threads = 128 256 512 1024    // of the second launch's only block
#pragma tuner let         blocks = max(1, ceil_div(n, threads))
#pragma tuner constraint  children_need_what_they_read: stream == tail or step == nested
#pragma tuner let         chains = step in {nested, nested_nosync} ? blocks : step == nested2 ? 1 : 0
#pragma tuner device_launches pending == default ? 0 : chains * (stream == tail ? 1 : log2(threads) - 1) + 8
#pragma tuner consumed    x[n]
#pragma tuner out         y[1]
#pragma tuner scratch     partials[blocks]
#pragma tuner scratch     wide[8192] : W               // of the reference

#pragma tuner launch      reduce
#pragma tuner grid        blocks
#pragma tuner block       step == nested2 ? threads / 2 : threads
#pragma tuner arguments   x, n, partials, threads
#pragma tuner instantiate nestedReduce<T, Step::step, Stream::stream>

#pragma tuner launch      sum_partials
#pragma tuner grid        1
#pragma tuner block       final_threads
#pragma tuner arguments   partials, n, y
#pragma tuner instantiate sumPartials<T, threads, final_threads>

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
#pragma tuner verify      n=511
#pragma tuner verify      n=20011 offset=1
#pragma tuner accumulates n
#pragma tuner bytes       n * sizeof(T)
#pragma tuner flops       n
#pragma tuner default     step=flat stream=tail threads=512 final_threads=1024

#include "textbook_sum.cuh"

enum class Step {
  nested,         // Each block adds the second half of its part to the first, and launches a block for that.
  nested_nosync,  // The same without the barrier: a tail launch starts only after all threads have ended.
  nested2,        // One thread launches the next step for all blocks; no thread is idle.
  flat,           // No launches: neighbours are added in a loop (`neighbored` of reduceClassic.cu).
};

enum class Stream { tail, fire_and_forget };

// Block b adds up x[b * width, (b + 1) * width), as far as these exist, into partials[b]. Of `nested` and
// `nested_nosync` a block has a thread for each element, of `nested2` for each addition of this step.
template <typename T, Step step, Stream stream>
__global__ void __launch_bounds__(1024) nestedReduce(T* x, uint64 n, T* partials, int width) {
  static_assert(stream == Stream::tail || step == Step::nested,
                "without a barrier only what starts after the whole grid finds the sums of the other threads");
  const unsigned i = threadIdx.x;
  const uint64 begin = static_cast<uint64>(blockIdx.x) * width;
  const uint64 left = n > begin ? n - begin : 0;
  T* const a = x + begin;

  if constexpr (step == Step::flat) {
    const unsigned size = left < width ? static_cast<unsigned>(left) : width;
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
      if (i % (2 * stride) == 0) add_from(a, i, stride, size);
      __syncthreads();  // outside of the branch: all threads of the block must meet
    }
    if (i == 0) partials[blockIdx.x] = size > 0 ? a[0] : T(0);
  } else {
    const unsigned half = step == Step::nested2 ? blockDim.x : blockDim.x / 2;
    const unsigned size = left < 2 * half ? static_cast<unsigned>(left) : 2 * half;
    if (i < half) add_from(a, i, half, size);
    if (half == 1) {
      if (i == 0) partials[blockIdx.x] = size > 0 ? a[0] : T(0);
      return;
    }
    // Makes the sums of all threads of the block thread 0's own, which its child is promised to see (Programming Guide,
    // "Coherence and Consistency"). Needed only where the child does not wait for the end of this grid.
    if constexpr (step == Step::nested) __syncthreads();
#if defined(__CUDACC__)
    const cudaStream_t where = stream == Stream::tail ? cudaStreamTailLaunch : cudaStreamFireAndForget;
    if constexpr (step == Step::nested2) {
      if (i == 0 && blockIdx.x == 0)
        nestedReduce<T, step, stream><<<gridDim.x, half / 2, 0, where>>>(x, n, partials, width);
    } else if (i == 0) {
      const uint64 rest = size < half ? size : half;
      nestedReduce<T, step, stream><<<1, half, 0, where>>>(a, rest, partials + blockIdx.x, static_cast<int>(half));
    }
#endif
  }
}
