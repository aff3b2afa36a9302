#pragma tuner kernel    wave
#pragma tuner type      T = float
#pragma tuner size      width height : int = 60
#pragma tuner parameter block_size_x = 16 32
#pragma tuner parameter block_size_y = 1 4
#pragma tuner parameter fast = 0 1
#pragma tuner define    block_size_x block_size_y fast
#pragma tuner in        image[width * height]
#pragma tuner out       result[width * height]
#pragma tuner arguments image, result, width, height
#pragma tuner block     block_size_x, block_size_y
#pragma tuner grid      ceil_div(width, block_size_x), ceil_div(height, block_size_y)
#pragma tuner instantiate wave
#pragma tuner reference wave_reference
#pragma tuner grid      ceil_div(width * height, 256)
#pragma tuner block     256
#pragma tuner tolerance relative 1e-4 absolute 1e-4
#include <assert.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <float.h>
#define _USE_MATH_DEFINES
#include <math.h>
#include <vector_functions.h>
#include <vector_types.h>

#define CLAMP(x, a, b) max((a), min((b), (x)))
__constant__ float weights[3] = {0.25f, 0.5f, 0.25f};
__device__ static int calls;

__device__ float at(cudaTextureObject_t texture, int x, int y) { return tex2D<float>(texture, x + 0.5f, y + 0.5f); }

struct Sampler {
  const float* image;
  int width, height;
  __device__ float operator()(int x, int y) const {
    return __ldg(image + CLAMP(y, 0, height - 1) * width + CLAMP(x, 0, width - 1));
  }
};

extern "C" __global__ void wave(const float* image, float* result, int width, int height) {
  const int2 p = make_int2(blockIdx.x * block_size_x + threadIdx.x, blockIdx.y * block_size_y + threadIdx.y);
  const long long started = clock64();
  if (p.x >= width || p.y >= height) return;
  const Sampler sample{image, width, height};
  float sum = 0.f;
#pragma unroll
  for (int i = -1; i <= 1; i++) sum = fmaf(weights[i + 1], sample(p.x + i, p.y), sum);
  assert(sum < FLT_MAX);
  float s, c;
#if fast
  s = __sinf(sum), c = __cosf(sum);
  const float e = __expf(-sum), q = __fdividef(s, 1.f + e);
#else
  sincosf(sum, &s, &c);
  const float e = expf(-sum), q = s / (1.f + e);
#endif
  if (clock64() < started) atomicAdd(&calls, 1);
  result[p.y * width + p.x] = q + c * rsqrtf(1.f + sum * sum) + (float)M_PI;
}

extern "C" __global__ void wave_reference(const float* image, float* result, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  const int x = i % width, left = i - (x > 0), right = i + (x < width - 1);
  const double sum = 0.25 * image[left] + 0.5 * image[i] + 0.25 * image[right];
  result[i] = (float)(sin(sum) / (1 + exp(-sum)) + cos(sum) / sqrt(1 + sum * sum) + 3.14159265358979);
}
