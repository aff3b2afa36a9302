// What a device computes at best, how long a load from its memory takes, and how long nothing takes.

namespace tuner_support {

using Bits = unsigned long long;

// What a chain is multiplied with: part of the instruction, which then reads two registers and not three.
template <typename T>
__device__ constexpr T kFactor = static_cast<T>(0.5);
template <>
__device__ constexpr int kFactor<int> = 1664525;

// Eight chains of multiply-adds a thread, \p rounds of 32 steps each: 512 operations a round, so many that counting the
// rounds costs next to nothing. Chains begin with what the compiler cannot know.
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
  if (sum == static_cast<T>(-1)) *sink = sum;  // never in all likelihood; the compiler cannot know
}

// One ring through all \p lines (a power of two) lines of 128 bytes, in an order that no prefetcher follows: a linear
// congruential generator of full period (Knuth, The Art of Computer Programming, volume 2, section 3.2.1.2).
__global__ void link_ring(unsigned* data, unsigned lines) {
  for (unsigned line = blockIdx.x * blockDim.x + threadIdx.x; line < lines; line += gridDim.x * blockDim.x)
    data[line * Bits{32}] = (line * 1664525u + 1013904223u) & (lines - 1);
}

// One thread follows the ring: each load waits for the one before.
__global__ void follow_ring(const unsigned* data, unsigned* at, int steps) {
  unsigned line = *at;
  for (int i = 0; i < steps; ++i) line = data[line * Bits{32}];
  *at = line;
}

__global__ void nothing() {}

}  // namespace tuner_support
