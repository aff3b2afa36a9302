// Limited by arithmetic, most of which is wasted: the threads of a warp take 32 branches, so one lane works at a time.
#pragma tuner kernel      divergence
#pragma tuner size        n : int = 2^20
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate divergence
#pragma tuner reference   divergence
#pragma tuner bytes       8 * n
#pragma tuner flops       n * 2 * 64
#pragma tuner default     block=256

__global__ void divergence(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  // Each branch has its own factor, so that the compiler cannot merge branches.
#pragma unroll
  for (int way = 0; way < 32; ++way) {
    if (threadIdx.x % 32 == way) {
#pragma unroll 16
      for (int step = 0; step < 64; ++step) x = x * (0.5f + 0.01f * way) + 1;
    }
  }
  b[i] = x;
}
