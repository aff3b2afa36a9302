#pragma tuner kernel    bodies
#pragma tuner type      T = float
#pragma tuner size      n : int = 100
#pragma tuner parameter WORK_GROUP_SIZE = 32 64
#pragma tuner parameter USE_SOA = 0 1
#pragma tuner parameter INNER_UNROLL_FACTOR = 1 4
#pragma tuner define    WORK_GROUP_SIZE USE_SOA INNER_UNROLL_FACTOR
#pragma tuner in        body[4 * n]
#pragma tuner out       force[3 * n]
#pragma tuner arguments body, force, n
#pragma tuner aligned   16
#pragma tuner block     WORK_GROUP_SIZE
#pragma tuner grid      ceil_div(n, WORK_GROUP_SIZE)
#pragma tuner instantiate bodies
#pragma tuner reference bodies_reference
#pragma tuner grid      ceil_div(n, 256)
#pragma tuner block     256
#pragma tuner tolerance relative 1e-4 absolute 1e-4
#include "common/helper_math.h"
#include <iomanip>
#include <iostream>

__device__ __noinline__ float3 pull(float4 mine, float4 other) {
  const float3 apart = make_float3(other) - make_float3(mine);
  const float distance = rsqrtf(dot(apart, apart) + 0.01f);
  return apart * (other.w * distance * distance * distance);
}

extern "C" __global__ void bodies(const float* body, float* force, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if USE_SOA == 1
  __shared__ float x[WORK_GROUP_SIZE], y[WORK_GROUP_SIZE], z[WORK_GROUP_SIZE], w[WORK_GROUP_SIZE];
#else
  __shared__ float4 tile[WORK_GROUP_SIZE];
#endif
  const float4* bodies4 = reinterpret_cast<const float4*>(body);
  const float4 nobody = make_float4(0.f, 0.f, 0.f, 0.f);
  const float4 mine = i < n ? bodies4[i] : nobody;
  float3 sum = make_float3(0.0f);
  for (int first = 0; first < n; first += WORK_GROUP_SIZE) {
    const float4 loaded = first + threadIdx.x < n ? bodies4[first + threadIdx.x] : nobody;
#if USE_SOA == 1
    x[threadIdx.x] = loaded.x, y[threadIdx.x] = loaded.y, z[threadIdx.x] = loaded.z, w[threadIdx.x] = loaded.w;
#else
    tile[threadIdx.x] = loaded;
#endif
    __syncthreads();
#pragma unroll INNER_UNROLL_FACTOR
    for (int j = 0; j < WORK_GROUP_SIZE; ++j) {
#if USE_SOA == 1
      sum += pull(mine, make_float4(x[j], y[j], z[j], w[j]));
#else
      sum += pull(mine, tile[j]);
#endif
    }
    __syncthreads();
  }
  if (i < n) {
    force[3 * i] = sum.x;
    force[3 * i + 1] = sum.y;
    force[3 * i + 2] = sum.z;
  }
}

__global__ void bodies_reference(const float* body, float* force, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum[3] = {0, 0, 0};
  for (int j = 0; j < n; ++j) {
    double apart[3], square = 0.01;
    for (int d = 0; d < 3; ++d) apart[d] = (double)body[4 * j + d] - body[4 * i + d], square += apart[d] * apart[d];
    for (int d = 0; d < 3; ++d) sum[d] += body[4 * j + 3] * apart[d] / (square * sqrt(square));
  }
  for (int d = 0; d < 3; ++d) force[3 * i + d] = (float)sum[d];
}

int main() {
  std::cout << std::setw(8) << sizeof(float4) << '\n';
}
