// Limited by the L2 cache: every block reads the same 16 MiB, which L2 holds and L1 does not.
#pragma tuner kernel      cached
#pragma tuner size        n : int = 2^20   // float4s
#pragma tuner parameter   block = 512
#pragma tuner in          a[4 * n] : float
#pragma tuner out         b[512 * 512] : float
#pragma tuner let         blocks = 512
#pragma tuner block       block
#pragma tuner grid        blocks
#pragma tuner arguments   a, b, n
#pragma tuner instantiate cached
#pragma tuner reference   cached
#pragma tuner grid        512
#pragma tuner block       512
#pragma tuner accumulates n * 4 / 512
#pragma tuner bytes       16 * n + 4 * 512 * 512
#pragma tuner default     block=512

__global__ void cached(const float* a, float* b, int n) {
  const float4* from = reinterpret_cast<const float4*>(a);
  float sum = 0;
  // Each block begins elsewhere, so that they ask all of L2 at any time.
  const int first = blockIdx.x * 2048;
#pragma unroll 8
  for (int k = threadIdx.x; k < n; k += blockDim.x) {
    const float4 four = __ldcg(from + (first + k) % n);
    sum += four.x + four.y + four.z + four.w;
  }
  b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
