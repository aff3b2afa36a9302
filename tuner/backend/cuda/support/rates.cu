// Measures the arithmetic peaks of a device, the latency of its memory, and the time of an empty kernel.

namespace tuner_support {

using Bits = unsigned long long;

// The factor in each chain. It is a constant in the instruction, which then reads two registers instead of three.
template <typename T>
__device__ constexpr T kFactor = static_cast<T>(0.5);
template <>
__device__ constexpr int kFactor<int> = 1664525;

// Eight chains of multiply-adds in each thread, with \p rounds of 32 steps. A round has 512 operations, so counting
// rounds costs almost nothing. The compiler cannot know the first values.
template <typename T>
__global__ void __launch_bounds__(256) multiply_add(T* sink, int rounds, T summand) {
  T chain[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) chain[i] = static_cast<T>(threadIdx.x + i);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 32; ++step) {
#pragma unroll
      for (int i = 0; i < 8; ++i) chain[i] = chain[i] * kFactor<T> + summand;
    }
  }
  T sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += chain[i];
  if (sum == static_cast<T>(-1)) *sink = sum;  // practically never, but the compiler cannot know that
}

// Links all \p lines (a power of two) of 128 bytes to one ring, in an order that no prefetcher can follow. The order is
// a linear congruential generator of full period (Knuth, "The Art of Computer Programming", volume 2, 3.2.1.2).
__global__ void link_ring(unsigned* data, unsigned lines) {
  for (unsigned line = blockIdx.x * blockDim.x + threadIdx.x; line < lines; line += gridDim.x * blockDim.x)
    data[line * Bits{32}] = (line * 1664525u + 1013904223u) & (lines - 1);
}

// One thread follows the ring: each load waits for the previous one.
__global__ void follow_ring(const unsigned* data, unsigned* at, int steps) {
  unsigned line = *at;
  for (int i = 0; i < steps; ++i) line = data[line * Bits{32}];
  *at = line;
}

__global__ void nothing() {}

}  // namespace tuner_support
