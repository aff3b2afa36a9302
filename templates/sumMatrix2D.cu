// C = A + B for dense row-major matrices of ny rows and nx columns: the first kernel of most textbooks. It shows the
// cost of block shape, access width and index order.
//
// Source of the experiment: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming" (2014), chapter 2,
// "Organizing Parallel Threads", and chapter 4, "Matrix Addition". The widths are those of the CUDA C++ Best Practices
// Guide, "Coalesced Access to Global Memory", and the CUDA C++ Programming Guide, "Device Memory Accesses": a vector of
// 4, 8 or 16 bytes is one instruction only if its address is a multiple of its size.
//
// c may be a or b: each element is read by the thread that writes it, before it writes, and by no other.

#pragma tuner kernel      sumMatrix2D
#pragma tuner type        T = float double int
#pragma tuner size        nx ny : int = 4096
#pragma tuner parameter   block_x = 1 2 4 8 16 32 64 128 256 512 1024
#pragma tuner parameter   block_y = 1 2 4 8 16 32 64 128 256 512 1024
#pragma tuner parameter   vector  = 1 2 4            // elements a thread loads at once
#pragma tuner parameter   unroll  = 1 2 4 8          // such vectors a thread has in flight in each of its rows
#pragma tuner parameter   rows    = 1 2 4 8          // rows a thread
#pragma tuner parameter   cache   = plain no_allocate streaming
#pragma tuner parameter   transposed = false true    // the textbook's mistake: neighbouring threads, distant addresses
#pragma tuner let         tile_x  = block_x * vector * unroll
#pragma tuner let         tile_y  = block_y * rows
#pragma tuner constraint  whole_warps:      (block_x * block_y) % warp_size == 0
#pragma tuner constraint  vector_bytes:     vector * sizeof(T) <= 16
#pragma tuner constraint  loads_in_flight:  unroll * rows <= 8
#pragma tuner constraint  naive_transposed: not transposed or (vector * unroll * rows == 1 and cache == plain)
#pragma tuner in          a[nx * ny], b[nx * ny]
#pragma tuner out         c[nx * ny]
#pragma tuner block       block_x, block_y
#pragma tuner grid        max(1, ceil_div(nx, tile_x)), max(1, min(ceil_div(ny, tile_y), max_grid_y))
#pragma tuner arguments   a, b, c, nx, ny
#pragma tuner instantiate sumMatrix2D<T, block_x, block_y, vector, unroll, rows, Cache::cache, transposed>
#pragma tuner reference   sumMatrix2DReference<T>
#pragma tuner grid        max(1, min(ceil_div(nx * ny, 256), 1024))
#pragma tuner block       256
#pragma tuner verify      nx=0 ny=0
#pragma tuner verify      nx=1 ny=1 offset=1
#pragma tuner verify      nx=33 ny=7 offset=1
#pragma tuner verify      nx=68 ny=70 offset=2
#pragma tuner verify      nx=1 ny=515
#pragma tuner verify      nx=1028 ny=3
#pragma tuner bytes       3 * nx * ny * sizeof(T)
#pragma tuner in_flight   2 * vector * unroll * rows * sizeof(T)
#pragma tuner flops       nx * ny
#pragma tuner default     block_x=128 block_y=2 vector=2 unroll=2 rows=1 cache=plain transposed=false

enum class Cache {
  plain,
  no_allocate,  // no line of L1 is spent on what is read
  streaming,    // __ldcs and __stcs: likely accessed once (Programming Guide, "Load Functions Using Cache Hints")
};

using Index = long long;  // nx * ny passes 2^31 on any GPU with 24 GB

// The word that one load or store instruction moves.
template <unsigned bytes> struct WordOf;
template <> struct WordOf<4>  { using type = unsigned; };
template <> struct WordOf<8>  { using type = uint2; };
template <> struct WordOf<16> { using type = uint4; };

// PTX ISA, "ld": .L1::no_allocate. Not ld.global.nc (__ldg), which is for data that nobody writes while the kernel runs:
// c may be a or b. Without effect where there is no PTX.
template <typename Word>
__device__ Word load_no_allocate(const Word* from) {
#if defined(__CUDA_ARCH__)
  unsigned part[sizeof(Word) / 4];
  if constexpr (sizeof(Word) == 4) {
    asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(part[0]) : "l"(from));
  } else if constexpr (sizeof(Word) == 8) {
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(part[0]), "=r"(part[1]) : "l"(from));
  } else {
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
                 : "l"(from));
  }
  Word word;
  memcpy(&word, part, sizeof word);
  return word;
#else
  return *from;
#endif
}

template <Cache cache, typename Word>
__device__ Word load(const Word* from) {
  if constexpr (cache == Cache::no_allocate) return load_no_allocate(from);
  else if constexpr (cache == Cache::streaming) return __ldcs(from);
  else return *from;
}

template <Cache cache, typename Word>
__device__ void store(Word* to, Word word) {
  if constexpr (cache == Cache::streaming) __stcs(to, word);
  else *to = word;
}

// The elements of a word. memcpy between registers costs nothing and, unlike a cast, breaks no aliasing rule.
template <typename T, typename Word>
__device__ Word add(Word a, Word b) {
  constexpr unsigned lanes = sizeof(Word) / sizeof(T);
  T x[lanes], y[lanes];
  memcpy(x, &a, sizeof a);
  memcpy(y, &b, sizeof b);
#pragma unroll
  for (unsigned i = 0; i < lanes; ++i) x[i] += y[i];
  memcpy(&a, x, sizeof a);
  return a;
}

// A thread's share of one tile, of a matrix with `height` rows of `width` words: words x, x + block_x, ... of rows
// y, y + block_y, .... Everything is loaded before anything is stored, so that unroll * rows loads of each input are in
// flight at once. `whole`: the tile lies inside the matrix and nothing needs to be checked.
template <typename T, unsigned block_x, unsigned block_y, unsigned unroll, unsigned rows, Cache cache, bool whole,
          typename Word>
__device__ void add_tile(const Word* a, const Word* b, Word* c, Index width, Index height, Index x, Index y) {
  Word from_a[rows][unroll], from_b[rows][unroll];
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) {
      const Index column = x + u * block_x, row = y + r * block_y;
      if (whole || (column < width && row < height)) {
        from_a[r][u] = load<cache>(a + row * width + column);
        from_b[r][u] = load<cache>(b + row * width + column);
      }
    }
  }
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) {
      const Index column = x + u * block_x, row = y + r * block_y;
      if (whole || (column < width && row < height)) {
        store<cache>(c + row * width + column, add<T>(from_a[r][u], from_b[r][u]));
      }
    }
  }
}

// Tiles of block_x * unroll words and block_y * rows rows. The branch is the same for all threads of a block.
template <typename T, unsigned block_x, unsigned block_y, unsigned unroll, unsigned rows, Cache cache, typename Word>
__device__ void add_tile(const Word* a, const Word* b, Word* c, Index width, Index height, Index tile_x, Index tile_y) {
  const Index x = tile_x + threadIdx.x, y = tile_y + threadIdx.y;
  if (tile_x + block_x * unroll <= width && tile_y + block_y * rows <= height) {
    add_tile<T, block_x, block_y, unroll, rows, cache, true>(a, b, c, width, height, x, y);
  } else {
    add_tile<T, block_x, block_y, unroll, rows, cache, false>(a, b, c, width, height, x, y);
  }
}

// nx, ny >= 0; a, b, c: nx * ny elements at addresses that suit a T, not necessarily a vector of them.
template <typename T, unsigned block_x, unsigned block_y, unsigned vector, unsigned unroll, unsigned rows, Cache cache,
          bool transposed>
__global__ void __launch_bounds__(block_x* block_y) sumMatrix2D(const T* a, const T* b, T* c, int nx, int ny) {
  static_assert(vector * sizeof(T) <= 16, "no load is wider than 16 bytes");
  static_assert(!transposed || vector * unroll * rows == 1, "only the naive kernel has a transposed form");
  using Word = typename WordOf<vector * sizeof(T)>::type;
  constexpr Index tile_x = Index(block_x) * vector * unroll, tile_y = Index(block_y) * rows;

  // Every row must begin at a multiple of the vector's size. The same answer for every thread of the grid.
  const auto addresses = reinterpret_cast<unsigned long long>(a) | reinterpret_cast<unsigned long long>(b) |
                         reinterpret_cast<unsigned long long>(c);
  const bool aligned = addresses % sizeof(Word) == 0 && nx % vector == 0;

  const Index x = blockIdx.x * tile_x;
  // A grid has at most 65535 rows of blocks: the loop makes any number of matrix rows right.
  for (Index y = blockIdx.y * tile_y; y < ny; y += gridDim.y * tile_y) {
    if constexpr (transposed) {
      const Index column = x + threadIdx.x, row = y + threadIdx.y;
      if (column < nx && row < ny) c[column * ny + row] = a[column * ny + row] + b[column * ny + row];
    } else if (aligned) {
      add_tile<T, block_x, block_y, unroll, rows, cache>(
          reinterpret_cast<const Word*>(a), reinterpret_cast<const Word*>(b), reinterpret_cast<Word*>(c),
          Index(nx / vector), Index(ny), x / vector, y);
    } else {
      // The same tile, one element at a time: `vector` narrower tiles beside each other.
#pragma unroll 1
      for (unsigned v = 0; v < vector; ++v) {
        add_tile<T, block_x, block_y, unroll, rows, cache>(a, b, c, Index(nx), Index(ny), x + v * block_x * unroll, y);
      }
    }
  }
}

template <typename T>
__global__ void sumMatrix2DReference(const T* a, const T* b, T* c, int nx, int ny) {
  const Index n = Index(nx) * ny;
  for (Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += Index(gridDim.x) * blockDim.x) {
    c[i] = a[i] + b[i];
  }
}
