// Limited by latency: there is one thread, and each load's address is the result of the previous load.
#pragma tuner kernel      chase
#pragma tuner size        n : unsigned = 2^26
#pragma tuner parameter   steps = 4096
#pragma tuner in          a[n] : unsigned
#pragma tuner out         at[1] : unsigned
#pragma tuner block       1
#pragma tuner grid        1
#pragma tuner arguments   a, at, n, steps
#pragma tuner instantiate chase
#pragma tuner reference   chaseReference
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   a, at, n
#pragma tuner bytes       4 * 4096
#pragma tuner default     steps=4096

// n is a power of two.
__device__ unsigned chased(const unsigned* a, unsigned n, int steps) {
  unsigned at = 0;
  for (int step = 0; step < steps; ++step) at = (at * 1664525u + 1013904223u + a[at]) & (n - 1);
  return at;
}

__global__ void chase(const unsigned* a, unsigned* at, unsigned n, int steps) { *at = chased(a, n, steps); }

__global__ void chaseReference(const unsigned* a, unsigned* at, unsigned n) { *at = chased(a, n, 4096); }
