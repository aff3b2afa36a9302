// Kernels with deliberate races. They compute the sum and the largest element of each row. They are right only for
// mistake=none. Every other value of `mistake` leaves out a barrier and breaks a rule of CUDA. One of them still gives
// right results on many GPUs:
//
//   no_barrier           The first warp, which has the least work, reads before slower warps have written.
//   no_syncwarp          branches: in one branch, the lower half of the lanes writes its largest elements for the upper
//                        half. In another branch, the upper half writes its sums for the lower half. The branch that
//                        runs first reads before the other has written, so one of the two results is wrong.
//                        tree: the compiler need not write values that only other lanes read. NVRTC 13.0 keeps sums
//                        in registers to the end, so lanes read memory that was never written.
//   one_syncwarp         The textbook's loop without its condition on lanes and with one barrier. In the same step one
//                        lane reads what another writes, and adds it twice or not at all.
//   no_syncwarp_volatile The warp-synchronous tail of the textbooks. `volatile` makes each access a memory access, but
//                        no lane waits for another. The result is right if lanes run in step. Before Volta this was
//                        guaranteed, and today it often happens. A tuning on such a GPU may name it best.
//
// On the host backend, a lane runs until it must wait for others. A configuration that may be named best also runs with
// threads that switch at memory accesses. There all mistakes are `wrong`, except that one_syncwarp may pass where it
// cannot become the best. On a GPU, compute-sanitizer finds such races in shared memory even if the results were right
// (docs/measuring.md, "Races").
//
// Sources: Y. Lin and V. Grover, "Using CUDA Warp-Level Primitives" (2018). CUDA C++ Programming Guide,
// "Synchronization Functions" and "Independent Thread Scheduling". Fan Zheyong, "CUDA Programming: Basics and Practice"
// (2020), chapter 10, whose kernels explain each barrier. J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C
// Programming" (2014), chapter 3, for the volatile tail.

#pragma tuner kernel      races
#pragma tuner size        rows : int = 8192
#pragma tuner parameter   tail    = tree branches
#pragma tuner parameter   mistake = none no_barrier no_syncwarp one_syncwarp no_syncwarp_volatile
#pragma tuner parameter   threads = 64 128 256 512
#pragma tuner constraint  branches_are_no_tail_of_old: tail == tree or not (mistake in {no_syncwarp_volatile, one_syncwarp})
#pragma tuner in          x[rows * 4096] : int
#pragma tuner fill        x = uniform 1 1000000               // a missing element, or a zero, shows in the sum
#pragma tuner out         sum[rows] : int
#pragma tuner out         largest[rows] : int
#pragma tuner launch      races
#pragma tuner grid        max(1, rows)
#pragma tuner block       threads
#pragma tuner arguments   x, rows, sum, largest
#pragma tuner instantiate races<Tail::tail, Mistake::mistake, threads>
#pragma tuner reference   racesReference
#pragma tuner grid        max(1, ceil_div(rows, 64))
#pragma tuner block       64
#pragma tuner arguments   x, rows, sum, largest
#pragma tuner verify      rows=0
#pragma tuner verify      rows=1 offset=1
#pragma tuner verify      rows=33 offset=3
#pragma tuner bytes       rows * (4096 + 2) * 4
#pragma tuner default     tail=tree mistake=none threads=256

enum class Tail {
  tree,      // each lane adds the value of the lane 16, 8, ... places later, through shared memory
  branches,  // the lower half of the lanes finds the sum, the upper half the largest element
};
enum class Mistake { none, no_barrier, no_syncwarp, one_syncwarp, no_syncwarp_volatile };

constexpr int columns = 4096;
constexpr unsigned warp = 32;

// Sums wrap: signed overflow is undefined, unsigned arithmetic has the same bits.
__host__ __device__ inline int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__host__ __device__ inline int larger(int a, int b) { return a > b ? a : b; }

// Volatile or plain memory.
template <bool is_volatile>
struct Word {
  using type = int;
};
template <>
struct Word<true> {
  using type = volatile int;
};

template <Mistake mistake>
__device__ void meet_warp() {
  if constexpr (mistake != Mistake::no_syncwarp && mistake != Mistake::no_syncwarp_volatile) __syncwarp();
}

// Both results of the 32 lanes, in lane 0.
template <Mistake mistake>
__device__ void finish_tree(int& sum, int& largest) {
  using Int = typename Word<mistake == Mistake::no_syncwarp_volatile>::type;
  __shared__ int memory[2][2 * warp];  // neutral elements follow those of the lanes
  const unsigned lane = threadIdx.x;
  memory[0][lane + warp] = memory[1][lane + warp] = 0;
  Int* const sums = memory[0];
  Int* const largests = memory[1];
  sums[lane] = sum;
  largests[lane] = largest;
  meet_warp<mistake>();
#pragma unroll
  for (unsigned offset = warp / 2; offset > 0; offset /= 2) {
    const int other_sum = sums[lane + offset], other_largest = largests[lane + offset];
    if constexpr (mistake != Mistake::one_syncwarp) meet_warp<mistake>();  // all have read
    sums[lane] = plus(sums[lane], other_sum);
    largests[lane] = larger(largests[lane], other_largest);
    meet_warp<mistake>();  // all have written
  }
  sum = sums[lane];
  largest = largests[lane];
}

// The sum in lane 0, the largest element in lane 16.
template <Mistake mistake>
__device__ void finish_branches(int& sum, int& largest) {
  constexpr unsigned half = warp / 2, lower_lanes = 0x0000ffffu, upper_lanes = 0xffff0000u;
  __shared__ int sums[half], largests[half];
  const unsigned lane = threadIdx.x;
  if (lane < half) sums[lane] = largests[lane] = 0;  // so that reading too early shows
  __syncwarp();
  if constexpr (mistake != Mistake::no_syncwarp) {
    if (lane < half)
      largests[lane] = largest;
    else
      sums[lane - half] = sum;
    __syncwarp();
  }
  if (lane < half) {
    if (mistake == Mistake::no_syncwarp) largests[lane] = largest;
    sum = plus(sum, sums[lane]);
    for (unsigned offset = half / 2; offset > 0; offset /= 2)
      sum = plus(sum, __shfl_down_sync(lower_lanes, sum, offset, half));
  } else {
    if (mistake == Mistake::no_syncwarp) sums[lane - half] = sum;
    largest = larger(largest, largests[lane - half]);
    for (unsigned offset = half / 2; offset > 0; offset /= 2)
      largest = larger(largest, __shfl_down_sync(upper_lanes, largest, offset, half));
  }
}

// One block for each row.
template <Tail tail, Mistake mistake, unsigned threads>
__global__ void __launch_bounds__(threads) races(const int* x, int rows, int* sums, int* largests) {
  static_assert(threads % warp == 0 && threads >= 2 * warp, "at least two warps");
  if (static_cast<int>(blockIdx.x) >= rows) return;
  const int* const row = x + static_cast<long long>(blockIdx.x) * columns;
  __shared__ int memory[2][threads];
  memory[0][threadIdx.x] = memory[1][threadIdx.x] = 0;  // so that reading too early shows
  __syncthreads();

  // The first warp takes the first 32 elements, the others all the rest.
  int sum = row[threadIdx.x], largest = row[threadIdx.x];
  if (threadIdx.x >= warp) {
    for (unsigned i = threadIdx.x + threads - warp; i < columns; i += threads - warp) {
      sum = plus(sum, row[i]);
      largest = larger(largest, row[i]);
    }
  }
  memory[0][threadIdx.x] = sum;
  memory[1][threadIdx.x] = largest;
  if constexpr (mistake != Mistake::no_barrier) __syncthreads();
  if (threadIdx.x >= warp) return;
#pragma unroll
  for (unsigned i = threadIdx.x + warp; i < threads; i += warp) {
    sum = plus(sum, memory[0][i]);
    largest = larger(largest, memory[1][i]);
  }

  if constexpr (tail == Tail::tree)
    finish_tree<mistake>(sum, largest);
  else
    finish_branches<mistake>(sum, largest);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  if (threadIdx.x == (tail == Tail::tree ? 0 : warp / 2)) largests[blockIdx.x] = largest;
}

// One thread for each row.
__global__ void racesReference(const int* x, int rows, int* sums, int* largests) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  int sum = 0, largest = 0;
  for (int i = 0; i < columns; ++i) {
    sum = plus(sum, x[static_cast<long long>(row) * columns + i]);
    largest = larger(largest, x[static_cast<long long>(row) * columns + i]);
  }
  sums[row] = sum;
  largests[row] = largest;
}
