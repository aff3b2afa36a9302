// Limited by the launch: there is almost nothing to do.
#pragma tuner kernel      tiny
#pragma tuner size        n : int = 256
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate tiny
#pragma tuner reference   tiny
#pragma tuner bytes       8 * n
#pragma tuner default     block=256

__global__ void tiny(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;
}
