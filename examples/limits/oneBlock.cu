// Limited by latency: one block does all the work, and the other multiprocessors are idle.
#pragma tuner kernel      oneBlock
#pragma tuner size        n : int = 2^22
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner block       block
#pragma tuner grid        1
#pragma tuner arguments   a, b, n
#pragma tuner instantiate oneBlock
#pragma tuner reference   oneBlock
#pragma tuner grid        1
#pragma tuner block       256
#pragma tuner bytes       8 * n
#pragma tuner default     block=256

__global__ void oneBlock(const float* a, float* b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) b[i] = 2 * a[i];
}
