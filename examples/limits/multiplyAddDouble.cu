// Limited by arithmetic in double precision: eight independent chains of multiply-adds a thread, and next to no memory.
#pragma tuner kernel      multiplyAddDouble
#pragma tuner size        n : int = 2^20
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : double
#pragma tuner out         b[n] : double
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate multiplyAddDouble
#pragma tuner reference   multiplyAddDouble
#pragma tuner bytes       2 * n * sizeof(double)
#pragma tuner flops       n * 2 * 8 * 2048
#pragma tuner default     block=256

__global__ void multiplyAddDouble(const double* a, double* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i];
  double chain[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) chain[k] = x + k;
#pragma unroll 16
  for (int round = 0; round < 2048; ++round) {
#pragma unroll
    for (int k = 0; k < 8; ++k) chain[k] = chain[k] * 0.5 + x;
  }
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += chain[k];
  b[i] = sum;
}
