// One explicit step of the heat equation on a grid of nx * ny * nz points, with x fastest. Inner points are updated by
// the seven-point stencil, and points on the boundary keep their value.
//   next = u + diffusion * (sum of the six neighbours - 6 * u)
//
// A block owns a rectangle of the x-y plane and marches along z. The plane above becomes the centre, and then the plane
// below. Along z, every value is therefore read from memory once. Along x and y, neighbours share values through shared
// memory or through the caches.
//
// Marching along z is from P. Micikevicius, "3D Finite Difference Computation on GPUs using CUDA" (2009). See also the
// CUDA C++ Programming Guide, "Read-Only Data Cache Load Function".
//
// Parameters:
// - block_x, block_y  the threads of a block.
// - items_x, items_y  the points of a plane that one thread computes. They are block_x and block_y apart.
// - planes            the planes that a block marches through. More planes give more reuse but fewer blocks. A small
//                     number is a constant for the compiler. A large one is an argument, so one program serves all.
// - neighbours        direct: all from global memory. registers: those above and below stay in registers.
//                     shared: as registers, and the plane with its rim is in shared memory.
// - load              plain or read_only (__ldg).
// - unroll            the planes in one turn of the march.

#pragma tuner kernel      stencil3D
#pragma tuner type        T = float double
#pragma tuner size        nx ny nz : int = 384
#pragma tuner parameter   block_x    = 16 32 64 128 256
#pragma tuner parameter   block_y    = 1 2 4 8 16
#pragma tuner parameter   items_x    = 1 2 4
#pragma tuner parameter   items_y    = 1 2 4
#pragma tuner parameter   planes     = 4 16 64 384
#pragma tuner parameter   neighbours = direct registers shared
#pragma tuner parameter   load       = plain read_only
#pragma tuner parameter   unroll     = 1 2 4
#pragma tuner let         tile_x  = block_x * items_x
#pragma tuner let         tile_y  = block_y * items_y
#pragma tuner let         threads = block_x * block_y
#pragma tuner let         known   = planes <= 4 ? planes : 0
#pragma tuner constraint  whole_warps:   threads % warp_size == 0
#pragma tuner constraint  enough_warps:  64 <= threads and threads <= max_threads_per_block
#pragma tuner constraint  points:        items_x * items_y <= 8
#pragma tuner constraint  not_outside:   (items_x == 1 or tile_x < 2 * nx) and (items_y == 1 or tile_y < 2 * ny)
#pragma tuner scalar      diffusion : T = 0.125
#pragma tuner in          u[nx * ny * nz]
#pragma tuner out         next[nx * ny * nz]
#pragma tuner grid        max(1, ceil_div(nx, tile_x)), max(1, ceil_div(ny, tile_y)), max(1, ceil_div(nz, planes))
#pragma tuner block       block_x, block_y
#pragma tuner shared      neighbours == shared ? (tile_x + 2) * (tile_y + 2) * sizeof(T) : 0
#pragma tuner arguments   u, next, diffusion, nx, ny, nz, planes
#pragma tuner instantiate stencil3D<T, block_x, block_y, items_x, items_y, known, Neighbours::neighbours, Load::load, \
                                    unroll>
#pragma tuner reference   stencil3DReference<T>
#pragma tuner arguments   u, next, diffusion, nx, ny, nz
#pragma tuner verify      nx=1 ny=1 nz=1 offset=1
#pragma tuner verify      nx=35 ny=19 nz=21 offset=1
#pragma tuner verify      nx=67 ny=3 nz=2
#pragma tuner verify      nx=2 ny=70 nz=66
#pragma tuner accumulates 7
#pragma tuner bytes       2 * nx * ny * nz * sizeof(T)
#pragma tuner flops       8 * nx * ny * nz
#pragma tuner default     block_x=64 block_y=4 items_x=1 items_y=1 planes=64 neighbours=registers load=read_only \
                          unroll=2

enum class Neighbours { direct, registers, shared };
enum class Load { plain, read_only };

using Index = long long;  // nx * ny * nz passes 2^31 on any GPU with 24 GB

template <Load how, typename T>
__device__ T load(const T* from) {
  if constexpr (how == Load::read_only) return __ldg(from);
  else return *from;
}

template <typename T>
__device__ T heat(T diffusion, T centre, T west, T east, T south, T north, T below, T above) {
  return centre + diffusion * (((west + east) + (south + north)) + (below + above) - T(6) * centre);
}

// Loads the rim of the tile without its corners (tile[0][1...tile_x] and so on) from the plane that begins at `plane`.
// Leaves places outside the grid as they are. Only points on the boundary have such neighbours, and they keep their
// value.
template <int tile_x, int tile_y, int threads, Load how, typename T>
__device__ void load_rim(T* tile, const T* plane, int first_x, int first_y, int nx, int ny, int thread) {
  constexpr int stride = tile_x + 2;
#pragma unroll 1  // few turns, and copies of them take the compiler much time
  for (int i = thread; i < 2 * (tile_x + tile_y); i += threads) {
    int x, y;  // in the tile
    if (i < 2 * tile_x) {
      x = i % tile_x;
      y = i < tile_x ? -1 : tile_y;
    } else {
      y = (i - 2 * tile_x) % tile_y;
      x = i - 2 * tile_x < tile_y ? -1 : tile_x;
    }
    const int grid_x = first_x + x, grid_y = first_y + y;
    if (grid_x >= 0 && grid_x < nx && grid_y >= 0 && grid_y < ny) {
      tile[(y + 1) * stride + x + 1] = load<how>(plane + Index(grid_y) * nx + grid_x);
    }
  }
}

// Requires nx, ny, nz >= 0. u and next are aligned for T and do not overlap. `known` is `planes` as a constant, or 0 if
// the number of planes is only an argument.
template <typename T, int block_x, int block_y, int items_x, int items_y, int known, Neighbours neighbours, Load how,
          int unroll>
__global__ void __launch_bounds__(block_x* block_y)
    stencil3D(const T* u, T* next, T diffusion, int nx, int ny, int nz, int planes) {
  constexpr int tile_x = block_x * items_x, tile_y = block_y * items_y, stride = tile_x + 2;
  constexpr bool is_shared = neighbours == Neighbours::shared;
  extern __shared__ __align__(16) unsigned char memory[];
  T* const tile = reinterpret_cast<T*>(memory);

  const int first_x = static_cast<int>(blockIdx.x) * tile_x, first_y = static_cast<int>(blockIdx.y) * tile_y;
  if (known > 0) planes = known;  // a constant for the loop and the addresses
  const int first_z = static_cast<int>(blockIdx.z) * planes, count = known > 0 ? known : min(planes, nz - first_z);
  const Index plane = Index(nx) * ny;

  Index at[items_y][items_x];          // of each point, in the plane z
  bool is_in[items_y][items_x];        // the grid
  bool has_all[items_y][items_x];      // four neighbours in its plane
  T below[items_y][items_x], centre[items_y][items_x];
#pragma unroll
  for (int j = 0; j < items_y; ++j) {
#pragma unroll
    for (int i = 0; i < items_x; ++i) {
      const int x = first_x + i * block_x + static_cast<int>(threadIdx.x);
      const int y = first_y + j * block_y + static_cast<int>(threadIdx.y);
      at[j][i] = (Index(first_z) * ny + y) * nx + x;
      is_in[j][i] = x < nx && y < ny && first_z < nz;
      has_all[j][i] = is_in[j][i] && 0 < x && x < nx - 1 && 0 < y && y < ny - 1;
      below[j][i] = centre[j][i] = T(0);
      if constexpr (neighbours != Neighbours::direct) {
        if (is_in[j][i]) centre[j][i] = load<how>(u + at[j][i]);
        if (is_in[j][i] && first_z > 0) below[j][i] = load<how>(u + at[j][i] - plane);
      }
    }
  }

#pragma unroll unroll
  for (int k = 0; k < count; ++k) {
    const int z = first_z + k;
    if (known > 0 && z >= nz) break;  // the same for all threads of the block
    const bool is_inside = 0 < z && z < nz - 1;
    if constexpr (is_shared) {
      __syncthreads();  // all threads have used the previous plane
#pragma unroll
      for (int j = 0; j < items_y; ++j) {
#pragma unroll
        for (int i = 0; i < items_x; ++i) {
          tile[(j * block_y + threadIdx.y + 1) * stride + i * block_x + threadIdx.x + 1] = centre[j][i];
        }
      }
      load_rim<tile_x, tile_y, block_x * block_y, how>(tile, u + z * plane, first_x, first_y, nx, ny,
                                                       static_cast<int>(threadIdx.y * block_x + threadIdx.x));
      __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < items_y; ++j) {
#pragma unroll
      for (int i = 0; i < items_x; ++i) {
        const T* const point = u + at[j][i];
        if constexpr (neighbours == Neighbours::direct) {
          if (is_in[j][i]) {
            T result = load<how>(point);
            if (has_all[j][i] && is_inside) {
              result = heat(diffusion, result, load<how>(point - 1), load<how>(point + 1), load<how>(point - nx),
                            load<how>(point + nx), load<how>(point - plane), load<how>(point + plane));
            }
            next[at[j][i]] = result;
          }
        } else {
          T above = T(0);
          if (is_in[j][i] && z < nz - 1) above = load<how>(point + plane);
          T result = centre[j][i];
          if (has_all[j][i] && is_inside) {
            if constexpr (is_shared) {
              const T* const here =
                  tile + (j * block_y + threadIdx.y + 1) * stride + i * block_x + threadIdx.x + 1;
              result = heat(diffusion, result, here[-1], here[1], here[-stride], here[stride], below[j][i], above);
            } else {
              result = heat(diffusion, result, load<how>(point - 1), load<how>(point + 1), load<how>(point - nx),
                            load<how>(point + nx), below[j][i], above);
            }
          }
          if (is_in[j][i]) next[at[j][i]] = result;
          below[j][i] = centre[j][i];
          centre[j][i] = above;
        }
        at[j][i] += plane;
      }
    }
  }
}

// One thread for each point.
template <typename T>
__global__ void stencil3DReference(const T* u, T* next, T diffusion, int nx, int ny, int nz) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x, plane = Index(nx) * ny;
  if (i >= plane * nz) return;
  const Index x = i % nx, y = i / nx % ny, z = i / plane;
  const bool is_inside = 0 < x && x < nx - 1 && 0 < y && y < ny - 1 && 0 < z && z < nz - 1;
  double result = u[i];
  if (is_inside) {
    const double sum = static_cast<double>(u[i - 1]) + u[i + 1] + u[i - nx] + u[i + nx] + u[i - plane] + u[i + plane];
    result += diffusion * (sum - 6.0 * u[i]);
  }
  next[i] = static_cast<T>(result);
}
