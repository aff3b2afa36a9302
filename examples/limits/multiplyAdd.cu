// Limited by arithmetic: each thread has eight independent chains of multiply-adds, and almost no memory accesses.
#pragma tuner kernel      multiplyAdd
#pragma tuner type        T = float double
#pragma tuner size        n : int = 2^20
#pragma tuner parameter   block = 256
#pragma tuner in          a[n]
#pragma tuner out         b[n]
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate multiplyAdd<T>
#pragma tuner reference   multiplyAdd<T>
#pragma tuner bytes       2 * n * sizeof(T)
#pragma tuner flops       n * 2 * 8 * 4096
#pragma tuner default     block=256

template <typename T>
__global__ void multiplyAdd(const T* a, T* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = a[i];
  T chain[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) chain[k] = x + k;
#pragma unroll 16
  for (int round = 0; round < 4096; ++round) {
#pragma unroll
    for (int k = 0; k < 8; ++k) chain[k] = chain[k] * T(0.5) + x;
  }
  T sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += chain[k];
  b[i] = sum;
}
