// The fastest plain streams over global memory: the best that a memory-bound kernel can reach on this device.

namespace tuner_support {

using Bits = unsigned long long;

// 16-byte loads, \p in_flight of them outstanding in each thread. Each of \p tiles has blockDim.x * in_flight words.
template <int in_flight>
__global__ void __launch_bounds__(1024) read(const uint4* data, Bits tiles, unsigned* sink) {
  unsigned seen = 0;
  for (Bits tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const uint4* from = data + tile * (in_flight * blockDim.x) + threadIdx.x;
    uint4 words[in_flight];
#pragma unroll
    for (int i = 0; i < in_flight; ++i) words[i] = from[i * blockDim.x];
#pragma unroll
    for (int i = 0; i < in_flight; ++i) seen |= words[i].x | words[i].y | words[i].z | words[i].w;
  }
  if (seen != 0) *sink = seen;  // never, because the data is zero
}

template <int in_flight>
__global__ void __launch_bounds__(1024) copy(const uint4* __restrict__ data, Bits tiles, uint4* __restrict__ out) {
  for (Bits tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Bits begin = tile * (in_flight * blockDim.x) + threadIdx.x;
    uint4 words[in_flight];
#pragma unroll
    for (int i = 0; i < in_flight; ++i) words[i] = data[begin + i * blockDim.x];
#pragma unroll
    for (int i = 0; i < in_flight; ++i) out[begin + i * blockDim.x] = words[i];
  }
}

template <int in_flight>
__global__ void __launch_bounds__(1024) write(const uint4*, Bits tiles, uint4* out) {
  for (Bits tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    uint4* to = out + tile * (in_flight * blockDim.x) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < in_flight; ++i) to[i * blockDim.x] = uint4{};
  }
}

}  // namespace tuner_support
