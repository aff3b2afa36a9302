// Limited by shared memory: again and again, the 32 threads of a warp read 32 different words from one bank.
#pragma tuner kernel      bankConflicts
#pragma tuner size        n : int = 2^20
#pragma tuner parameter   block = 256
#pragma tuner in          a[n] : float
#pragma tuner out         b[n] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   a, b, n
#pragma tuner instantiate bankConflicts
#pragma tuner reference   bankConflictsReference
#pragma tuner bytes       8 * n
#pragma tuner default     block=256

constexpr int kPasses = 256;

__global__ void bankConflicts(const float* a, float* b, int n) {
  __shared__ float words[32 * 32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  for (int k = threadIdx.x; k < 32 * 32; k += blockDim.x) words[k] = 1;
  __syncthreads();
  float sum = i < n ? a[i] : 0;
#pragma unroll 8
  for (int pass = 0; pass < kPasses; ++pass) sum += words[lane * 32 + pass % 32];
  if (i < n) b[i] = sum;
}

__global__ void bankConflictsReference(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + kPasses;
}
