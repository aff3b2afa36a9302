// What a branch costs that splits warps. Even elements go through one recurrence and odd ones through another; only the
// way in which elements are dealt to threads differs, so that all variants compute the same y and one reference judges
// them all:
// - by_thread:  thread i takes element i. Even and odd lanes of each warp part ways and the warp runs both ways.
// - by_warp:    two warps share 64 elements, one takes the even and one the odd ones. No warp is split; each access
//               touches twice the cache lines, half of each, and the other warp uses the other halves.
// - predicated: thread i takes element i, computes both recurrences and selects. No branch, twice the arithmetic.
//
// The book compares `threadIdx.x % 2` with `(threadIdx.x / warpSize) % 2`, which write different numbers to different
// places and so cannot be checked against each other; and its branches are so short that the compiler replaces them by
// predicated instructions. Here `work`, a size known at run time only, keeps the loops, and the branch, in the code.
// Lanes that parted meet again after the branch; no warp-wide operation follows, so no __syncwarp() is needed.
//
// Sources: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 3, "Warp Divergence";
// CUDA C++ Programming Guide, "SIMT Architecture"; CUDA C++ Best Practices Guide, "Branching and Divergence".

#pragma tuner kernel      warpDivergence
#pragma tuner type        T = float double
#pragma tuner size        n    : uint64 = 4194304
#pragma tuner size        work : int    = 64            // steps of the recurrences
#pragma tuner parameter   variant = by_thread by_warp predicated
#pragma tuner parameter   threads = 32 64 96 128 192 256 384 512 768 1024
#pragma tuner parameter   unroll  = 1 2 4 8 16          // steps between two tests for the end
#pragma tuner parameter   items   = 1 2 4 8             // elements a thread, one after the other
#pragma tuner in          x[n]
#pragma tuner out         y[n]
#pragma tuner grid        max(1, ceil_div(64 * ceil_div(n, 64), threads * items))   // whole pairs of warps
#pragma tuner block       threads
#pragma tuner arguments   x, y, n, work
#pragma tuner instantiate warpDivergence<T, Variant::variant, threads, unroll, items>
#pragma tuner reference   warpDivergenceReference<T>
#pragma tuner grid        max(1, min(ceil_div(n, 256), 1024))
#pragma tuner block       256
#pragma tuner verify      n=0 work=3
#pragma tuner verify      n=1 work=0 offset=1
#pragma tuner verify      n=63 work=5 offset=3
#pragma tuner verify      n=4129 work=13
#pragma tuner bytes       2 * n * sizeof(T)
#pragma tuner flops       2 * n * work
#pragma tuner tolerance   relative 1e-5 absolute 1e-6
#pragma tuner default     variant=by_warp threads=256 unroll=8 items=1

enum class Variant { by_thread, by_warp, predicated };

using uint64 = unsigned long long;

// Two recurrences of equal cost, both drawn to a fixed point, so that any `work` gives a moderate number.
struct Even { template <typename T> static __device__ T step(T v) { return v * T(0.75) + T(0.5); } };
struct Odd  { template <typename T> static __device__ T step(T v) { return v * T(-0.625) + T(1.25); } };

template <typename Path, unsigned unroll, typename T>
__device__ T walk(T v, int work) {
#pragma unroll unroll
  for (int i = 0; i < work; ++i) v = Path::step(v);
  return v;
}

template <typename T, Variant variant, unsigned threads, unsigned unroll, unsigned items>
__global__ void __launch_bounds__(threads) warpDivergence(const T* x, T* y, uint64 n, int work) {
  static_assert(threads % 32 == 0, "whole warps");
  for (unsigned item = 0; item < items; ++item) {
    const uint64 thread = (static_cast<uint64>(blockIdx.x) * items + item) * threads + threadIdx.x;
    uint64 element = thread;
    if constexpr (variant == Variant::by_warp) {
      // Warp 2p takes elements 64p, 64p + 2, ... and warp 2p + 1 elements 64p + 1, 64p + 3, ....
      const uint64 lane = thread % 32, of_pair = thread / 32 % 2;
      element = thread / 64 * 64 + 2 * lane + of_pair;
    }
    if (element >= n) continue;
    const bool even = element % 2 == 0;
    if constexpr (variant == Variant::predicated) {
      const T a = walk<Even, unroll>(x[element], work);
      const T b = walk<Odd, unroll>(x[element], work);
      y[element] = even ? a : b;
    } else if (even) {
      y[element] = walk<Even, unroll>(x[element], work);
    } else {
      y[element] = walk<Odd, unroll>(x[element], work);
    }
  }
}

template <typename T>
__global__ void warpDivergenceReference(const T* x, T* y, uint64 n, int work) {
  const uint64 threads = static_cast<uint64>(gridDim.x) * blockDim.x;
  for (uint64 i = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    T v = x[i];
    for (int k = 0; k < work; ++k) v = i % 2 == 0 ? Even::step(v) : Odd::step(v);
    y[i] = v;
  }
}
