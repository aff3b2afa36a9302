// Limited by the L2 cache: every block reads the same 4 MiB eight times. They fit L2, and the loads bypass L1.
#pragma tuner kernel      cached
#pragma tuner size        n : int = 2^18   // vectors of four floats; a power of two
#pragma tuner parameter   block = 512
#pragma tuner let         blocks = 4 * sm_count
#pragma tuner in          a[4 * n] : float
#pragma tuner out         b[blocks * 512] : float
#pragma tuner aligned     16
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

// Four blocks a multiprocessor: one wave.
__global__ void __launch_bounds__(512, 4) cached(const float* a, float* b, int n) {
  const float4* from = reinterpret_cast<const float4*>(a);
  const int first = blockIdx.x * 512;  // each block begins at another place, so that all of L2 is busy
  float sum = 0;
#pragma unroll 4
  for (int k = threadIdx.x; k < 8 * n; k += 512) {
    const float4 four = __ldcg(from + ((first + k) & (n - 1)));
    sum += (four.x + four.y) + (four.z + four.w);
  }
  b[blockIdx.x * 512 + threadIdx.x] = sum;
}
