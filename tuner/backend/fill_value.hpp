#pragma once
/// The numbers that inputs are filled with. Element i of a fill depends only on (seed, i) and has the same bits on
/// every backend. Plain C++ without includes, because NVRTC compiles the same text for a GPU. Each element is one
/// number of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
///
/// A host file that includes this is compiled with -ffp-contract=off: a fused multiply-add would round differently.

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TUNER_FILL_FUNCTION __host__ __device__ inline
#else
#define TUNER_FILL_FUNCTION inline
#endif

namespace tuner::fill_value {

using Bits = unsigned long long;  // 64 bits on every platform of interest

TUNER_FILL_FUNCTION Bits splitmix64(Bits x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// \p low + (\p high - \p low) * u, with u uniform in [0, 1) and 53 bits. Each operation is rounded separately.
TUNER_FILL_FUNCTION double uniform(Bits seed, Bits i, double low, double high) {
  const Bits u = splitmix64(seed ^ splitmix64(i));
  const double unit = static_cast<double>(u >> 11) * 0x1p-53;  // exact
#if defined(__CUDA_ARCH__)
  return __dadd_rn(low, __dmul_rn(__dadd_rn(high, -low), unit));
#else
  return low + (high - low) * unit;
#endif
}

/// The largest integer not above \p value, clamped to the range of the 64-bit type; NaN gives 0.
TUNER_FILL_FUNCTION long long floor_signed(double value) {
  if (!(value >= -0x1p63)) return value < 0 ? (-0x7fffffffffffffffLL - 1) : 0;
  if (value >= 0x1p63) return 0x7fffffffffffffffLL;
  const long long truncated = static_cast<long long>(value);
  return static_cast<double>(truncated) > value ? truncated - 1 : truncated;
}
TUNER_FILL_FUNCTION Bits floor_unsigned(double value) {
  if (!(value >= 0)) return static_cast<Bits>(floor_signed(value));
  if (value >= 0x1p64) return ~0ULL;
  return static_cast<Bits>(value);
}

TUNER_FILL_FUNCTION unsigned float_bits(float value) {
  unsigned bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
TUNER_FILL_FUNCTION float float_of(unsigned bits) {
  float value = 0;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// IEEE binary16 of \p value, rounded to nearest even; overflow is infinity, NaN is quiet.
TUNER_FILL_FUNCTION unsigned short half_bits(float value) {
  const unsigned bits = float_bits(value);
  const unsigned sign = (bits >> 16) & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // 65520 and above
  if (magnitude >= 0x38800000u) {                                                    // normal: 2^-14 and above
    const unsigned rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<unsigned short>(sign | ((rounded - 0x38000000u) >> 13));
  }
  if (magnitude <= 0x33000000u) return static_cast<unsigned short>(sign);  // 2^-25 ties to zero
  const unsigned shift = 126u - (magnitude >> 23);                         // units of 2^-24
  const unsigned mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const unsigned half_unit = (1u << (shift - 1u)) - 1u;
  return static_cast<unsigned short>(sign | ((mantissa + half_unit + ((mantissa >> shift) & 1u)) >> shift));
}
TUNER_FILL_FUNCTION float half_value(unsigned short half) {
  const unsigned sign = (half & 0x8000u) << 16;
  const unsigned exponent = (half >> 10) & 0x1fu;
  const unsigned mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return float_of(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float subnormal = static_cast<float>(mantissa) * 0x1p-24f;  // exact
  return sign != 0 ? -subnormal : subnormal;
}

/// bfloat16 of \p value, rounded to nearest even; NaN is quiet.
TUNER_FILL_FUNCTION unsigned short bfloat16_bits(float value) {
  const unsigned bits = float_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>((bits >> 16) | 0x40u);
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
TUNER_FILL_FUNCTION float bfloat16_value(unsigned short bits) { return float_of(static_cast<unsigned>(bits) << 16); }

/// tf32 of \p value in the bits of a float, rounded to nearest even; NaN is quiet.
TUNER_FILL_FUNCTION unsigned tf32_bits(float value) {
  const unsigned bits = float_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return bits | 0x400000u;
  return (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
}

/// A type of 8, 6 or 4 bits: its bits of fraction, the bias of its exponent, its largest number, its sign's bit, and
/// the bits that NaN becomes.
struct SmallFormat {
  unsigned fraction, bias, largest, sign, nan;
};
TUNER_FILL_FUNCTION SmallFormat e4m3_format() { return {3, 7, 0x7e, 0x80, 0x7f}; }
TUNER_FILL_FUNCTION SmallFormat e3m2_format() { return {2, 3, 0x1f, 0x20, 0x1f}; }
TUNER_FILL_FUNCTION SmallFormat e2m3_format() { return {3, 1, 0x1f, 0x20, 0x1f}; }
TUNER_FILL_FUNCTION SmallFormat e2m1_format() { return {1, 1, 7, 8, 7}; }
/// \p value in \p format: rounded to nearest even. Larger magnitudes and infinities become the largest number, as
/// PTX's `cvt.rn.satfinite` has it.
TUNER_FILL_FUNCTION unsigned char small_bits(float value, SmallFormat format) {
  const unsigned sign = float_bits(value) >> 31 != 0 ? format.sign : 0;
  const unsigned magnitude = float_bits(value) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned char>(format.nan);
  const unsigned dropped = 23u - format.fraction;
  unsigned rounded = 0;
  if (magnitude >= (128u - format.bias) << 23) {  // normal
    const unsigned half_unit = (1u << (dropped - 1u)) - 1u + ((magnitude >> dropped) & 1u);
    rounded = (magnitude - ((127u - format.bias) << 23) + half_unit) >> dropped;
  } else {  // a multiple of the smallest number, which is the last place of this one
    const unsigned shifted = (128u - format.bias + dropped) << 23;
    rounded = float_bits(float_of(magnitude) + float_of(shifted)) - shifted;
  }
  return static_cast<unsigned char>(sign | (rounded < format.largest ? rounded : format.largest));
}
/// The finite number with these \p bits. Bits above the sign have no meaning.
TUNER_FILL_FUNCTION float small_value(unsigned char bits, SmallFormat format) {
  const unsigned sign = (bits & format.sign) != 0 ? 0x80000000u : 0;
  const unsigned magnitude = bits & (format.sign - 1u), dropped = 23u - format.fraction;
  if (magnitude >> format.fraction != 0)
    return float_of(sign | ((magnitude << dropped) + ((127u - format.bias) << 23)));
  const float step = float_of((128u - format.bias - format.fraction) << 23);
  const float subnormal = static_cast<float>(magnitude) * step;  // exact
  return sign != 0 ? -subnormal : subnormal;
}
TUNER_FILL_FUNCTION unsigned char e4m3_bits(float value) { return small_bits(value, e4m3_format()); }
TUNER_FILL_FUNCTION unsigned char e5m2_bits(float value) { return small_bits(value, {2, 15, 0x7b, 0x80, 0x7f}); }
TUNER_FILL_FUNCTION unsigned char e3m2_bits(float value) { return small_bits(value, e3m2_format()); }
TUNER_FILL_FUNCTION unsigned char e2m3_bits(float value) { return small_bits(value, e2m3_format()); }
TUNER_FILL_FUNCTION unsigned char e2m1_bits(float value) { return small_bits(value, e2m1_format()); }
TUNER_FILL_FUNCTION float e4m3_value(unsigned char bits) {
  if ((bits & 0x7fu) == 0x7fu) return float_of((bits & 0x80u) << 24 | 0x7fc00000u);
  return small_value(bits, e4m3_format());
}
/// e5m2 is the first byte of a half.
TUNER_FILL_FUNCTION float e5m2_value(unsigned char bits) { return half_value(static_cast<unsigned short>(bits << 8)); }
TUNER_FILL_FUNCTION float e3m2_value(unsigned char bits) { return small_value(bits, e3m2_format()); }
TUNER_FILL_FUNCTION float e2m3_value(unsigned char bits) { return small_value(bits, e2m3_format()); }
TUNER_FILL_FUNCTION float e2m1_value(unsigned char bits) { return small_value(bits, e2m1_format()); }

/// The power of two that is not below the magnitude of \p value, as PTX's `cvt.rp.satfinite.ue8m0x2` has it.
TUNER_FILL_FUNCTION unsigned char e8m0_bits(float value) {
  const unsigned magnitude = float_bits(value) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0xff;
  if (magnitude <= 0x400000u) return 0;  // 2^-127, the smallest
  const unsigned rounded = (magnitude + 0x7fffffu) >> 23;
  return static_cast<unsigned char>(rounded < 0xfeu ? rounded : 0xfeu);
}
TUNER_FILL_FUNCTION float e8m0_value(unsigned char bits) {
  if (bits == 0xffu) return float_of(0x7fffffffu);
  return bits == 0 ? 0x1p-127f : float_of(static_cast<unsigned>(bits) << 23);
}

/// Whether \p actual differs from \p expected by more than the tolerance (core/kernel/buffer_contents.hpp). NaN always
/// differs; infinities must be equal.
TUNER_FILL_FUNCTION bool differs(double actual, double expected, double relative, double absolute, bool is_place) {
  if (actual == expected) return false;
  const double error = actual < expected ? expected - actual : actual - expected;
  const double size = expected < 0 ? -expected : expected, other = actual < 0 ? -actual : actual;
  if (!(size < __builtin_huge_val()) || !(error < __builtin_huge_val())) return true;
  if (!is_place) return !(error <= absolute + relative * size);
  const double place = relative * (other < size ? other : size);
  return !(error <= (place < absolute ? absolute : place));
}

/// |actual - expected| / |expected|; 0 if they are equal, infinity if the quotient is not finite.
TUNER_FILL_FUNCTION double relative_error(double actual, double expected) {
  if (actual == expected) return 0;
  const double error = actual < expected ? expected - actual : actual - expected;
  const double size = expected < 0 ? -expected : expected;
  if (!(size > 0) || !(size < __builtin_huge_val()) || !(error < __builtin_huge_val())) return __builtin_huge_val();
  return error / size;
}

}  // namespace tuner::fill_value

// The numbers of each kind of Fill (core/kernel/buffer_contents.hpp):
//
//   uniform   uniform(seed, i, low, high). Floating types round it; those other than float and double after rounding
//             to float. Integers are floor_signed or floor_unsigned of it, truncated to the width of the type.
//
//   constant  low, converted in the same way.
//
//   iota      i. Floating types round it from double, those other than float and double through float. Integers are i
//             modulo 2^bits.
//
// Element i of e2m1x2 holds numbers 2i and 2i + 1 of e2m1, the first in the lower bits.
