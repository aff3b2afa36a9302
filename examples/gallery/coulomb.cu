// The electrostatic potential at each of n points, of m point charges: v[i] = sum over j of q[j] / sqrt(|p[i] - c[j]|^2 + s2).
//
// Arithmetic limits it, because each charge is loaded once for all points of a thread. More points in a thread hide
// more latency in one warp. They also take more registers, so fewer warps fit a multiprocessor. The compiler decides how
// many registers a thread gets. Three parameters change its decision, and one changes the arithmetic:
// - registers   `--maxrregcount`, the most registers of a thread, even if that spills. 0 leaves out the option. The
//               compiler ignores it for kernels with __launch_bounds__, so a configuration has this or min_blocks.
// - min_blocks  the second argument of __launch_bounds__. The compiler uses so few registers that this many blocks are
//               resident on a multiprocessor. 0 uses a kernel without bounds.
// - points      the points of a thread, which need the registers.
// - fast        `-use_fast_math`: division and square root are approximate, and subnormal numbers become zero. Without
//               it both are rounded correctly, in a dozen instructions each. It changes nothing for double.
//
// All terms are positive, so the errors of fast arithmetic do not grow. They are smaller than the rounding of the sum.
//
// Sources: CUDA C++ Programming Guide, "Maximum Number of Registers per Thread" and "Launch Bounds". CUDA C++ Best
// Practices Guide, "Register Pressure". The sum is from J. Stone and others, "Accelerating Molecular Modeling
// Applications with Graphics Processors", Journal of Computational Chemistry 28 (2007).

#pragma tuner kernel      coulomb
#pragma tuner type        T = float double
#pragma tuner size        n : int = 1048576
#pragma tuner size        m : int = 4096
#pragma tuner parameter   threads    = 64 128 256 512
#pragma tuner parameter   points     = 1 2 4 8 16
#pragma tuner parameter   unroll     = 1 4 8
#pragma tuner parameter   registers  = 0 24 32 40 48 64 96 128
#pragma tuner parameter   min_blocks = 0 1 2 3 4 6 8
#pragma tuner parameter   fast       = false true
#pragma tuner compile     --maxrregcount={registers} when registers > 0
#pragma tuner compile     -use_fast_math when fast
#pragma tuner constraint  one_limit:     registers == 0 or min_blocks == 0
#pragma tuner constraint  blocks_fit:    threads * min_blocks <= max_threads_per_sm or is_host
#pragma tuner constraint  fast_is_float: not fast or T == float
#pragma tuner scalar      s2 : T = 0.0001
#pragma tuner in          x[n], y[n], z[n]
#pragma tuner in          cx[m], cy[m], cz[m], q[m]
#pragma tuner out         v[n]
#pragma tuner grid        max(1, ceil_div(n, threads * points))
#pragma tuner block       threads
#pragma tuner arguments   x, y, z, cx, cy, cz, q, v, s2, n, m
#pragma tuner instantiate coulomb<T, threads, points, unroll>
#pragma tuner when        min_blocks == 0
#pragma tuner launch      bounded
#pragma tuner grid        max(1, ceil_div(n, threads * points))
#pragma tuner block       threads
#pragma tuner arguments   x, y, z, cx, cy, cz, q, v, s2, n, m
#pragma tuner instantiate coulombBounded<T, threads, points, unroll, min_blocks>
#pragma tuner when        min_blocks > 0
#pragma tuner reference   coulombReference<T>
#pragma tuner verify      n=0 m=5
#pragma tuner verify      n=1 m=0 offset=1
#pragma tuner verify      n=1031 m=37 offset=3
#pragma tuner accumulates m
#pragma tuner bytes       4 * (n + m) * sizeof(T)
#pragma tuner flops       12 * n * m
#pragma tuner default     threads=256 points=4 unroll=4 registers=0 min_blocks=0 fast=false

template <typename T, unsigned threads, unsigned points, unsigned unroll>
__device__ void potentials(const T* x, const T* y, const T* z, const T* cx, const T* cy, const T* cz, const T* q, T* v,
                           T s2, int n, int m) {
  const unsigned first = blockIdx.x * threads * points + threadIdx.x, end = static_cast<unsigned>(n);
  T px[points], py[points], pz[points], sum[points];
#pragma unroll
  for (int k = 0; k < static_cast<int>(points); ++k) {
    const unsigned i = min(first + k * threads, end - 1);  // repeats the last point, which is stored only once
    px[k] = n > 0 ? x[i] : T(0);
    py[k] = n > 0 ? y[i] : T(0);
    pz[k] = n > 0 ? z[i] : T(0);
    sum[k] = T(0);
  }
#pragma unroll unroll
  for (int j = 0; j < m; ++j) {
#pragma unroll
    for (int k = 0; k < static_cast<int>(points); ++k) {
      const T dx = px[k] - cx[j], dy = py[k] - cy[j], dz = pz[k] - cz[j];
      sum[k] += q[j] / sqrt(dx * dx + dy * dy + dz * dz + s2);
    }
  }
#pragma unroll
  for (int k = 0; k < static_cast<int>(points); ++k) {
    const unsigned i = first + k * threads;
    if (i < end) v[i] = sum[k];
  }
}

template <typename T, unsigned threads, unsigned points, unsigned unroll>
__global__ void coulomb(const T* x, const T* y, const T* z, const T* cx, const T* cy, const T* cz, const T* q, T* v,
                        T s2, int n, int m) {
  potentials<T, threads, points, unroll>(x, y, z, cx, cy, cz, q, v, s2, n, m);
}

template <typename T, unsigned threads, unsigned points, unsigned unroll, unsigned min_blocks>
__global__ void __launch_bounds__(threads, min_blocks)
    coulombBounded(const T* x, const T* y, const T* z, const T* cx, const T* cy, const T* cz, const T* q, T* v, T s2,
                   int n, int m) {
  potentials<T, threads, points, unroll>(x, y, z, cx, cy, cz, q, v, s2, n, m);
}

template <typename T>
__global__ void coulombReference(const T* x, const T* y, const T* z, const T* cx, const T* cy, const T* cz, const T* q,
                                 T* v, T s2, int n, int m) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= static_cast<unsigned>(n)) return;
  T sum = T(0);
  for (int j = 0; j < m; ++j) {
    const T dx = x[i] - cx[j], dy = y[i] - cy[j], dz = z[i] - cz[j];
    sum += q[j] / sqrt(dx * dx + dy * dy + dz * dz + s2);
  }
  v[i] = sum;
}
