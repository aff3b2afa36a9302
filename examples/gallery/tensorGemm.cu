// C = A * B for matrices of 16 or 8 bits, on the tensor cores of Hopper. A has m rows of k elements, B has n rows of k, as
// the weights of a linear layer have: C[i][j] is the sum of A[i][.] * B[j][.].
//
// A block has three warpgroups. One copies tiles of A and B to shared memory with tensor maps, several steps ahead; the
// other two multiply them and share a tile of C. Barriers say which tiles are full and which are free again. The grid
// stays: a block computes one tile of C after the other, so that it loads the next tile while it stores the last one.
// Blocks of a cluster that need the same tile each load a part of it for all of them.
//
// A product with few rows has few tiles, and takes as long as its weights take to be read. Then the blocks of a cluster
// split the sum: each adds up a part, and the parts are added in shared memory, always in the same order.
//
// CUDA C++ Programming Guide, "Thread Block Clusters" and "Tensor Map"; hopper.cuh names the instructions. The roles of
// warps and the grid that stays are from the white paper on Hopper and from CUTLASS's documentation, "Efficient GEMM in
// CUDA".
//
// Parameters:
// - tile_m, tile_n        the tile of C that a block computes. Large tiles read A and B less often; small ones are more.
// - swap                  C transposed is computed, so that tile_m counts columns of C. A warpgroup multiplies at least
//                         64 rows, but as few as 16 columns: this is for small m.
// - stages                the steps along k that are loaded ahead.
// - swizzle               the bytes of a row that one step takes.
// - cluster_m, cluster_n  the blocks of a cluster that share tiles of B, and of A.
// - split                 the blocks of a cluster that share the sum.
// - group                 the rows of tiles that are computed together, for the second-level cache.

#pragma tuner kernel      tensorGemm
#pragma tuner type        T = bfloat16 half e4m3
#pragma tuner type        Out of T = e4m3:bfloat16
#pragma tuner size        m n k : int = 4096
#pragma tuner constraint  rows_of_16_bytes: n % 8 == 0 and k * sizeof(T) % 16 == 0
#pragma tuner parameter   swap      = false true
#pragma tuner parameter   tile_m    = 128 256
#pragma tuner parameter   tile_n    = 16 32 64 96 128 160 192 256
#pragma tuner parameter   stages    = 3 4 5 6 8
#pragma tuner parameter   swizzle   = 64 128
#pragma tuner parameter   cluster_m = 1 2
#pragma tuner parameter   cluster_n = 1 2
#pragma tuner parameter   split     = 1 2 3 4 8
#pragma tuner parameter   group     = 1 4 8 16
#pragma tuner let         shared_by = cluster_m * cluster_n
#pragma tuner let         rows      = ceil_div(swap ? n : m, tile_m * cluster_m)
#pragma tuner let         columns   = ceil_div(swap ? m : n, tile_n * cluster_n)
#pragma tuner let         step      = swizzle / sizeof(T)
#pragma tuner let         panel     = tile_n % 64 == 0 ? 64 : tile_n % 32 == 0 ? 32 : 16   // of C, stored at once
#pragma tuner constraint  registers:     tile_m / 128 * tile_n <= 256
#pragma tuner constraint  shares_or_splits: split == 1 or shared_by == 1
#pragma tuner constraint  whole_parts:   tile_n % (8 * cluster_m) == 0
#pragma tuner constraint  split_has_use: split == 1 or rows * columns < sm_count
#pragma tuner constraint  split_has_steps: split <= ceil_div(k, step)
#pragma tuner constraint  sums_fit:      split == 1 or (tile_m * tile_n + 4 * (swap ? tile_n : tile_m)) * 4 <= stages * (tile_m + tile_n) * swizzle
#pragma tuner constraint  group_has_use: group == 1 or group * cluster_m <= 2 * ceil_div(swap ? n : m, tile_m)
#pragma tuner constraint  split_order:   split == 1 or group == 1
#pragma tuner in          a[m * k], b[n * k]
#pragma tuner fill        a, b = uniform -1 1
#pragma tuner out         c[m * n] : Out
#pragma tuner tensormap   map_a = a[m, k] box swap ? tile_n / cluster_m : tile_m / cluster_n, step swizzle swizzle promotion 256B
#pragma tuner tensormap   map_b = b[n, k] box swap ? tile_m / cluster_n : tile_n / cluster_m, step swizzle swizzle promotion 256B
#pragma tuner tensormap   map_c = c[m, n] box swap ? panel : 64, swap ? 64 : panel swizzle swap ? 128 : 2 * panel
#pragma tuner grid        split > 1 ? rows * columns * split : min(max(1, sm_count / shared_by), rows * columns) * shared_by
#pragma tuner block       384
#pragma tuner cluster     shared_by * split
#pragma tuner shared      stages * (tile_m + tile_n) * swizzle + 4 * 64 * 128 + 16 * stages + 1024
#pragma tuner arguments   map_a, map_b, map_c, c, m, n, k
#pragma tuner instantiate tensorGemm<T, Out, swap, tile_m, tile_n, stages, swizzle, cluster_m, cluster_n, split, group>
#pragma tuner reference   tensorGemmReference<T, Out>
#pragma tuner grid        ceil_div(n, 16), ceil_div(m, 16)
#pragma tuner block       16, 16
#pragma tuner arguments   a, b, c, m, n, k
#pragma tuner verify      m=1 n=8 k=16
#pragma tuner verify      m=130 n=520 k=48
#pragma tuner verify      m=1000 n=712 k=528
#pragma tuner accumulates k
#pragma tuner tolerance   relative 2e-2 absolute 0.75   // the tensor cores add products of 8 bits with fewer bits than float has
#pragma tuner bytes       (m * k + n * k) * sizeof(T) + 2 * m * n
#pragma tuner flops       2 * m * n * k
#pragma tuner default     swap=false tile_m=128 tile_n=128 stages=4 swizzle=128 cluster_m=1 cluster_n=1 split=1 group=8

#include "hopper.cuh"

using namespace hopper;

struct Place {
  int row, column;
};
// Of the tile with this number. The tiles of `group` rows are counted column by column.
template <int group>
__device__ Place place_of(int tile, int rows, int columns) {
  const int first = tile / (group * columns) * group;
  const int height = min(group, rows - first), rest = tile % (group * columns);
  return {first + rest % height, rest / height};
}

template <typename T, typename Out, bool swap, int tile_m, int tile_n, int stages, int swizzle, int cluster_m,
          int cluster_n, int split, int group>
__global__ __launch_bounds__(384, 1) void tensorGemm(const __grid_constant__ CUtensorMap map_a,
                                                     const __grid_constant__ CUtensorMap map_b,
                                                     const __grid_constant__ CUtensorMap map_c, Out* c, int m, int n,
                                                     int k) {
  constexpr int step_k = swizzle / int(sizeof(T));
  constexpr int own_rows = tile_m / 2, fragments = own_rows / 64;  // of one of the two warpgroups
  constexpr int bytes_a = tile_m * swizzle, bytes_b = tile_n * swizzle;
  constexpr int panel_elements = 64 * 64;
  constexpr int panel = tile_n % 64 == 0 ? 64 : tile_n % 32 == 0 ? 32 : 16;
  constexpr int panel_row = swap ? 128 : 2 * panel;  // bytes
  constexpr int blocks = cluster_m * cluster_n * split;
  static_assert(split == 1 || cluster_m * cluster_n == 1);

  extern __shared__ unsigned char memory[];
  unsigned char* const tiles_a = align_tiles(memory);
  unsigned char* const tiles_b = tiles_a + stages * bytes_a;
  Out* const panels = reinterpret_cast<Out*>(tiles_b + stages * bytes_b);
  Barrier* const full = reinterpret_cast<Barrier*>(panels + 4 * panel_elements);
  Barrier* const empty = full + stages;

  const int rank = blocks > 1 ? block_in_cluster() : 0;
  const int rank_m = split > 1 ? 0 : rank % cluster_m, rank_n = split > 1 ? 0 : rank / cluster_m;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      init_barrier(full + stage, 1);
      init_barrier(empty + stage, 2 * (cluster_m + cluster_n - 1));
    }
    publish_barriers();
  }
  if constexpr (blocks > 1) sync_cluster();
  else __syncthreads();

  const int rows = ((swap ? n : m) + tile_m * cluster_m - 1) / (tile_m * cluster_m);
  const int columns = ((swap ? m : n) + tile_n * cluster_n - 1) / (tile_n * cluster_n);
  const int steps = (k + step_k - 1) / step_k;
  const int begin = split > 1 ? steps * rank / split : 0, end = split > 1 ? steps * (rank + 1) / split : steps;
  const int first = blockIdx.x / blocks, stride = gridDim.x / blocks;

  if (threadIdx.x < 128) {
    shrink_registers<40>();
    if (threadIdx.x == 0) {
      // Blocks of a row of the cluster share a tile of A, those of a column one of B. Each loads its part for all.
      constexpr int part_a = tile_m / cluster_n, part_b = tile_n / cluster_m;
      const CUtensorMap* const left = swap ? &map_b : &map_a;
      const CUtensorMap* const right = swap ? &map_a : &map_b;
      unsigned short row_blocks = 0, column_blocks = 0;
      for (int i = 0; i < cluster_n; ++i) row_blocks |= 1 << (rank_m + i * cluster_m);
      for (int i = 0; i < cluster_m; ++i) column_blocks |= 1 << (i + rank_n * cluster_m);
      int stage = 0;
      unsigned parity = 1;
      for (int tile = first; tile < rows * columns; tile += stride) {
        const Place place = place_of<group>(tile, rows, columns);
        const int x = (place.row * cluster_m + rank_m) * tile_m + rank_n * part_a;
        const int y = (place.column * cluster_n + rank_n) * tile_n + rank_m * part_b;
        for (int step = begin; step < end; ++step) {
          wait_for(empty + stage, parity);
          expect_bytes(full + stage, bytes_a + bytes_b);
          unsigned char* const to_a = tiles_a + stage * bytes_a + rank_n * part_a * swizzle;
          unsigned char* const to_b = tiles_b + stage * bytes_b + rank_m * part_b * swizzle;
          if constexpr (cluster_n > 1) load_box_for(row_blocks, to_a, left, step * step_k, x, full + stage);
          else load_box(to_a, left, step * step_k, x, full + stage);
          if constexpr (cluster_m > 1) load_box_for(column_blocks, to_b, right, step * step_k, y, full + stage);
          else load_box(to_b, right, step * step_k, y, full + stage);
          if (++stage == stages) stage = 0, parity ^= 1;
        }
      }
    }
  } else {
    grow_registers<232>();
    const int consumer = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
    const int warp = thread / 32, lane = thread % 32;
    Out* const own_panels = panels + consumer * 2 * panel_elements;
    // A few threads arrive at the barriers of the blocks that load for this one, when a stage is free.
    const bool tells = thread < cluster_m + cluster_n - 1;
    const int other = thread - cluster_m + (thread - cluster_m >= rank_n);  // in this row of the cluster
    const int told = split > 1 ? rank : thread < cluster_m ? thread + rank_n * cluster_m : rank_m + other * cluster_m;
    float sums[fragments][tile_n / 2];
    int stage = 0, stored = 0;
    unsigned parity = 0;
    for (int tile = first; tile < rows * columns; tile += stride) {
      const Place place = place_of<group>(tile, rows, columns);
      const int x = (place.row * cluster_m + rank_m) * tile_m + consumer * own_rows;
      const int y = (place.column * cluster_n + rank_n) * tile_n;
      int running = -1;  // the stage that products may still read
      for (int step = begin; step < end; ++step) {
        wait_for(full + stage, parity);
        const Descriptor a = rows_along_sum<swizzle>(tiles_a + stage * bytes_a + consumer * own_rows * swizzle);
        const Descriptor b = rows_along_sum<swizzle>(tiles_b + stage * bytes_b);
#pragma unroll
        for (int i = 0; i < fragments; ++i) hold(sums[i]);
        begin_products();
#pragma unroll
        for (int part = 0; part < swizzle / 32; ++part)
#pragma unroll
          for (int i = 0; i < fragments; ++i)
            Product<T, tile_n>::add(sums[i], a + (i * 64 * swizzle + part * 32) / 16, b + part * 32 / 16,
                                    part > 0 || step > begin);
        end_products();
#pragma unroll
        for (int i = 0; i < fragments; ++i) hold(sums[i]);
        wait_for_products<1>();
        if (running >= 0 && tells) arrive_at(empty + running, told);
        running = stage;
        if (++stage == stages) stage = 0, parity ^= 1;
      }
      wait_for_products<0>();
#pragma unroll
      for (int i = 0; i < fragments; ++i) hold(sums[i]);
      if (tells) arrive_at(empty + running, told);

      if constexpr (split > 1) {
        // All stages are free: they take the sums of this block, in rows of C.
        float* const partial = reinterpret_cast<float*>(tiles_a);
        constexpr int pitch = (swap ? tile_m : tile_n) + 4;
        sync_threads(1, 256);
#pragma unroll
        for (int i = 0; i < fragments; ++i)
#pragma unroll
          for (int j = 0; j < tile_n / 2; ++j) {
            const int row = consumer * own_rows + i * 64 + warp * 16 + lane / 4 + j / 2 % 2 * 8;
            const int column = j / 4 * 8 + lane % 4 * 2 + j % 2;
            partial[swap ? column * pitch + row : row * pitch + column] = sums[i][j];
          }
      } else {
        // Sums go through shared memory, swizzled, so that whole rows of a panel are stored.
#pragma unroll
        for (int i = 0; i < fragments; ++i)
#pragma unroll
          for (int part = 0; part < tile_n / panel; ++part) {
            Out* const to = own_panels + stored++ % 2 * panel_elements;
            if (thread == 0) wait_for_reads<1>();
            sync_threads(consumer + 1, 128);
#pragma unroll
            for (int chunk = 0; chunk < panel / 8; chunk += 2) {
              const int row = swap ? (chunk + lane / 16) * 8 + lane % 8 : warp * 16 + lane % 16;
              const int piece = swap ? 2 * warp + lane / 8 % 2 : chunk + lane / 16;  // of 16 bytes
              const int at = row * panel_row + (piece ^ row / (128 / panel_row) % (panel_row / 16)) * 16;
              const float* const d = sums[i] + part * (panel / 2) + chunk * 4;
              store_matrices<swap>(shared_address(to) + at, packed<Out>(d[0], d[1]), packed<Out>(d[2], d[3]),
                                   packed<Out>(d[4], d[5]), packed<Out>(d[6], d[7]));
            }
            publish_writes();
            sync_threads(consumer + 1, 128);
            const int along = x + i * 64, across = y + part * panel;
            if (thread == 0) store_box(&map_c, to, swap ? along : across, swap ? across : along);
          }
      }
    }
    if (thread == 0) wait_for_stores();
  }

  if constexpr (split > 1) {
    sync_cluster();
    constexpr int height = swap ? tile_n : tile_m, width = swap ? tile_m : tile_n, pitch = width + 4;
    const Place place = place_of<group>(first, rows, columns);
    const int top = swap ? place.column * tile_n : place.row * tile_m;
    const int left = swap ? place.row * tile_m : place.column * tile_n;
    for (int i = rank * blockDim.x + threadIdx.x; i < height * width / 4; i += split * blockDim.x) {
      const int row = i / (width / 4), column = i % (width / 4) * 4;
      if (top + row >= m || left + column >= n) continue;
      float4 sum{};
#pragma unroll
      for (int block = 0; block < split; ++block) {
        const float4 part = load_from_block(reinterpret_cast<float*>(tiles_a) + row * pitch + column, block);
        sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
      }
      *reinterpret_cast<uint2*>(c + static_cast<long long>(top + row) * n + left + column) = {
          packed<Out>(sum.x, sum.y), packed<Out>(sum.z, sum.w)};
    }
  }
  // The shared memory of a block must stay while others read it or arrive there.
  if constexpr (blocks > 1) sync_cluster();
}

// Tiles of 16 x 16 in shared memory, so that large problems are verified in a second.
template <typename T, typename Out>
__global__ void tensorGemmReference(const T* a, const T* b, Out* c, int m, int n, int k) {
  __shared__ float tile_a[16][17], tile_b[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  const int row_b = blockIdx.x * 16 + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < k; first += 16) {
    const int i = first + threadIdx.x;
    tile_a[threadIdx.y][threadIdx.x] = row < m && i < k ? float(a[static_cast<long long>(row) * k + i]) : 0;
    tile_b[threadIdx.y][threadIdx.x] = row_b < n && i < k ? float(b[static_cast<long long>(row_b) * k + i]) : 0;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; ++j) sum += tile_a[threadIdx.y][j] * tile_b[threadIdx.x][j];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long long>(row) * n + column] = Out(sum);
}
