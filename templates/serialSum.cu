// The sum that a CPU makes, which the textbooks time beside every kernel of the ladder: by one thread, or by one thread
// on each core. It is meant for the host backend (`--device host`). On a GPU it shows the speed of one thread of the
// GPU.
//
// Source: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 3, section "Avoiding
// Branch Divergence" (recursion, there for powers of two) and its exercises 1 and 5 (odd sizes, floats). Written anew:
// the element without a partner is added to the first one before the halves meet, so that any n is right. Results of
// integers wrap.

#pragma tuner kernel      serialSum
#pragma tuner type        T = int float double
#pragma tuner type        W of T = int:int64 float:double
#pragma tuner size        n : uint64 = 16777216
#pragma tuner parameter   step  = loop recursive all_cores
#pragma tuner parameter   lanes = 1 4 16 64                   // sums kept side by side: what vector units need
#pragma tuner parents     step = recursive:loop all_cores:loop
#pragma tuner let         cores = step == all_cores ? sm_count : 1
#pragma tuner constraint  recursion_has_no_lanes: step != recursive or lanes == 1
#pragma tuner consumed    x[n]
#pragma tuner out         y[1]
#pragma tuner scratch     sums[cores]
#pragma tuner scratch     wide[8192] : W                      // of the reference

#pragma tuner launch      serial
#pragma tuner grid        cores
#pragma tuner block       1
#pragma tuner arguments   x, n, sums
#pragma tuner instantiate serialSum<T, Step::step, lanes>

#pragma tuner launch      add_cores
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   sums, y
#pragma tuner instantiate addCores<T, cores>

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
#pragma tuner default     step=loop lanes=16

#include "sum_reference.cuh"

enum class Step {
  loop,       // in order
  all_cores,  // in order, each core its part of the elements
  recursive,  // the upper half is added to the lower one, in place, until one element is left
};

template <typename T>
__device__ T sum_recursively(T* x, uint64 n) {
  if (n == 1) return x[0];
  const uint64 half = n / 2;
  if (n % 2 != 0) x[0] = plus(x[0], x[n - 1]);
  for (uint64 i = 0; i < half; ++i) x[i] = plus(x[i], x[i + half]);
  return sum_recursively(x, half);
}

// x[i] + ... + x[end - 1], as `lanes` sums.
template <unsigned lanes, typename T>
__device__ T sum_in_lanes(const T* x, uint64 i, uint64 end) {
  T sums[lanes] = {};
  for (; i + lanes <= end; i += lanes) {
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) sums[lane] = plus(sums[lane], x[i + lane]);
  }
  T sum = T(0);
  for (unsigned lane = 0; lane < lanes; ++lane) sum = plus(sum, sums[lane]);
  for (; i < end; ++i) sum = plus(sum, x[i]);
  return sum;
}

template <typename T, Step step, unsigned lanes>
__global__ void serialSum(T* x, uint64 n, T* of_core) {
  const uint64 begin = n / gridDim.x * blockIdx.x + (blockIdx.x < n % gridDim.x ? blockIdx.x : n % gridDim.x);
  const uint64 end = begin + n / gridDim.x + (blockIdx.x < n % gridDim.x ? 1 : 0);
  if constexpr (step == Step::recursive) of_core[blockIdx.x] = n == 0 ? T(0) : sum_recursively(x, n);
  else of_core[blockIdx.x] = sum_in_lanes<lanes>(x, begin, end);
}

template <typename T, unsigned cores>
__global__ void addCores(const T* of_core, T* y) {
  T sum = T(0);
  for (unsigned i = 0; i < cores; ++i) sum = plus(sum, of_core[i]);
  *y = sum;
}
