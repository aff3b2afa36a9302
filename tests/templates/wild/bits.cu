#pragma tuner kernel    bits
#pragma tuner type      T = unsigned
#pragma tuner size      n : int = 2000
#pragma tuner parameter threads = 64 128
#pragma tuner in        x[n]
#pragma tuner fill      x = uniform 0 4000000000
#pragma tuner out       y[n]
#pragma tuner arguments x, y, n
#pragma tuner block     threads
#pragma tuner grid      ceil_div(n, threads)
#pragma tuner instantiate bits
#pragma tuner reference bits_reference
#include <climits>
#include <stdbool.h>
#include <stdint.h>

typedef union {
  uint32_t whole;
  struct {
    uint8_t b0, b1, b2, b3;
  } part;
} Word;

extern "C" __global__ void bits(const uint32_t* __restrict__ x, uint32_t* __restrict__ y, const int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t v = x[i];
  uint32_t r = __popc(v) + 3 * __clz(v) + 5 * __ffs(v) + __brev(v);
  r ^= __funnelshift_l(v, ~v, 7) + __funnelshift_r(v, ~v, 9) + __byte_perm(v, ~v, 0x2617);
  r += __umulhi(v, 0x9e3779b9u) + max((int)(v >> 1), 17u) + __popcll((uint64_t)v << 32 | r) + (v == UINT_MAX);
  Word w;
  w.whole = r;
  y[i] = r + w.part.b3;
}

extern "C" __global__ void bits_reference(const uint32_t* x, uint32_t* y, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t v = x[i], low = v, high = ~v;
  uint32_t ones = 0, leading = 32, first = 0, turned = 0;
  for (int b = 0; b < 32; ++b) {
    if ((v >> b & 1) == 0) continue;
    ++ones;
    leading = 31 - b;
    if (first == 0) first = b + 1;
    turned |= 1u << (31 - b);
  }
  uint32_t r = ones + 3 * leading + 5 * first + turned;
  const uint64_t both = (uint64_t)high << 32 | low;
  r ^= (uint32_t)(both << 7 >> 32) + (uint32_t)(both >> 9) +
       ((uint32_t)(both >> 56 & 255) | (uint32_t)(both >> 8 & 255) << 8 | (uint32_t)(both >> 48 & 255) << 16 |
        (uint32_t)(both >> 16 & 255) << 24);
  r += (uint32_t)((uint64_t)v * 0x9e3779b9u >> 32) + (v >> 1 > 17 ? v >> 1 : 17) + ones + (v == 0xffffffffu);
  for (uint32_t rest = r - ((uint32_t)((uint64_t)v * 0x9e3779b9u >> 32) + (v >> 1 > 17 ? v >> 1 : 17) + ones +
                            (v == 0xffffffffu));
       rest != 0; rest &= rest - 1)
    ++r;
  y[i] = r + (r >> 24);
}
