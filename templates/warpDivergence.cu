// The cost of threads of one warp that do different things. The choice `cause` names the difference. With `condition`,
// even elements go through one recurrence and odd ones through another. With `trip_count`, all go through one, element i
// for (i % 32 + 1) / 32 of the steps. The variants differ only in how elements are dealt to threads. All of them compute
// the same y, and one reference judges them:
// - by_thread:      thread i takes element i. The lanes of each warp part ways, and the warp goes all of them.
// - by_warp:        warps share 64 (1024) elements so that each has elements of one kind. No warp is split; each access
//                   touches more cache lines, a part of each, and the other warps use the other parts.
// - predicated:     thread i takes element i, computes everything and selects. No branch, more arithmetic.
// - two_conditions: as by_thread, with two branches, each with its condition, instead of one with an else.
//
// The book counts branches in code that is not optimised, where every `if` is a branch. The choice
// `optimised=no` compiles so (`--device-debug`): for its branch efficiencies, not for times.
//
// Blocks of 40 and 80 threads, and of 40 x 2, end in part of a warp whose other lanes idle: a block of 80 holds 96 lanes.
//
// The book compares `threadIdx.x % 2` with `(threadIdx.x / warpSize) % 2`, which write different numbers to different
// places and so cannot be checked against each other. Its branches are so short that the compiler replaces them by
// predicated instructions. Here `work`, a size known at run time only, keeps the loops, and the branch, in the code.
// Lanes that parted meet again after the branch; no warp-wide operation follows, so no __syncwarp() is needed.
//
// Sources: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 3, "Warp Divergence";
// CUDA C++ Programming Guide, "SIMT Architecture"; CUDA C++ Best Practices Guide, "Branching and Divergence".

#pragma tuner kernel      warpDivergence
#pragma tuner type        T = float double
#pragma tuner choice      cause = condition trip_count
#pragma tuner choice      optimised = yes no
#pragma tuner size        n    : uint64 = 4194304
#pragma tuner size        work : int    = 64            // steps of the recurrences
#pragma tuner parameter   variant = by_thread by_warp predicated two_conditions
#pragma tuner parameter   threads = 32 40 64 80 96 128 192 256 384 512 768 1024
#pragma tuner parameter   block_y = 1 2                 // of these threads
#pragma tuner parameter   unroll  = 1 2 4 8 16          // steps between two tests for the end
#pragma tuner parameter   items   = 1 2 4 8             // elements a thread, one after the other
#pragma tuner constraint  whole_warps_are_dealt:   variant != by_warp or threads % 32 == 0
#pragma tuner constraint  two_rows_of_forty:       block_y == 1 or threads == 80
#pragma tuner constraint  conditions_are_two:      variant != two_conditions or cause == condition
#pragma tuner compile     --device-debug when optimised == no
#pragma tuner in          x[n]
#pragma tuner out         y[n]
#pragma tuner grid        max(1, ceil_div(1024 * ceil_div(n, 1024), threads * items))   // whole groups of warps
#pragma tuner block       threads / block_y, block_y
#pragma tuner arguments   x, y, n, work
#pragma tuner instantiate warpDivergence<T, Cause::cause, Variant::variant, threads, unroll, items>
#pragma tuner reference   warpDivergenceReference<T, Cause::cause>
#pragma tuner grid        max(1, min(ceil_div(n, 256), 1024))
#pragma tuner block       256
#pragma tuner verify      n=0 work=3
#pragma tuner verify      n=1 work=0 offset=1
#pragma tuner verify      n=63 work=5 offset=3
#pragma tuner verify      n=4129 work=13
#pragma tuner bytes       2 * n * sizeof(T)
#pragma tuner in_flight   sizeof(T)
#pragma tuner flops       cause == condition ? 2 * n * work : n * work * 33 / 32
#pragma tuner tolerance   relative 1e-5 absolute 1e-6
#pragma tuner default     variant=by_warp threads=256 block_y=1 unroll=8 items=1

enum class Cause { condition, trip_count };
enum class Variant { by_thread, by_warp, predicated, two_conditions };

using uint64 = unsigned long long;
constexpr unsigned warp = 32;

// Two recurrences of equal cost, both drawn to a fixed point, so that any `work` gives a moderate number.
struct Even { template <typename T> static __device__ T step(T v) { return v * T(0.75) + T(0.5); } };
struct Odd  { template <typename T> static __device__ T step(T v) { return v * T(-0.625) + T(1.25); } };

template <typename Path, unsigned unroll, typename T>
__device__ T walk(T v, int work) {
#pragma unroll unroll
  for (int i = 0; i < work; ++i) v = Path::step(v);
  return v;
}

// How many of `work` steps element i goes, with Cause::trip_count.
__device__ inline int steps_of(uint64 element, int work) {
  return static_cast<int>(static_cast<long long>(work) * static_cast<int>(element % warp + 1) / static_cast<int>(warp));
}

// Elements of one kind for each warp: of kinds * 32 elements, warp k takes k, k + kinds, k + 2 * kinds, ....
template <unsigned kinds>
__device__ uint64 dealt_by_warp(uint64 thread) {
  constexpr unsigned group = kinds * warp;
  return thread / group * group + thread % warp * kinds + thread / warp % kinds;
}

template <Variant variant, unsigned unroll, typename T>
__device__ T by_condition(T v, uint64 element, int work) {
  const bool even = element % 2 == 0;
  if constexpr (variant == Variant::predicated) {
    const T a = walk<Even, unroll>(v, work);
    const T b = walk<Odd, unroll>(v, work);
    return even ? a : b;
  } else if constexpr (variant == Variant::two_conditions) {
    const volatile bool odd = !even;  // read again, so that the compiler cannot make an else of it
    T result = T(0);
    if (even) result = walk<Even, unroll>(v, work);
    if (odd) result = walk<Odd, unroll>(v, work);
    return result;
  } else {
    if (even) return walk<Even, unroll>(v, work);
    return walk<Odd, unroll>(v, work);
  }
}

template <Variant variant, unsigned unroll, typename T>
__device__ T by_trip_count(T v, uint64 element, int work) {
  const int steps = steps_of(element, work);
  if constexpr (variant != Variant::predicated) return walk<Even, unroll>(v, steps);
#pragma unroll unroll
  for (int i = 0; i < work; ++i) v = i < steps ? Even::step(v) : v;
  return v;
}

template <typename T, Cause cause, Variant variant, unsigned threads, unsigned unroll, unsigned items>
__global__ void __launch_bounds__(threads) warpDivergence(const T* x, T* y, uint64 n, int work) {
  static_assert(variant != Variant::by_warp || threads % warp == 0, "whole warps");
  const unsigned of_block = threadIdx.y * blockDim.x + threadIdx.x;
  for (unsigned item = 0; item < items; ++item) {
    uint64 element = (static_cast<uint64>(blockIdx.x) * items + item) * threads + of_block;
    if constexpr (variant == Variant::by_warp) element = dealt_by_warp<cause == Cause::condition ? 2 : warp>(element);
    if (element >= n) continue;
    if constexpr (cause == Cause::condition) y[element] = by_condition<variant, unroll>(x[element], element, work);
    else y[element] = by_trip_count<variant, unroll>(x[element], element, work);
  }
}

template <typename T, Cause cause>
__global__ void warpDivergenceReference(const T* x, T* y, uint64 n, int work) {
  const uint64 threads = static_cast<uint64>(gridDim.x) * blockDim.x;
  for (uint64 i = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
    T v = x[i];
    const int steps = cause == Cause::condition ? work : steps_of(i, work);
    for (int k = 0; k < steps; ++k) v = cause == Cause::condition && i % 2 != 0 ? Odd::step(v) : Even::step(v);
    y[i] = v;
  }
}
