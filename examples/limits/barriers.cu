// Limited by latency: all threads of a large block wait at a barrier while one thread works.
#pragma tuner kernel      barriers
#pragma tuner size        n : int = 2^18
#pragma tuner parameter   block = 1024
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate barriers
#pragma tuner reference   barriers
#pragma tuner grid        max(1, ceil_div(n, 1024))
#pragma tuner block       1024
#pragma tuner bytes       8 * n
#pragma tuner default     block=1024

__global__ void barriers(const float* a, float* b, int n) {
  __shared__ float handed;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i < n ? a[i] : 0;
  for (int turn = 0; turn < 64; ++turn) {
    if (threadIdx.x == turn) {
      float y = x;
#pragma unroll 1
      for (int step = 0; step < 100; ++step) y = y * 0.5f + 1;
      handed = y;
    }
    __syncthreads();
    x += handed;
    __syncthreads();
  }
  if (i < n) b[i] = x;
}
