// Limited by device memory: each element is read and written once, and the buffers are far larger than L2.
#pragma tuner kernel      copy
#pragma tuner size        n : int = 2^26
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate copy
#pragma tuner reference   copy
#pragma tuner bytes       8 * n
#pragma tuner default     block=256

__global__ void copy(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
