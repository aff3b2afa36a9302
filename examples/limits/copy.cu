// Limited by device memory: each element is read and written once, the buffers are far larger than L2, and each thread
// has four 16-byte loads in flight.
#pragma tuner kernel      copy
#pragma tuner size        n : int = 2^26   // a multiple of 4
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner constraint  multiples: n % 4 == 0
#pragma tuner aligned     16
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, 16 * block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate copy
#pragma tuner reference   copy
#pragma tuner grid        max(1, ceil_div(n, 16 * 256))
#pragma tuner block       256
#pragma tuner bytes       8 * n
#pragma tuner default     block=256

__global__ void copy(const float* a, float* b, int n) {
  const float4* from = reinterpret_cast<const float4*>(a);
  float4* to = reinterpret_cast<float4*>(b);
  const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  float4 held[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int i = first + k * blockDim.x;
    if (i < n / 4) held[k] = from[i];
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int i = first + k * blockDim.x;
    if (i < n / 4) to[i] = held[k];
  }
}
