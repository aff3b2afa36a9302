// Limited by the L2 cache: every block reads the same 4 MiB eight times over, which L2 holds and L1 does not.
#pragma tuner kernel      cached
#pragma tuner size        n : int = 2^18   // of four floats each; a power of two
#pragma tuner parameter   block = 512
#pragma tuner let         blocks = 512
#pragma tuner in          a[4 * n] : float
#pragma tuner out         b[blocks * 512] : float
#pragma tuner block       block
#pragma tuner grid        blocks
#pragma tuner arguments   a, b, n
#pragma tuner instantiate cached
#pragma tuner reference   cached
#pragma tuner grid        blocks
#pragma tuner block       512
#pragma tuner accumulates 8 * 4 * n / 512
#pragma tuner bytes       16 * n + 4 * blocks * 512
#pragma tuner default     block=512

__global__ void cached(const float* a, float* b, int n) {
  const float4* from = reinterpret_cast<const float4*>(a);
  const int first = blockIdx.x * 512;  // each block begins elsewhere, so that all of L2 is asked at any time
  float4 sum = {0, 0, 0, 0};
#pragma unroll 16
  for (int k = threadIdx.x; k < 8 * n; k += 512) {
    const float4 four = __ldcg(from + ((first + k) & (n - 1)));
    sum.x += four.x, sum.y += four.y, sum.z += four.z, sum.w += four.w;
  }
  b[blockIdx.x * 512 + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
