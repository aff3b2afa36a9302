#pragma tuner kernel    advance
#pragma tuner size      n = 3000
#pragma tuner parameter block_size_x = 64 128
#pragma tuner parameter items = 1 4
#pragma tuner in        stars[n]
#pragma tuner out       moved[n]
#pragma tuner inout     counted[2] : { int bright; double mass; }
#pragma tuner fill      stars.id = iota
#pragma tuner fill      stars.mass = uniform 1 2
#pragma tuner fill      counted = constant 0
#pragma tuner grid      ceil_div(n, block_size_x * items)
#pragma tuner tolerance relative 1e-9
#pragma tuner reference advance_slowly
#include <stdint.h>

typedef struct __align__(16) {
  float3 position;
  double mass;
  uint16_t id, kind;
  bool bright;
  float spectrum[3];
} Star;

struct Counted {
  int bright;
  double mass;
};

__device__ Star advanced(const Star& from) {
  Star to = from;
  to.position.x += from.mass > 1.5 ? 1 : -1;
  to.mass *= 0.5;
  to.kind = static_cast<uint16_t>(from.id % 7);
  to.bright = !from.bright;
  to.spectrum[2] = from.spectrum[0] + from.spectrum[1];
  return to;
}

__global__ void advance(const Star* stars, Star* moved, Counted* counted, int n) {
  for (int k = 0; k < items; ++k) {
    const int i = (blockIdx.x * items + k) * block_size_x + threadIdx.x;
    if (i >= n) return;
    moved[i] = advanced(stars[i]);
    atomicAdd(&counted[i % 2].bright, moved[i].bright ? 1 : 0);
    atomicAdd(&counted[i % 2].mass, moved[i].mass);
  }
}

__global__ void advance_slowly(const Star* stars, Star* moved, Counted* counted, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n; i += gridDim.x * blockDim.x) {
    moved[i] = advanced(stars[i]);
    atomicAdd(&counted[i % 2].bright, moved[i].bright ? 1 : 0);
    atomicAdd(&counted[i % 2].mass, moved[i].mass);
  }
}
