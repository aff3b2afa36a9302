#pragma tuner kernel    vector_add
#pragma tuner type      T = float
#pragma tuner size      n : int = 10000
#pragma tuner parameter block_size_x = 32 128 1024
#pragma tuner define    block_size_x
#pragma tuner in        a[n], b[n]
#pragma tuner out       c[n]
#pragma tuner arguments c, a, b, n
#pragma tuner block     block_size_x
#pragma tuner grid      ceil_div(n, block_size_x)
#pragma tuner instantiate vector_add
#pragma tuner reference vector_add_simple
#include <cuda.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_CHECK(call)                                                          \
  do {                                                                            \
    cudaError_t error = (call);                                                   \
    if (error != cudaSuccess) {                                                   \
      fprintf(stderr, "%s at %s:%d\n", cudaGetErrorString(error), __FILE__, __LINE__); \
      exit(EXIT_FAILURE);                                                         \
    }                                                                             \
  } while (0)

#ifndef block_size_x
#define block_size_x 256
#endif

extern "C" __global__ void vector_add(float* c, float* a, float* b, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}

extern "C" __global__ void vector_add_simple(float* c, float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

static void fill(float* x, int n) {
  for (int i = 0; i < n; i++) x[i] = rand() / (float)RAND_MAX;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  float *a = (float*)malloc(n * sizeof(float)), *da, *db, *dc;
  fill(a, n);
  CUDA_CHECK(cudaMalloc((void**)&da, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc((void**)&db, n * sizeof(float)));
  CUDA_CHECK(cudaMalloc((void**)&dc, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(da, a, n * sizeof(float), cudaMemcpyHostToDevice));
  dim3 grid((n + block_size_x - 1) / block_size_x), block(block_size_x);
  vector_add<<<grid, block>>>(dc, da, db, n);
  CUDA_CHECK(cudaDeviceSynchronize());
  printf("%f\n", a[0]);
  return 0;
}
