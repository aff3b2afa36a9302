// Instructions on the bytes and halves of a word, beside loops over them.
#pragma tuner kernel    byte_lanes
#pragma tuner size      n : int = 2000
#pragma tuner parameter threads = 64 128
#pragma tuner in        x[n] : uint32
#pragma tuner in        y[n] : uint32
#pragma tuner fill      x = uniform 0 4294967295
#pragma tuner fill      y = uniform 0 4294967295
#pragma tuner out       result[n] : uint64
#pragma tuner arguments x, y, result, n
#pragma tuner block     threads
#pragma tuner grid      ceil_div(n, threads)
#pragma tuner reference byte_lanes_reference

__device__ unsigned long long mixed(unsigned long long all, unsigned value) { return (all ^ value) * 1099511628211ull; }

extern "C" __global__ void byte_lanes(const unsigned* x, const unsigned* y, unsigned long long* result, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = x[i], b = i % 3 == 0 ? a ^ (y[i] & 0xff00ffu) : y[i];
  const unsigned all[] = {
      __vabs4(a), __vabsss4(a | 0x80u), __vneg4(a), __vnegss4(a | 0x80u), __vadd4(a, b), __vaddss4(a, b), __vaddus4(a, b),
      __vsub4(a, b), __vsubss4(a, b), __vsubus4(a, b), __vavgs4(a, b), __vavgu4(a, b), __vhaddu4(a, b), __vmaxs4(a, b),
      __vmaxu4(a, b), __vmins4(a, b), __vminu4(a, b), __vabsdiffs4(a, b), __vabsdiffu4(a, b), __vsads4(a, b),
      __vsadu4(a, b), __vcmpeq4(a, b), __vcmpne4(a, b), __vcmpges4(a, b), __vcmpgtu4(a, b), __vsetles4(a, b),
      __vsetltu4(a, b), __vabs2(a), __vabsss2(a), __vneg2(a), __vnegss2(a), __vadd2(a, b), __vaddss2(a, b),
      __vaddus2(a, b), __vsub2(a, b), __vsubss2(a, b), __vsubus2(a, b), __vavgs2(a, b), __vavgu2(a, b), __vhaddu2(a, b),
      __vmaxs2(a, b), __vmaxu2(a, b), __vmins2(a, b), __vminu2(a, b), __vabsdiffs2(a, b), __vabsdiffu2(a, b),
      __vsads2(a, b), __vsadu2(a, b), __vcmpeq2(a, b), __vcmpne2(a, b), __vcmpgeu2(a, b), __vcmpgts2(a, b),
      __vsetleu2(a, b), __vsetlts2(a, b), __dp2a_lo(a, b, 7u), __dp2a_hi(a, b, 7u),
      (unsigned)__dp2a_lo((int)a, (int)b, -7), (unsigned)__dp2a_hi((int)a, (int)b, -7)};
  unsigned long long mix = 1469598103934665603ull;
  for (unsigned one : all) mix = mixed(mix, one);
  result[i] = mix;
}

enum Work {
  absolute, absolute_ss, negative, negative_ss, add, add_ss, add_us, sub, sub_ss, sub_us, average_s, average_u, half_u,
  max_s, max_u, min_s, min_u, difference_s, difference_u, sum_s, sum_u, equal, unequal, fourth, fifth, sixth, seventh, works
};

/// The work with this number on lanes of some bits.
__device__ unsigned lanes(int work, unsigned bits, unsigned a, unsigned b) {
  const int most = (1 << bits) - 1, top = 1 << (bits - 1);
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += bits) {
    const int u = (a >> at) & most, v = (b >> at) & most, s = u < top ? u : u - most - 1, t = v < top ? v : v - most - 1;
    int r = 0;
    switch (work) {
      case absolute: r = abs(s); break;
      case absolute_ss: r = min(abs(s), top - 1); break;
      case negative: r = -s; break;
      case negative_ss: r = min(-s, top - 1); break;
      case add: r = u + v; break;
      case add_ss: r = max(min(s + t, top - 1), -top); break;
      case add_us: r = min(u + v, most); break;
      case sub: r = u - v; break;
      case sub_ss: r = max(min(s - t, top - 1), -top); break;
      case sub_us: r = max(u - v, 0); break;
      case average_s: r = (s + t + (s + t >= 0 ? 1 : -1)) / 2; break;  // halves away from zero
      case average_u: r = (u + v + 1) / 2; break;
      case half_u: r = (u + v) / 2; break;
      case max_s: r = max(s, t); break;
      case max_u: r = max(u, v); break;
      case min_s: r = min(s, t); break;
      case min_u: r = min(u, v); break;
      case difference_s: r = abs(s - t); break;
      case difference_u: r = abs(u - v); break;
      case sum_s: result += abs(s - t); continue;
      case sum_u: result += abs(u - v); continue;
      case equal: r = u == v ? -1 : 0; break;
      case unequal: r = u != v ? -1 : 0; break;
      case fourth: r = (bits == 8 ? s >= t : u >= v) ? -1 : 0; break;
      case fifth: r = (bits == 8 ? u > v : s > t) ? -1 : 0; break;
      case sixth: r = bits == 8 ? s <= t : u <= v; break;
      case seventh: r = bits == 8 ? u < v : s < t; break;
    }
    result |= (unsigned)(r & most) << at;
  }
  return result;
}

extern "C" __global__ void byte_lanes_reference(const unsigned* x, const unsigned* y, unsigned long long* result, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = x[i], b = i % 3 == 0 ? a ^ (y[i] & 0xff00ffu) : y[i];
  unsigned long long mix = 1469598103934665603ull;
  for (int bits = 8; bits <= 16; bits += 8)
    for (int work = 0; work < works; ++work)
      mix = mixed(mix, lanes(work, bits, bits == 8 && (work == absolute_ss || work == negative_ss) ? a | 0x80u : a, b));
  for (int half = 0; half < 2; ++half) {
    const unsigned c = b >> (16 * half);
    mix = mixed(mix, 7u + (a & 0xffffu) * (c & 255u) + (a >> 16) * (c >> 8 & 255u));
  }
  for (int half = 0; half < 2; ++half) {
    const unsigned c = b >> (16 * half);
    mix = mixed(mix, (unsigned)(-7 + (short)a * (signed char)c + (short)(a >> 16) * (signed char)(c >> 8)));
  }
  result[i] = mix;
}
