#pragma tuner kernel    byte_histogram
#pragma tuner type      T = uint8
#pragma tuner size      n : int64 = 6000
#pragma tuner parameter threads = 64 256
#pragma tuner parameter shared_bins = false true
#pragma tuner in        x[n]
#pragma tuner fill      x = uniform 0 255
#pragma tuner zeroed    bins[256] : unsigned
#pragma tuner out       counts[256] : unsigned
#pragma tuner arguments x, bins, n
#pragma tuner block     threads
#pragma tuner grid      4
#pragma tuner instantiate byte_histogram<threads, shared_bins>
#pragma tuner launch    hand_over
#pragma tuner arguments bins, counts
#pragma tuner block     256
#pragma tuner grid      1
#pragma tuner instantiate hand_over
#pragma tuner reference byte_histogram_reference
#pragma tuner grid      1
#pragma tuner block     256
#pragma tuner arguments x, counts, n
#include <cstdint>
#include <stdint.h>
#include <type_traits>

template <int threads, bool shared_bins, typename Count = uint32_t>
__global__ void byte_histogram(const uint8_t* x, Count* bins, int64_t n) {
  static_assert(std::is_same<Count, std::uint32_t>::value && std::is_unsigned<Count>::value, "counts are unsigned");
  __shared__ Count mine[256];
  for (int i = threadIdx.x; i < 256; i += threads) mine[i] = 0;
  __syncthreads();
  for (int64_t i = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x; i < n; i += gridDim.x * threads)
    atomicAdd(shared_bins ? &mine[x[i]] : &bins[x[i]], 1u);
  __syncthreads();
  if constexpr (shared_bins)
    for (int i = threadIdx.x; i < 256; i += threads) atomicAdd(&bins[i], mine[i]);
}

extern "C" __global__ void hand_over(unsigned* bins, unsigned* counts) {
  counts[threadIdx.x] = atomicExch(&bins[threadIdx.x], 0u);
}

extern "C" __global__ void byte_histogram_reference(const unsigned char* x, unsigned* counts, long long n) {
  unsigned count = 0;
  for (long long i = 0; i < n; ++i) count += x[i] == threadIdx.x;
  counts[threadIdx.x] = count;
}
