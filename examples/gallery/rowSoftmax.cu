// y = softmax of each row of x: y[r][c] = exp(x[r][c] - max of row r) / sum over the row of exp(x[r][.] - max).
//
// Several threads share a row, and several rows share a block. Every element is needed two or three times: for the
// maximum, for the sum and for the result. A thread can keep elements between these passes, so memory is read less
// often. Rows may have any length, because elements that are not kept are read again.
//
// The one-pass sum is from M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax" (2018). See also the
// CUDA C++ Programming Guide, "Warp Shuffle Functions" and "Intrinsic Functions" (the error of __expf).
//
// Parameters:
// - threads      the threads that share a row.
// - block_rows   the rows of a block.
// - vector       the elements that a thread loads and stores at once.
// - sum          two_pass: the maximum first, then the sum. online: both at once, rescaled when the maximum grows.
// - keep, held   a thread keeps `held` vectors of its row in registers or in shared memory. nothing: it reads again.
// - unroll       the vectors that are loaded together if they do not stay in registers.
// - exponential  accurate: exp of the library. fast: __expf, which is a few units in the last place worse.
// - cache        streaming: loads and stores hint that nothing will be used again.

#pragma tuner kernel      rowSoftmax
#pragma tuner type        T = float double
#pragma tuner size        rows    : int = 32768
#pragma tuner size        columns : int = 1024
#pragma tuner parameter   threads     = 8 16 32 64 128 256 512
#pragma tuner parameter   block_rows  = 1 2 4 8 16
#pragma tuner parameter   vector      = 1 2 4
#pragma tuner parameter   sum         = two_pass online
#pragma tuner parameter   keep        = nothing registers shared
#pragma tuner parameter   held        = 0 1 2 4 8 16 32
#pragma tuner parameter   unroll      = 1 2 4
#pragma tuner parameter   exponential = accurate fast
#pragma tuner parameter   cache       = plain streaming
#pragma tuner constraint  whole_warps:     threads * block_rows % warp_size == 0
#pragma tuner constraint  vector_bytes:    vector * sizeof(T) <= 16
#pragma tuner constraint  fast_is_float:   exponential == accurate or T == float
#pragma tuner constraint  held_where:      (keep == nothing) == (held == 0)
#pragma tuner constraint  held_is_used:    held <= 1 or held * threads * vector < 2 * columns
#pragma tuner constraint  held_is_most:    held == 0 or 2 * held * threads * vector >= columns   // at least half a row
#pragma tuner constraint  held_bytes:      keep != registers or held * vector * sizeof(T) <= 256
#pragma tuner constraint  unroll_has_use:  keep != registers or unroll == 1
#pragma tuner constraint  unroll_in_held:  keep != shared or unroll <= held
#pragma tuner constraint  vectors_in_row:  unroll == 1 or unroll * threads * vector <= columns
#pragma tuner in          x[rows * columns]
#pragma tuner out         y[rows * columns]
#pragma tuner fill        x = uniform -4 4
#pragma tuner grid        max(1, ceil_div(rows, block_rows))
#pragma tuner block       threads, block_rows
#pragma tuner shared      keep == shared ? block_rows * threads * held * vector * sizeof(T) : 0
#pragma tuner arguments   x, y, rows, columns
#pragma tuner instantiate rowSoftmax<T, threads, block_rows, vector, Sum::sum, Keep::keep, held, unroll, \
                                     Exponential::exponential, Cache::cache>
#pragma tuner reference   rowSoftmaxReference<T>
#pragma tuner grid        max(1, ceil_div(rows, 8))
#pragma tuner block       32, 8
#pragma tuner verify      rows=1 columns=1 offset=1
#pragma tuner verify      rows=3 columns=1000
#pragma tuner verify      rows=5 columns=1027 offset=1
#pragma tuner verify      rows=7 columns=3333
#pragma tuner tolerance   relative 2e-5 absolute 1e-12
#pragma tuner bytes       2 * rows * columns * sizeof(T)
#pragma tuner flops       5 * rows * columns
#pragma tuner default     threads=32 block_rows=4 vector=4 sum=two_pass keep=registers held=8 unroll=1 \
                          exponential=fast cache=plain

enum class Sum { two_pass, online };
enum class Keep { nothing, registers, shared };
enum class Exponential { accurate, fast };
enum class Cache { plain, streaming };

using Index = long long;
constexpr int warp = 32;
constexpr unsigned all_lanes = 0xffffffffu;

template <unsigned bytes> struct WordOf;
template <> struct WordOf<4>  { using type = unsigned; };
template <> struct WordOf<8>  { using type = uint2; };
template <> struct WordOf<16> { using type = uint4; };

template <typename T, int count>
struct alignas(sizeof(T) * count) Vector {
  T element[count];
};

// NVRTC has no <limits>.
template <typename T>
__device__ T infinity() {
  if constexpr (sizeof(T) == 4) return __int_as_float(0x7f800000);
  else return __longlong_as_double(0x7ff0000000000000ll);
}

// Less than every number except -infinity. Finite, so that the difference of two maxima is never NaN.
template <typename T>
__device__ T lowest() {
  if constexpr (sizeof(T) == 4) return -__int_as_float(0x7f7fffff);
  else return -__longlong_as_double(0x7fefffffffffffffll);
}

template <Exponential exponential>
__device__ float power_of_e(float x) {
  if constexpr (exponential == Exponential::fast) return __expf(x);
  else return expf(x);
}
template <Exponential exponential>
__device__ double power_of_e(double x) {
  static_assert(exponential == Exponential::accurate, "there is no fast exponential of double");
  return exp(x);
}

// `count` elements. The first `left` of them are in the row (none if it is 0 or less). The others are -infinity: they
// change no maximum, and their exponential is 0.
template <Cache cache, int count, typename T>
__device__ Vector<T, count> load(const T* from, int left, bool aligned) {
  using Word = typename WordOf<count * sizeof(T)>::type;
  Vector<T, count> result;
  if (aligned && left >= count) {
    const Word* const words = reinterpret_cast<const Word*>(from);
    Word word;
    if constexpr (cache == Cache::streaming) word = __ldcs(words);
    else word = *words;
    memcpy(&result, &word, sizeof word);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) result.element[i] = i < left ? from[i] : -infinity<T>();
  }
  return result;
}

template <Cache cache, int count, typename T>
__device__ void store(T* to, const Vector<T, count>& value, int left, bool aligned) {
  using Word = typename WordOf<count * sizeof(T)>::type;
  if (aligned && left >= count) {
    Word* const words = reinterpret_cast<Word*>(to);
    Word word;
    memcpy(&word, &value, sizeof word);
    if constexpr (cache == Cache::streaming) __stcs(words, word);
    else *words = word;
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (i < left) to[i] = value.element[i];
    }
  }
}

// The maximum of some elements and the sum of exp(element - maximum) over them.
template <typename T>
struct State {
  T maximum, total;
};

struct Maximum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return max(a, b);
  }
};
struct Plus {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
template <Exponential exponential>
struct Merge {
  template <typename T>
  __device__ State<T> operator()(State<T> a, State<T> b) const {
    const T maximum = max(a.maximum, b.maximum);
    return {maximum, a.total * power_of_e<exponential>(a.maximum - maximum) +
                         b.total * power_of_e<exponential>(b.maximum - maximum)};
  }
};

template <typename T>
__device__ T shuffle_xor(T value, int distance) {
  return __shfl_xor_sync(all_lanes, value, distance);
}
template <typename T>
__device__ State<T> shuffle_xor(State<T> value, int distance) {
  return {__shfl_xor_sync(all_lanes, value.maximum, distance), __shfl_xor_sync(all_lanes, value.total, distance)};
}

// Combines the values of the threads of a row and returns the result to each of them. All threads of the block call it.
// `partials` has one value for each warp of the block. Each call uses its own array, which saves a barrier between
// calls.
template <int threads, typename Value, typename Combine>
__device__ Value combine_row(Value value, Value* partials, Combine combine) {
#pragma unroll
  for (int distance = min(threads, warp) / 2; distance > 0; distance /= 2) {
    value = combine(value, shuffle_xor(value, distance));
  }
  if constexpr (threads > warp) {
    constexpr int warps = threads / warp;  // of the row
    Value* const of_row = partials + threadIdx.y * warps;
    if (threadIdx.x % warp == 0) of_row[threadIdx.x / warp] = value;
    __syncthreads();
    value = of_row[0];
#pragma unroll
    for (int i = 1; i < warps; ++i) value = combine(value, of_row[i]);
  }
  return value;
}

enum class Pass { first, middle, last };

// One thread's part of a row: vectors threadIdx.x, threadIdx.x + threads, and so on. The first `held` are kept.
template <typename T, int threads, int vector, Keep keep, int held, int unroll, Cache cache>
struct Part {
  using Elements = Vector<T, vector>;
  const T* row;
  int columns;  // 0: no such row
  bool aligned;
  Elements* shared;  // of this thread; its vectors are `stride` apart
  int stride;
  Elements registers[keep == Keep::registers ? held : 1];

  __device__ Index column(int i) const { return (Index(i) * threads + threadIdx.x) * vector; }
  __device__ int left(int i) const { return column(i) < columns ? static_cast<int>(columns - column(i)) : 0; }
  __device__ Elements read(int i) const { return load<cache, vector>(row + column(i), left(i), aligned); }

  // Calls visit(vector, number) for each vector of the part, and perhaps for some after its end. The first pass reads
  // all. The value that visit leaves in a vector is kept for the next pass if `keep` has room. `unroll` vectors are
  // read before the first is visited, because the compiler cannot move a load over a store to memory that may be the
  // same.
  template <Pass pass, typename Visit>
  __device__ void for_each(Visit visit) {
    int i = 0;
    if constexpr (keep == Keep::registers) {
      if constexpr (pass == Pass::first) {
#pragma unroll
        for (int h = 0; h < held; ++h) registers[h] = read(h);
      }
#pragma unroll
      for (int h = 0; h < held; ++h) visit(registers[h], h);
      i = held;
    } else if constexpr (keep == Keep::shared) {
      static_assert(held % unroll == 0, "whole batches");
      for (; i < held; i += unroll) {
        Elements batch[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) batch[u] = pass == Pass::first ? read(i + u) : shared[(i + u) * stride];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
          visit(batch[u], i + u);
          if constexpr (pass != Pass::last) shared[(i + u) * stride] = batch[u];
        }
      }
    }
    for (; column(i) < columns; i += unroll) {
      Elements batch[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) batch[u] = read(i + u);
#pragma unroll
      for (int u = 0; u < unroll; ++u) visit(batch[u], i + u);
    }
  }
};

// Requires rows, columns >= 0. x and y are aligned for T. y may be x.
template <typename T, int threads, int block_rows, int vector, Sum sum, Keep keep, int held, int unroll,
          Exponential exponential, Cache cache>
__global__ void __launch_bounds__(threads* block_rows) rowSoftmax(const T* x, T* y, int rows, int columns) {
  static_assert(threads * block_rows % warp == 0, "shuffles are for whole warps");
  using Row = Part<T, threads, vector, keep, held, unroll, cache>;
  using Elements = typename Row::Elements;
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int warps = (threads * block_rows + warp - 1) / warp;

  const Index r = Index(blockIdx.x) * block_rows + threadIdx.y;
  const Index offset = r < rows ? r * columns : 0;
  // Threads without a row go through the same shuffles and barriers as the others.
  Row part;
  part.row = x + offset;
  part.columns = r < rows ? columns : 0;
  part.aligned =
      reinterpret_cast<unsigned long long>(x) % (vector * sizeof(T)) == 0 && columns % vector == 0;
  part.shared = reinterpret_cast<Elements*>(memory) + threadIdx.y * threads + threadIdx.x;
  part.stride = threads * block_rows;

  State<T> of_row;
  if constexpr (sum == Sum::online) {
    State<T> mine{lowest<T>(), T(0)};
    part.template for_each<Pass::first>([&](Elements& elements, int) {
      T maximum = mine.maximum;
#pragma unroll
      for (int v = 0; v < vector; ++v) maximum = max(maximum, elements.element[v]);
      mine.total *= power_of_e<exponential>(mine.maximum - maximum);
#pragma unroll
      for (int v = 0; v < vector; ++v) mine.total += power_of_e<exponential>(elements.element[v] - maximum);
      mine.maximum = maximum;
    });
    __shared__ State<T> partials[warps];
    of_row = combine_row<threads>(mine, partials, Merge<exponential>());
  } else {
    T maximum = lowest<T>();
    part.template for_each<Pass::first>([&](Elements& elements, int) {
#pragma unroll
      for (int v = 0; v < vector; ++v) maximum = max(maximum, elements.element[v]);
    });
    __shared__ T maxima[warps], totals[warps];
    of_row.maximum = combine_row<threads>(maximum, maxima, Maximum());
    T total = 0;
    part.template for_each<Pass::middle>([&](Elements& elements, int i) {
#pragma unroll
      for (int v = 0; v < vector; ++v) {
        const T term = power_of_e<exponential>(elements.element[v] - of_row.maximum);
        total += term;
        if (i < held) elements.element[v] = term;  // kept for the last pass
      }
    });
    of_row.total = combine_row<threads>(total, totals, Plus());
  }

  const bool stores_aligned =
      reinterpret_cast<unsigned long long>(y) % (vector * sizeof(T)) == 0 && columns % vector == 0;
  const T scale = T(1) / of_row.total;
  part.template for_each<Pass::last>([&](Elements& elements, int i) {
    Elements result;
#pragma unroll
    for (int v = 0; v < vector; ++v) {
      const bool is_term = sum == Sum::two_pass && i < held;
      result.element[v] =
          (is_term ? elements.element[v] : power_of_e<exponential>(elements.element[v] - of_row.maximum)) * scale;
    }
    store<cache>(y + offset + part.column(i), result, part.left(i), stores_aligned);
  });
}

// A warp for each row, 8 rows a block, in double precision.
template <typename T>
__global__ void rowSoftmaxReference(const T* x, T* y, int rows, int columns) {
  const Index r = Index(blockIdx.x) * 8 + threadIdx.y;
  if (r >= rows) return;  // the same for all lanes of a warp
  double maximum = lowest<double>();
  for (int c = threadIdx.x; c < columns; c += warp) maximum = max(maximum, static_cast<double>(x[r * columns + c]));
  for (int distance = warp / 2; distance > 0; distance /= 2) {
    maximum = max(maximum, __shfl_xor_sync(all_lanes, maximum, distance));
  }
  double total = 0;
  for (int c = threadIdx.x; c < columns; c += warp) total += exp(x[r * columns + c] - maximum);
  for (int distance = warp / 2; distance > 0; distance /= 2) total += __shfl_xor_sync(all_lanes, total, distance);
  for (int c = threadIdx.x; c < columns; c += warp) {
    y[r * columns + c] = static_cast<T>(exp(x[r * columns + c] - maximum) / total);
  }
}
