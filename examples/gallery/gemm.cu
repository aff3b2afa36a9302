// C = A * B + beta * C for row-major matrices: A has m rows of k elements, B has k rows of n, C has m rows of n.
//
// A block computes a tile of C. It walks along k and loads a tile of A and one of B into shared memory. Each thread
// keeps a small tile of C in registers, so it uses every element from shared memory several times. The tile of A is
// stored transposed. The elements that a thread needs for one k are therefore neighbours.
//
// Register tiles are from V. Volkov, J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra" (2008). See also the
// CUDA C++ Programming Guide, "Shared Memory", and the Best Practices Guide, "Shared Memory and Memory Banks". Products
// are rounded to the element type. No tensor cores are used.
//
// Parameters:
// - threads_x, threads_y  the threads of a block along n and along m.
// - rows, columns         the rows and columns of C that one thread computes.
// - tile_k                the length of one step along k.
// - vector                the elements that a thread loads from global memory at once.
// - pad                   the elements added to each row of the tiles in shared memory. 0 and 4 allow vector loads.
//                         1 and 4 spread the transposed stores over more banks.
// - unroll                the steps of the innermost loop over k between two tests for its end.
// - buffers               2: the next tiles are loaded while these are used. This takes twice the shared memory and
//                         some registers, and saves one of two barriers.

#pragma tuner kernel      gemm
#pragma tuner type        T = float double
#pragma tuner choice      beta_is = zero any      // zero: C is not read
#pragma tuner size        m n k : int = 2048
#pragma tuner parameter   threads_x = 8 16 32
#pragma tuner parameter   threads_y = 8 16 32
#pragma tuner parameter   rows      = 2 4 8
#pragma tuner parameter   columns   = 2 4 8
#pragma tuner parameter   tile_k    = 8 16 32
#pragma tuner parameter   vector    = 1 2 4
#pragma tuner parameter   pad       = 0 1 4
#pragma tuner parameter   unroll    = 1 4 16
#pragma tuner parameter   buffers   = 1 2
#pragma tuner let         threads = threads_x * threads_y
#pragma tuner let         tile_m  = threads_y * rows
#pragma tuner let         tile_n  = threads_x * columns
#pragma tuner constraint  vector_bytes:    vector * sizeof(T) <= 16
#pragma tuner constraint  unroll_in_tile:  unroll <= tile_k
#pragma tuner constraint  register_tile:   rows * columns * sizeof(T) <= 256
#pragma tuner constraint  whole_loads_a:   (tile_m * tile_k) % (threads * vector) == 0
#pragma tuner constraint  whole_loads_b:   (tile_n * tile_k) % (threads * vector) == 0
#pragma tuner constraint  whole_rows:      (threads * vector) % tile_k == 0 and (threads * vector) % tile_n == 0
#pragma tuner constraint  staged_elements: (tile_m + tile_n) * tile_k / threads <= 32   // held by a thread
#pragma tuner scalar      beta : T = 0.5
#pragma tuner in          a[m * k], b[k * n]
#pragma tuner inout       c[m * n]
#pragma tuner grid        max(1, ceil_div(m, tile_m) * ceil_div(n, tile_n))
#pragma tuner block       threads_x, threads_y
#pragma tuner shared      buffers * tile_k * (tile_m + tile_n + 2 * pad) * sizeof(T)
#pragma tuner arguments   a, b, c, beta, m, n, k
#pragma tuner instantiate gemm<T, Beta::beta_is, threads_x, threads_y, rows, columns, tile_k, vector, pad, \
                               unroll, buffers>
#pragma tuner reference   gemmReference<T, Beta::beta_is>
#pragma tuner verify      m=1 n=1 k=1 offset=1
#pragma tuner verify      m=37 n=5 k=0
#pragma tuner verify      m=67 n=35 k=41 offset=1
#pragma tuner verify      m=67 n=36 k=40 offset=1
#pragma tuner verify      m=67 n=36 k=41
#pragma tuner verify      m=132 n=260 k=36
#pragma tuner accumulates k
#pragma tuner bytes       (m * k + k * n + (beta_is == any ? 2 : 1) * m * n) * sizeof(T)
#pragma tuner flops       2 * m * n * k
#pragma tuner default     threads_x=16 threads_y=16 rows=8 columns=8 tile_k=8 vector=4 pad=4 unroll=4 buffers=2

enum class Beta { zero, any };

using Index = long long;  // m * k passes 2^31 before the memory of a GPU is full

template <typename T, int count>
struct alignas(sizeof(T) * count) Vector {
  T element[count];
};

template <int count, typename T>
__device__ bool is_aligned(const T* row, int row_length) {
  return count == 1 ||
         (reinterpret_cast<unsigned long long>(row) % (count * sizeof(T)) == 0 && row_length % count == 0);
}

// `count` elements. The first `left` of them are inside the matrix (none if it is 0 or less); the others are zero. In
// aligned rows, either all or none are inside.
template <bool aligned, int count, typename T>
__device__ Vector<T, count> load(const T* from, int left) {
  Vector<T, count> result = {};
  if constexpr (aligned) {
    if (left > 0) result = *reinterpret_cast<const Vector<T, count>*>(from);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (i < left) result.element[i] = from[i];
    }
  }
  return result;
}

// How many neighbours a thread may read at once from shared rows of `stride` elements when it needs `needed` of them.
template <typename T>
__host__ __device__ constexpr int shared_width(int needed, int stride) {
  int width = static_cast<int>(16 / sizeof(T));
  while (needed % width != 0 || stride % width != 0) width /= 2;
  return width;
}

// Thread t of `threads` owns groups of `width` neighbours, `threads` groups apart, so the lanes of a warp read shared
// memory without gaps. Returns the place of its element i.
template <int width, int threads>
__host__ __device__ constexpr int owned(int t, int i) {
  return i / width * (threads * width) + t * width + i % width;
}

template <typename T, int threads_x, int threads_y, int rows, int columns, int tile_k, int vector, int pad, int unroll,
          int buffers>
struct Tiles {
  static constexpr int threads = threads_x * threads_y;
  static constexpr int tile_m = threads_y * rows, tile_n = threads_x * columns;
  static constexpr int stride_a = tile_m + pad, stride_b = tile_n + pad;
  static constexpr int width_a = shared_width<T>(rows, stride_a), width_b = shared_width<T>(columns, stride_b);
  static constexpr int loads_a = tile_m * tile_k / (threads * vector), loads_b = tile_n * tile_k / (threads * vector);
  static constexpr int buffer_elements = tile_k * (stride_a + stride_b);
  static_assert(loads_a * threads * vector == tile_m * tile_k && loads_b * threads * vector == tile_n * tile_k,
                "every thread loads as much as any other");

  // The threads fill a tile row by row. These are the place of this thread's first vector, and the distance between its
  // vectors.
  template <int tile_width>
  static constexpr int rows_apart = threads * vector / tile_width;
  static_assert(rows_apart<tile_k> * tile_k == threads * vector && rows_apart<tile_n> * tile_n == threads * vector,
                "every thread stays in its column");
  template <int tile_width>
  __device__ int row_in() const {
    return static_cast<int>(thread * vector / tile_width);
  }
  template <int tile_width>
  __device__ int column_in() const {
    return static_cast<int>(thread * vector % tile_width);
  }

  // On their way from global to shared memory.
  struct Staged {
    Vector<T, vector> a[loads_a], b[loads_b];
  };

  const T *a, *b;
  int m, n, k;
  int first_row, first_column;
  unsigned thread;
  bool aligned_a, aligned_b;

  // Decided once for a tile, because a decision for each vector takes the compiler much time.
  __device__ void load_from(int first_k, Staged& staged) const {
    if (aligned_a) load_tile<true, tile_k>(a, m, k, first_row, first_k, staged.a);
    else load_tile<false, tile_k>(a, m, k, first_row, first_k, staged.a);
    if (aligned_b) load_tile<true, tile_n>(b, k, n, first_k, first_column, staged.b);
    else load_tile<false, tile_n>(b, k, n, first_k, first_column, staged.b);
  }

  // This thread's share of a tile, which begins at (top, left) of a matrix of height * width elements.
  template <bool aligned, int tile_width, int loads>
  __device__ void load_tile(const T* matrix, int height, int width, int top, int left,
                            Vector<T, vector> (&to)[loads]) const {
    const int row = top + row_in<tile_width>(), column = left + column_in<tile_width>();
    const T* from = matrix + Index(row) * width + column;
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      to[i] = load<aligned, vector>(from, row + i * rows_apart<tile_width> < height ? width - column : 0);
      from += Index(rows_apart<tile_width>) * width;
    }
  }

  __device__ void store_to(T* buffer, const Staged& staged) const {
    T* const shared_a = buffer + column_in<tile_k>() * stride_a + row_in<tile_k>();
#pragma unroll
    for (int i = 0; i < loads_a; ++i) {
#pragma unroll
      for (int v = 0; v < vector; ++v) shared_a[v * stride_a + i * rows_apart<tile_k>] = staged.a[i].element[v];
    }
    T* const shared_b = buffer + tile_k * stride_a + row_in<tile_n>() * stride_b + column_in<tile_n>();
#pragma unroll
    for (int i = 0; i < loads_b; ++i) {
      T* const to = shared_b + i * rows_apart<tile_n> * stride_b;
      if constexpr (stride_b % vector == 0) {
        *reinterpret_cast<Vector<T, vector>*>(to) = staged.b[i];
      } else {
#pragma unroll
        for (int v = 0; v < vector; ++v) to[v] = staged.b[i].element[v];
      }
    }
  }

  __device__ void multiply(const T* buffer, T (&sum)[rows][columns]) const {
    const T* const shared_a = buffer;
    const T* const shared_b = buffer + tile_k * stride_a;
    using VectorA = Vector<T, width_a>;
    using VectorB = Vector<T, width_b>;
#pragma unroll unroll
    for (int step = 0; step < tile_k; ++step) {
      VectorA from_a[rows / width_a];
      VectorB from_b[columns / width_b];
#pragma unroll
      for (int i = 0; i < rows / width_a; ++i) {
        from_a[i] = *reinterpret_cast<const VectorA*>(
            shared_a + step * stride_a + owned<width_a, threads_y>(threadIdx.y, i * width_a));
      }
#pragma unroll
      for (int j = 0; j < columns / width_b; ++j) {
        from_b[j] = *reinterpret_cast<const VectorB*>(
            shared_b + step * stride_b + owned<width_b, threads_x>(threadIdx.x, j * width_b));
      }
#pragma unroll
      for (int i = 0; i < rows; ++i) {
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          sum[i][j] += from_a[i / width_a].element[i % width_a] * from_b[j / width_b].element[j % width_b];
        }
      }
    }
  }
};

// Requires 0 <= m, n, k < 2^31 - 1024. a, b and c are aligned for T. c does not overlap a or b.
template <typename T, Beta beta_is, int threads_x, int threads_y, int rows, int columns, int tile_k, int vector,
          int pad, int unroll, int buffers>
__global__ void __launch_bounds__(threads_x* threads_y)
    gemm(const T* a, const T* b, T* c, T beta, int m, int n, int k) {
  using Tile = Tiles<T, threads_x, threads_y, rows, columns, tile_k, vector, pad, unroll, buffers>;
  extern __shared__ __align__(16) unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);

  const int tiles_n = n / Tile::tile_n + (n % Tile::tile_n != 0);
  if (tiles_n == 0) return;  // nothing to compute
  const int tile_row = static_cast<int>(blockIdx.x) / tiles_n, tile_column = static_cast<int>(blockIdx.x) % tiles_n;
  const Tile tile{a, b, m, n, k, tile_row * Tile::tile_m, tile_column * Tile::tile_n,
                  threadIdx.y * threads_x + threadIdx.x, is_aligned<vector>(a, k),
                  is_aligned<vector>(b, n)};

  T sum[rows][columns] = {};
  typename Tile::Staged staged;
  if constexpr (buffers == 1) {
    for (int first_k = 0; first_k < k; first_k += tile_k) {
      tile.load_from(first_k, staged);
      __syncthreads();  // all threads have used the previous tiles
      tile.store_to(shared, staged);
      __syncthreads();
      tile.multiply(shared, sum);
    }
  } else {
    tile.load_from(0, staged);
    tile.store_to(shared, staged);
    __syncthreads();
    int current = 0;
    for (int first_k = 0; first_k < k; first_k += tile_k) {
      const bool more = k - first_k > tile_k;
      if (more) tile.load_from(first_k + tile_k, staged);
      tile.multiply(shared + current * Tile::buffer_elements, sum);
      current ^= 1;
      if (more) tile.store_to(shared + current * Tile::buffer_elements, staged);  // last read before the last barrier
      __syncthreads();
    }
  }

#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const int row = tile.first_row + owned<Tile::width_a, threads_y>(threadIdx.y, i);
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      const int column = tile.first_column + owned<Tile::width_b, threads_x>(threadIdx.x, j);
      if (row < m && column < n) {
        T* const to = c + Index(row) * n + column;
        if constexpr (beta_is == Beta::any) *to = sum[i][j] + beta * *to;
        else *to = sum[i][j];
      }
    }
  }
}

// One thread for each element of C, summed in double precision.
template <typename T, Beta beta_is>
__global__ void gemmReference(const T* a, const T* b, T* c, T beta, int m, int n, int k) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= Index(m) * n) return;
  const Index row = i / n, column = i % n;
  double sum = 0;
  for (int step = 0; step < k; ++step) sum += static_cast<double>(a[row * k + step]) * b[Index(step) * n + column];
  if constexpr (beta_is == Beta::any) sum += static_cast<double>(beta) * c[i];
  c[i] = static_cast<T>(sum);
}
