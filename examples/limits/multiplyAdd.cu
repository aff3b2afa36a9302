// Limited by arithmetic in single precision: eight independent chains of multiply-adds a thread, and next to no memory.
#pragma tuner kernel      multiplyAdd
#pragma tuner size        n : int = 2^20
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate multiplyAdd
#pragma tuner reference   multiplyAdd
#pragma tuner bytes       2 * n * sizeof(float)
#pragma tuner flops       n * 2 * 8 * 4096
#pragma tuner default     block=256

__global__ void multiplyAdd(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  float chain[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) chain[k] = x + k;
#pragma unroll 16
  for (int round = 0; round < 4096; ++round) {
#pragma unroll
    for (int k = 0; k < 8; ++k) chain[k] = chain[k] * 0.5f + x;
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += chain[k];
  b[i] = sum;
}
