#pragma tuner kernel    matmul
#pragma tuner type      T = float
#pragma tuner size      n : int = 64
#pragma tuner parameter TILE = 8 16 32
#pragma tuner parameter work_per_thread = 1 2 4
#pragma tuner define    TILE work_per_thread
#pragma tuner constraint whole_tiles: TILE % work_per_thread == 0
#pragma tuner in        a[n * n], b[n * n]
#pragma tuner out       c[n * n]
#pragma tuner arguments c, a, b, n
#pragma tuner block     TILE, TILE / work_per_thread
#pragma tuner grid      ceil_div(n, TILE), ceil_div(n, TILE)
#pragma tuner instantiate matmul<T>
#pragma tuner reference matmul_reference
#pragma tuner accumulates n
#pragma tuner verify    n=33
#include <chrono>
#include <cuda_runtime.h>
#include <iostream>
#include <vector>

#ifndef TILE
#define TILE 16
#endif
#ifndef work_per_thread
#define work_per_thread 1
#endif

constexpr int rows_of(int threads) { return threads * work_per_thread; }

template <typename T>
__global__ void __launch_bounds__(TILE * TILE) matmul(T* __restrict__ c, const T* __restrict__ a,
                                                       const T* __restrict__ b, int n) {
  __shared__ T as[TILE][TILE + 1];
  __shared__ T bs[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x;
  T sum[work_per_thread] = {};
  static_assert(rows_of(TILE / work_per_thread) == TILE, "whole tiles");
  for (int k = 0; k < n; k += TILE) {
#pragma unroll
    for (int w = 0; w < work_per_thread; ++w) {
      const int row = threadIdx.y + w * (TILE / work_per_thread);
      const int y = blockIdx.y * TILE + row;
      as[row][threadIdx.x] = y < n && k + (int)threadIdx.x < n ? __ldg(&a[y * n + k + threadIdx.x]) : T(0);
      bs[row][threadIdx.x] = x < n && k + row < n ? __ldg(&b[(k + row) * n + x]) : T(0);
    }
    __syncthreads();
    for (int j = 0; j < TILE; ++j) {
#pragma unroll
      for (int w = 0; w < work_per_thread; ++w)
        sum[w] += as[threadIdx.y + w * (TILE / work_per_thread)][j] * bs[j][threadIdx.x];
    }
    __syncthreads();
  }
  for (int w = 0; w < work_per_thread; ++w) {
    const int y = blockIdx.y * TILE + threadIdx.y + w * (TILE / work_per_thread);
    if (x < n && y < n) c[y * n + x] = sum[w];
  }
}

__global__ void matmul_reference(float* c, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[i / n * n + k] * b[k * n + i % n];
  c[i] = sum;
}

template <typename T>
std::ostream& operator<<(std::ostream& out, const std::vector<T>& values) {
  for (const auto& value : values) out << value << ' ';
  return out;
}

int main() {
  using clock = std::chrono::steady_clock;
  std::vector<float> a(1024 * 1024, 1.0f);
  const auto begin = clock::now();
  matmul<float><<<dim3(64, 64), dim3(TILE, TILE / work_per_thread)>>>(a.data(), a.data(), a.data(), 1024);
  std::cout << a << std::chrono::duration<double>(clock::now() - begin).count() << std::endl;
}
