#pragma tuner kernel    half_axpy
#pragma tuner type      T = half
#pragma tuner size      n : int = 4096
#pragma tuner parameter threads = 64 128
#pragma tuner parameter half_two = 0 1
#pragma tuner define    half_two
#pragma tuner in        x[n]
#pragma tuner inout     y[n]
#pragma tuner arguments x, y, n
#pragma tuner aligned   4
#pragma tuner block     threads
#pragma tuner grid      ceil_div(n, 2 * threads)
#pragma tuner instantiate half_axpy
#pragma tuner reference half_axpy_reference
#pragma tuner grid      ceil_div(n, 256)
#pragma tuner block     256
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

extern "C" __global__ void half_axpy(const __half* x, __half* y, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
#if half_two
  if (i + 1 < n) {
    const half2 a = __float2half2_rn(2.0f);
    reinterpret_cast<half2*>(y)[i / 2] =
        __hfma2(a, reinterpret_cast<const half2*>(x)[i / 2], reinterpret_cast<const half2*>(y)[i / 2]);
    return;
  }
#endif
  for (int j = i; j < min(i + 2, n); ++j) y[j] = __hfma(__float2half(2.0f), x[j], y[j]);
}

extern "C" __global__ void half_axpy_reference(const __half* x, __half* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float limit = CUDART_INF_F;
  if (i < n) y[i] = __float2half(fminf(2.0f * __half2float(x[i]) + __half2float(y[i]), limit));
}
