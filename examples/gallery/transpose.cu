// b = a transposed: a has ny rows of nx elements, b has nx rows of ny.
//
// Shared memory allows both reading and writing along rows. A block reads a tile row by row, stores it in shared memory
// and writes the tile's columns as rows. A bad layout of the tile costs bank conflicts. The order of the blocks decides
// which parts of memory are busy at the same time.
//
// Tile, padding and diagonal order are from G. Ruetsch, P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).
// See also the CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks", and the CUDA C++ Programming Guide,
// "Store Functions Using Cache Hints".
//
// Parameters:
// - tile_x, tile_y  the tile has tile_y rows of tile_x elements of a.
// - threads         the threads of a block. They share the tile's elements evenly.
// - vector          the elements that a thread loads and stores at once.
// - loads           the vectors that a thread loads before it stores the first into shared memory.
// - layout          the tile in shared memory: plain, padded (one more element in each row) or swizzled. Swizzled rows
//                   permute their columns by the row's number, which needs no more space.
// - order           the order of the blocks: along rows of tiles, along columns of tiles, or diagonally.
// - cache           streaming: loads and stores hint that nothing will be used again.

#pragma tuner kernel      transpose
#pragma tuner type        T = float double int16
#pragma tuner size        nx ny : int = 8192
#pragma tuner parameter   tile_x  = 16 32 64 128
#pragma tuner parameter   tile_y  = 16 32 64 128
#pragma tuner parameter   threads = 64 128 256 512 1024
#pragma tuner parameter   vector  = 1 2 4
#pragma tuner parameter   loads   = 1 2 4
#pragma tuner parameter   layout  = plain padded swizzled
#pragma tuner parameter   order   = rows columns diagonal
#pragma tuner parameter   cache   = plain streaming
#pragma tuner let         stride  = layout == padded ? tile_x + 1 : tile_x   // of the tile's rows in shared memory
#pragma tuner constraint  vector_bytes:   vector * sizeof(T) <= 16
#pragma tuner constraint  whole_vectors:  (tile_x * tile_y) % (threads * vector * loads) == 0
#pragma tuner constraint  bytes_a_thread: loads * vector * sizeof(T) <= 64
#pragma tuner in          a[nx * ny]
#pragma tuner out         b[nx * ny]
#pragma tuner grid        max(1, ceil_div(nx, tile_x) * ceil_div(ny, tile_y))
#pragma tuner block       threads
#pragma tuner shared      tile_y * stride * sizeof(T)
#pragma tuner arguments   a, b, nx, ny
#pragma tuner instantiate transpose<T, tile_x, tile_y, threads, vector, loads, Layout::layout, Order::order, \
                                    Cache::cache>
#pragma tuner reference   transposeReference<T>
#pragma tuner verify      nx=0 ny=3
#pragma tuner verify      nx=1 ny=1 offset=1
#pragma tuner verify      nx=67 ny=131 offset=1
#pragma tuner verify      nx=132 ny=35
#pragma tuner verify      nx=260 ny=140
#pragma tuner tolerance   relative 0 absolute 0       // nothing is computed
#pragma tuner bytes       2 * nx * ny * sizeof(T)
#pragma tuner default     tile_x=32 tile_y=32 threads=256 vector=1 loads=4 layout=padded order=rows cache=plain

enum class Layout { plain, padded, swizzled };
enum class Order { rows, columns, diagonal };
enum class Cache { plain, streaming };

using Index = long long;  // nx * ny passes 2^31 on any GPU with 24 GB

// The elements that one load or store instruction moves.
template <unsigned bytes> struct WordOf;
template <> struct WordOf<2>  { using type = unsigned short; };
template <> struct WordOf<4>  { using type = unsigned; };
template <> struct WordOf<8>  { using type = uint2; };
template <> struct WordOf<16> { using type = uint4; };

template <typename T, int count>
struct Vector {
  T element[count];
};

// memcpy between registers costs nothing and, unlike a cast, breaks no aliasing rule.
template <Cache cache, int count, typename T>
__device__ Vector<T, count> load(const T* from, Index left, bool aligned) {
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
    for (int i = 0; i < count; ++i) result.element[i] = i < left ? from[i] : T(0);
  }
  return result;
}

template <Cache cache, int count, typename T>
__device__ void store(T* to, const Vector<T, count>& value, Index left, bool aligned) {
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

template <int count, typename T>
__device__ bool is_aligned(const T* row, int row_length) {
  return reinterpret_cast<unsigned long long>(row) % (count * sizeof(T)) == 0 && row_length % count == 0;
}

// The place of the tile's element at (row, column). If swizzled, neighbouring rows of a column are in different banks.
// The exclusive or permutes the columns of a row and keeps them in the row.
template <Layout layout, int tile_x>
__device__ int place(int row, int column) {
  if constexpr (layout == Layout::padded) return row * (tile_x + 1) + column;
  else if constexpr (layout == Layout::swizzled) return row * tile_x + (column ^ (row & (min(tile_x, 32) - 1)));
  else return row * tile_x + column;
}

// Requires nx, ny >= 0. a and b are aligned for T and do not overlap.
template <typename T, int tile_x, int tile_y, int threads, int vector, int loads, Layout layout, Order order,
          Cache cache>
__global__ void __launch_bounds__(threads) transpose(const T* a, T* b, int nx, int ny) {
  constexpr int step = threads * vector;
  static_assert(tile_x * tile_y % (step * loads) == 0, "every thread moves as much as any other");
  static_assert(tile_x % vector == 0 && tile_y % vector == 0, "a vector lies in one row");
  extern __shared__ __align__(16) unsigned char memory[];
  T* const tile = reinterpret_cast<T*>(memory);

  const unsigned tiles_x = (nx + (tile_x - 1u)) / tile_x, tiles_y = (ny + (tile_y - 1u)) / tile_y;
  if (tiles_x == 0 || tiles_y == 0) return;  // nothing to move
  unsigned x, y;
  if constexpr (order == Order::rows) {
    x = blockIdx.x % tiles_x;
    y = blockIdx.x / tiles_x;
  } else {
    x = blockIdx.x / tiles_y;
    y = blockIdx.x % tiles_y;
    if constexpr (order == Order::diagonal) x = (x + y) % tiles_x;  // each row of tiles begins one tile later
  }
  const Index first_x = Index(x) * tile_x, first_y = Index(y) * tile_y;

  const bool loads_aligned = is_aligned<vector>(a, nx), stores_aligned = is_aligned<vector>(b, ny);
#pragma unroll 1
  for (int first = static_cast<int>(threadIdx.x) * vector; first < tile_x * tile_y; first += step * loads) {
    Vector<T, vector> loaded[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int at = first + i * step;
      const Index row = first_y + at / tile_x, column = first_x + at % tile_x;
      loaded[i] = load<cache, vector>(a + row * nx + column, row < ny ? nx - column : 0, loads_aligned);
    }
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int at = first + i * step;
#pragma unroll
      for (int v = 0; v < vector; ++v) {
        tile[place<layout, tile_x>(at / tile_x, at % tile_x + v)] = loaded[i].element[v];
      }
    }
  }
  __syncthreads();
#pragma unroll loads
  for (int at = static_cast<int>(threadIdx.x) * vector; at < tile_x * tile_y; at += step) {
    const int of_column = at / tile_y, of_row = at % tile_y;
    Vector<T, vector> value;
#pragma unroll
    for (int v = 0; v < vector; ++v) value.element[v] = tile[place<layout, tile_x>(of_row + v, of_column)];
    const Index row = first_x + of_column, column = first_y + of_row;
    store<cache>(b + row * ny + column, value, row < nx ? ny - column : 0, stores_aligned);
  }
}

// One thread for each element of b.
template <typename T>
__global__ void transposeReference(const T* a, T* b, int nx, int ny) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < Index(nx) * ny) b[i] = a[i % ny * nx + i / ny];
}
