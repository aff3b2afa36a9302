#pragma once
/// A kernel that copies a matrix in boxes through a tensor map, and its parameters are those of the map.

namespace tuner::testing {

/// y = x; sizes: m, k; arguments: x, y.
inline constexpr const char* kCopyTiles = R"(
#pragma tuner kernel NAME
#pragma tuner size m = 500
#pragma tuner size k = 388
#pragma tuner parameter rows = 8 64
#pragma tuner parameter tile = 8 16 32 64
#pragma tuner parameter swizzle = 0 32 64 128
#pragma tuner constraint whole_rows: swizzle == 0 or swizzle == 4 * tile
#pragma tuner in x[m * k] : float
#pragma tuner out y[m * k] : float
#pragma tuner tensormap from = x[m, k] box rows, tile swizzle swizzle
#pragma tuner grid ceil_div(k, tile), ceil_div(m, rows)
#pragma tuner block 128
#pragma tuner instantiate copy_tiles<rows, tile, swizzle>
#pragma tuner reference copied
#pragma tuner default rows=64 tile=32 swizzle=128
template <int rows, int tile, int swizzle>
__global__ void copy_tiles(const __grid_constant__ CUtensorMap from, float* y, int m, int k) {
  __shared__ alignas(1024) float box[rows * tile];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(box));
  const int column = blockIdx.x * tile, row = blockIdx.y * rows;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(rows * tile * 4) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&from), "r"(column), "r"(row), "r"(barrier)
        : "memory");
  }
  __syncthreads();
  for (unsigned done = 0; done == 0;)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  for (int i = threadIdx.x; i < rows * tile; i += blockDim.x) {
    const int r = i / tile, c = i % tile;
    int at = i * 4;  // in bytes; a swizzle exchanges chunks of 16 bytes within its span
    if (swizzle > 0) at ^= (at >> 7 & (swizzle / 16 - 1)) << 4;
    if (row + r < m && column + c < k) y[(row + r) * k + column + c] = box[at / 4];
  }
}
__global__ void copied(const float* x, float* y, int m, int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * k; i += blockDim.x * gridDim.x) y[i] = x[i];
}
)";

}  // namespace tuner::testing
