// The same answer by more or less work: one step is the fastest by far.
// All configurations share one compile, so that a tuning that starts again is at work within a moment.

#pragma tuner kernel      steps
#pragma tuner size        n : int = 256
#pragma tuner parameter   block = 32 64   // hardly matters: there are finalists
#pragma tuner parameter   steps = 24 12 20 8 16 28 22 10 18 30 14 26 23 11 19 27 15 29 21 9 17 25 13 1
#pragma tuner in          x[n] : float
#pragma tuner out         y[n] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   x, y, n, steps
#pragma tuner instantiate walk
#pragma tuner reference   walkReference
#pragma tuner arguments   x, y, n
#pragma tuner verify      n=33
#pragma tuner bytes       8 * n
#pragma tuner default     steps=24 block=64

// 256 maps of [0, 1] onto itself, then back to the start: the loop's work cannot be skipped, its answer is x.
__device__ float walk_once(float x) {
  float v = x;
  for (int i = 0; i < 256; ++i) v = 3.7f * v * (1 - v);
  return v < 2 ? x : v;
}

__global__ void walk(const float* x, float* y, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int step = 0; step < steps; ++step) v = walk_once(v);
  y[i] = v;
}

__global__ void walkReference(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
