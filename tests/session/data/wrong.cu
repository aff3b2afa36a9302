// A kernel with common mistakes: `mistake` selects one. There is no `verify` line to help. The expected messages are in
// tests/session/tuning/wrong_kernels_test.cpp.
#pragma tuner kernel      wrong
#pragma tuner size        n : int = 1000
#pragma tuner parameter   mistake = none next_neighbour earlier_neighbour shared_again warp_tail sum_of_blocks \
                                    histogram block_before just_behind just_before copies_behind far_behind       \
                                    very_far_behind far_before overflow last_element small_grid adds_up           \
                                    unset_shared first_runs keeps_results earlier_results later_results one_input \
                                    changes_input infinite
#pragma tuner in          a[n] : int, x[n] : float
#pragma tuner fill        a = uniform 1 17
#pragma tuner out         c[n] : int, y[n] : float
#pragma tuner inout       counts[17] : int, sum[1] : int
#pragma tuner arguments   a, x, c, y, counts, sum, n
#pragma tuner grid        mistake == small_grid ? n / 64 : ceil_div(n, 64)
#pragma tuner block       64
#pragma tuner instantiate wrong<Mistake::mistake>
#pragma tuner reference   wrong<Mistake::none>
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
#pragma tuner default     mistake=none

enum class Mistake {
  none,
  next_neighbour,     // no barrier before it reads the next thread's value
  earlier_neighbour,  // no barrier before it reads the previous thread's value
  shared_again,       // no barrier before shared memory is written again
  warp_tail,          // no __syncwarp() where only the last warp continues
  sum_of_blocks,      // blocks add to one sum without an atomic
  histogram,          // threads count without atomics
  block_before,       // reads an element that another block writes
  just_behind,        // writes the element after the last
  just_before,        // writes the element before the first
  copies_behind,      // no test for the end: copies from after the input to after the output
  far_behind,         // writes 1 MB after the end
  very_far_behind,    // writes 4 GB after the end
  far_before,         // writes 1 MB before the beginning
  overflow,           // writes to the place of an overflowed index
  last_element,       // leaves out the last element
  small_grid,         // one block too few
  adds_up,            // adds to an output that was never set
  unset_shared,       // adds to shared memory that was never set
  first_runs,         // writes only in its first runs
  keeps_results,      // writes only where its output is not a number
  earlier_results,    // gives the results of its first run
  later_results,      // gives the results of a slightly later run
  one_input,          // is right only for its first input
  changes_input,      // writes to its input
  infinite            // divides by zero once
};

constexpr int block = 64;

__device__ int runs, known[1 << 20], first_input;

template <Mistake mistake>
__device__ int next_neighbour(int own) {
  __shared__ int s[block];
  const int t = int(threadIdx.x);
  s[t] = 0;
  __syncthreads();
  s[t] = own;
  if (mistake != Mistake::next_neighbour) __syncthreads();
  return s[t < block - 1 ? t + 1 : t];
}

template <Mistake mistake>
__device__ int earlier_neighbour(int own) {
  __shared__ int s[block];
  const int t = int(threadIdx.x);
  s[t] = 0;
  __syncthreads();
  s[t] = own;
  if (mistake != Mistake::earlier_neighbour) __syncthreads();
  return s[t > 0 ? t - 1 : t];
}

template <Mistake mistake>
__device__ int rounds(int own) {
  __shared__ int s[block];
  const int t = int(threadIdx.x);
  int sum = 0;
  for (int round = 1; round <= 4; ++round) {
    s[t] = own * round;
    __syncthreads();
    sum += s[(t + 1) % block];
    if (mistake != Mistake::shared_again) __syncthreads();
  }
  return sum;
}

template <Mistake mistake>
__device__ int sum_of_block(int own) {
  __shared__ int s[block];
  volatile int* v = s;
  const int t = int(threadIdx.x);
  v[t] = own;
  __syncthreads();
  if (t < 32) {
    v[t] = v[t] + v[t + 32];
    for (int step = 16; step > 0; step /= 2) {
      if (mistake != Mistake::warp_tail) __syncwarp();
      const int other = v[t + step];
      if (mistake != Mistake::warp_tail) __syncwarp();
      v[t] = v[t] + other;
    }
  }
  __syncthreads();
  return v[0];
}

template <Mistake mistake>
__device__ int through_shared(int own) {
  __shared__ int s[block];
  const int t = int(threadIdx.x);
  if (mistake != Mistake::unset_shared) s[t] = 0;
  s[t] += own;
  return s[t];
}

template <Mistake mistake>
__global__ void wrong(const int* a, const float* x, int* c, float* y, int* counts, int* sum, int n) {
  const int t = int(threadIdx.x), i = int(blockIdx.x) * block + t;
  if (mistake == Mistake::first_runs && runs > 3) return;
  if (mistake == Mistake::keeps_results && i < n && y[i] == y[i]) return;
  const int own = i < n ? a[i] : 0;
  int value = next_neighbour<mistake>(own) + 3 * earlier_neighbour<mistake>(own) + rounds<mistake>(own) +
              5 * through_shared<mistake>(own);

  const int total = sum_of_block<mistake>(own);
  if (t == 0) {
    if (mistake == Mistake::sum_of_blocks) *sum += total; else atomicAdd(sum, total);
  }
  if (i < n) {
    if (mistake == Mistake::histogram) counts[own]++; else atomicAdd(&counts[own], 1);
  }

  if (mistake == Mistake::block_before) {
    if (i < n) c[i] = own;
    if (i < n && i >= block) value += c[i - block];
  } else if (i < n && i >= block) {
    value += a[i - block];
  }
  if (mistake == Mistake::one_input) {
    const int input = a[0] + 17 * a[n / 2] + 289 * a[n - 1];
    if (first_input != 0 && first_input != input) value = 0;
    if (i == n - 1 && first_input == 0) first_input = input;
  }
  if (mistake == Mistake::earlier_results && i < n) {
    if (known[i] != 0) value = known[i];
    known[i] = value;
  }
  if (mistake == Mistake::later_results && i < n) {
    if (runs > 3) value = known[i];
    known[i] = value;
  }

  if (mistake == Mistake::copies_behind && i >= n) c[i] = a[i];
  if (i < n && !(mistake == Mistake::last_element && i == n - 1)) {
    if (mistake == Mistake::adds_up) c[i] += value; else c[i] = value;
    y[i] = x[i] / (mistake == Mistake::infinite && i == n / 2 ? 0.0f : 2.0f);
  }

  if (mistake == Mistake::changes_input && i < n) const_cast<float*>(x)[i] = y[i];
  if (i != 0) return;
  if (mistake == Mistake::first_runs || mistake == Mistake::later_results) ++runs;
  if (mistake == Mistake::just_behind) c[n] = 0;
  if (mistake == Mistake::just_before) c[-1] = 0;
  if (mistake == Mistake::far_behind) c[n + (1 << 18)] = 0;
  if (mistake == Mistake::very_far_behind) c[n + (1 << 30)] = 0;
  if (mistake == Mistake::far_before) c[-(1 << 18)] = 0;
  if (mistake == Mistake::overflow) c[int(2147483648u)] = 0;
}
