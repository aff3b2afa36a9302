// The acceleration of each of n bodies by the gravity of all. The gravitational constant is 1. The factor 1/n keeps the
// total mass, and so the size of the results, when n grows.
//   a[i] = 1/n * sum over j of m[j] * (p[j] - p[i]) / (|p[j] - p[i]|^2 + softening^2)^(3/2)
//
// All threads of a warp use the same body j at the same time. There are n * n pairs with 20 operations each, so
// arithmetic limits the time. Other instructions should therefore be few.
//
// Source: L. Nyland, M. Harris, J. Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3 (2007), chapter 31.
//
// The caller chooses the layout of bodies and accelerations in memory. `aos` has x y z mass of body 0, then of body 1,
// and x y z of acceleration 0. `soa` has all x, then all y and so on. Bodies begin at a multiple of 16 bytes, as
// allocations do. softening > 0, so no pair divides by zero, not even a body with itself.
//
// Parameters:
// - threads   the threads of a block that own bodies.
// - bodies    the bodies of each of these threads. A body j that is read serves so many pairs.
// - split     the groups of threads that share the bodies j. Their sums are added at the end. More groups give more
//             threads for a small n.
// - source    where bodies j are read: in global memory, in the read-only cache, or in tiles in shared memory, as
//             structures or as arrays.
// - tile      the bodies j of a tile for each thread of the block.
// - unroll    the pairs of each body between two tests for the end.
// - inverse   the formula for r^-3: rsqrt(r^2)^3, rsqrt(r^6) or 1 / (r^2 * sqrt(r^2)).

#pragma tuner kernel      nbody
#pragma tuner type        T = float double
#pragma tuner choice      layout = aos soa
#pragma tuner size        n : int = 65536
#pragma tuner parameter   threads = 32 64 128 256 512
#pragma tuner parameter   bodies  = 1 2 4 8
#pragma tuner parameter   split   = 1 2 4 8
#pragma tuner parameter   source  = global read_only shared_aos shared_soa
#pragma tuner parameter   tile    = 1 2 4
#pragma tuner parameter   unroll  = 1 4 8 16
#pragma tuner parameter   inverse = rsqrt_cubed rsqrt_of_cube divide
#pragma tuner let         tile_bodies = threads * split * tile
#pragma tuner constraint  block:         64 <= threads * split and threads * split <= max_threads_per_block
#pragma tuner constraint  tile_has_use:  tile == 1 or source in {shared_aos, shared_soa}
#pragma tuner constraint  tile_in_n:     tile == 1 or tile_bodies <= n
#pragma tuner constraint  unroll_in_n:   unroll == 1 or unroll * split <= n
#pragma tuner constraint  enough_blocks: bodies == 1 or ceil_div(n, threads * bodies) * 2 >= sm_count or is_host
#pragma tuner scalar      softening : T = 0.125
#pragma tuner in          body[4 * n]
#pragma tuner out         acceleration[3 * n]
#pragma tuner fill        body = uniform 0 1
#pragma tuner grid        max(1, ceil_div(n, threads * bodies))
#pragma tuner block       threads, split
#pragma tuner shared      max(source in {shared_aos, shared_soa} ? 4 * tile_bodies : 0, \
                              split > 1 ? 3 * bodies * threads * (split - 1) : 0) * sizeof(T)
#pragma tuner arguments   body, acceleration, softening, n
#pragma tuner instantiate nbody<T, Layout::layout, threads, bodies, split, Source::source, tile, unroll, \
                                Inverse::inverse>
#pragma tuner reference   nbodyReference<T, Layout::layout>
#pragma tuner grid        max(1, ceil_div(n, 128))
#pragma tuner block       128
#pragma tuner verify      n=1
#pragma tuner verify      n=129
#pragma tuner verify      n=1543
#pragma tuner tolerance   relative 5e-5 absolute 2e-6   // terms of the sums cancel; results are of order 1 for any n
#pragma tuner bytes       7 * n * sizeof(T)
#pragma tuner flops       20 * n * n
#pragma tuner default     threads=128 bodies=2 split=2 source=shared_aos tile=1 unroll=8 inverse=rsqrt_cubed

enum class Layout { aos, soa };
enum class Source { global, read_only, shared_aos, shared_soa };
enum class Inverse { rsqrt_cubed, rsqrt_of_cube, divide };

using Index = long long;

template <typename T>
struct alignas(16) Body {
  T x, y, z, mass;
};
template <typename T>
struct Triple {
  T x, y, z;
};

__device__ inline float inverse_sqrt(float x) { return rsqrtf(x); }
__device__ inline double inverse_sqrt(double x) { return rsqrt(x); }
__device__ inline float square_root(float x) { return sqrtf(x); }
__device__ inline double square_root(double x) { return sqrt(x); }

template <bool read_only, typename T>
__device__ T load(const T* from) {
  if constexpr (read_only) return __ldg(from);
  else return *from;
}

// Body i of n in the caller's layout. As structures it is one load of 16 bytes, or two.
template <Layout layout, bool read_only, typename T>
__device__ Body<T> load_body(const T* body, Index i, Index n) {
  if constexpr (layout == Layout::soa) {
    return {load<read_only>(body + i), load<read_only>(body + n + i), load<read_only>(body + 2 * n + i),
            load<read_only>(body + 3 * n + i)};
  } else if constexpr (sizeof(T) == 4) {
    const float4 all = load<read_only>(reinterpret_cast<const float4*>(body) + i);
    return {all.x, all.y, all.z, all.w};
  } else {
    const double2 first = load<read_only>(reinterpret_cast<const double2*>(body) + 2 * i);
    const double2 second = load<read_only>(reinterpret_cast<const double2*>(body) + 2 * i + 1);
    return {first.x, first.y, second.x, second.y};
  }
}

template <Layout layout, typename T>
__device__ void store_acceleration(T* acceleration, Index i, Index n, Triple<T> value) {
  constexpr bool aos = layout == Layout::aos;
  acceleration[aos ? 3 * i : i] = value.x;
  acceleration[aos ? 3 * i + 1 : n + i] = value.y;
  acceleration[aos ? 3 * i + 2 : 2 * n + i] = value.z;
}

// A tile of `count` bodies in shared memory, as structures or as four arrays.
template <Source source, int count, typename T>
__device__ Body<T> from_tile(const T* tile, int i) {
  if constexpr (source == Source::shared_aos) return reinterpret_cast<const Body<T>*>(tile)[i];
  else return {tile[i], tile[count + i], tile[2 * count + i], tile[3 * count + i]};
}
template <Source source, int count, typename T>
__device__ void to_tile(T* tile, int i, Body<T> body) {
  if constexpr (source == Source::shared_aos) {
    reinterpret_cast<Body<T>*>(tile)[i] = body;
  } else {
    tile[i] = body.x;
    tile[count + i] = body.y;
    tile[2 * count + i] = body.z;
    tile[3 * count + i] = body.mass;
  }
}

template <Inverse inverse, typename T>
__device__ void attract(Triple<T>& sum, const Triple<T>& at, const Body<T>& by, T softening_squared) {
  const T x = by.x - at.x, y = by.y - at.y, z = by.z - at.z;
  const T square = x * x + y * y + z * z + softening_squared;
  T cube;  // r^-3
  if constexpr (inverse == Inverse::rsqrt_cubed) {
    const T root = inverse_sqrt(square);
    cube = root * root * root;
  } else if constexpr (inverse == Inverse::rsqrt_of_cube) {
    cube = inverse_sqrt(square * square * square);
  } else {
    cube = T(1) / (square * square_root(square));
  }
  const T weight = by.mass * cube;
  sum.x += x * weight;
  sum.y += y * weight;
  sum.z += z * weight;
}

// Thread (x, y) of a block owns its bodies x, x + threads, and so on. For these it sums the pull of the bodies j whose
// number is y modulo split. Requires n >= 0.
template <typename T, Layout layout, int threads, int bodies, int split, Source source, int tile, int unroll,
          Inverse inverse>
__global__ void __launch_bounds__(threads* split) nbody(const T* body, T* acceleration, T softening, int n) {
  constexpr bool is_shared = source == Source::shared_aos || source == Source::shared_soa;
  constexpr bool read_only = source == Source::read_only;
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  const int part = static_cast<int>(threadIdx.y);
  const Index first = Index(blockIdx.x) * (threads * bodies) + threadIdx.x;
  const T softening_squared = softening * softening;

  Triple<T> at[bodies], sum[bodies];
#pragma unroll
  for (int b = 0; b < bodies; ++b) {
    const Index i = first + b * threads;
    const Body<T> own = i < n ? load_body<layout, false>(body, i, n) : Body<T>{};
    at[b] = {own.x, own.y, own.z};
    sum[b] = {};
  }

  if constexpr (is_shared) {
    constexpr int count = threads * split * tile;
    for (int first_j = 0; first_j < n; first_j += count) {
#pragma unroll
      for (int t = 0; t < tile; ++t) {
        const int place = (t * split + part) * threads + static_cast<int>(threadIdx.x);
        // After the last body, the mass is 0, so there is no pull.
        const Body<T> next = place < n - first_j ? load_body<layout, false>(body, first_j + place, n) : Body<T>{};
        to_tile<source, count>(shared, place, next);
      }
      __syncthreads();
#pragma unroll unroll
      for (int j = 0; j < count / split; ++j) {
        const Body<T> by = from_tile<source, count>(shared, j * split + part);
#pragma unroll
        for (int b = 0; b < bodies; ++b) attract<inverse>(sum[b], at[b], by, softening_squared);
      }
      __syncthreads();  // all threads have used the tile
    }
  } else {
#pragma unroll unroll
    for (int j = part; j < n; j += split) {
      const Body<T> by = load_body<layout, read_only>(body, j, n);
#pragma unroll
      for (int b = 0; b < bodies; ++b) attract<inverse>(sum[b], at[b], by, softening_squared);
    }
  }

  if constexpr (split > 1) {
    // All groups except the first store their sums, and the first adds them. The memory of the tiles is free, because a
    // barrier follows each tile.
    constexpr int triples = threads * bodies * (split - 1);
#pragma unroll
    for (int b = 0; b < bodies; ++b) {
      const int place = ((part - 1) * bodies + b) * threads + static_cast<int>(threadIdx.x);
      if (part > 0) {
        shared[place] = sum[b].x;
        shared[triples + place] = sum[b].y;
        shared[2 * triples + place] = sum[b].z;
      }
    }
    __syncthreads();
    if (part > 0) return;
#pragma unroll
    for (int b = 0; b < bodies; ++b) {
#pragma unroll
      for (int other = 0; other < split - 1; ++other) {
        const int place = (other * bodies + b) * threads + static_cast<int>(threadIdx.x);
        sum[b].x += shared[place];
        sum[b].y += shared[triples + place];
        sum[b].z += shared[2 * triples + place];
      }
    }
  }

  const T scale = T(1) / static_cast<T>(n);
#pragma unroll
  for (int b = 0; b < bodies; ++b) {
    const Index i = first + b * threads;
    if (i < n) {
      store_acceleration<layout>(acceleration, i, n,
                                 Triple<T>{sum[b].x * scale, sum[b].y * scale, sum[b].z * scale});
    }
  }
}

// One thread for each body, summed in double precision.
template <typename T, Layout layout>
__global__ void nbodyReference(const T* body, T* acceleration, T softening, int n) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Body<T> own = load_body<layout, false>(body, i, n);
  const T softening_squared = softening * softening;
  Triple<double> sum{};
  for (int j = 0; j < n; ++j) {
    const Body<T> by = load_body<layout, false>(body, j, n);
    const T x = by.x - own.x, y = by.y - own.y, z = by.z - own.z;
    const T square = x * x + y * y + z * z + softening_squared;
    const T weight = by.mass / (square * square_root(square));
    sum.x += x * weight;
    sum.y += y * weight;
    sum.z += z * weight;
  }
  store_acceleration<layout>(
      acceleration, i, n, Triple<T>{static_cast<T>(sum.x / n), static_cast<T>(sum.y / n), static_cast<T>(sum.z / n)});
}
