#pragma once
/// __nv_fp8_e4m3, __nv_fp8_e5m2 and __nv_fp8_e8m0, their pairs and quadruples, in software. CUDA Math API, "FP8
/// Intrinsics".

#include "numbers/smallest_float.h"

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t format) {
  const bool is_e5m2 = format == __NV_E5M2;
  // Half a place beyond the largest number is rounded to even, which only e4m3's largest number is.
  const bool overflows = is_e5m2 ? fabsf(x) >= 61440.0f : fabsf(x) > 464.0f;
  if (overflows && saturation == __NV_NOSAT)
    return static_cast<__nv_fp8_storage_t>((is_e5m2 ? 0x7c : 0x7f) | (x < 0 ? 0x80 : 0));
  return is_e5m2 ? tuner::fill_value::e5m2_bits(x) : tuner::fill_value::e4m3_bits(x);
}

namespace tuner_host {

inline float fp8_value(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return format == __NV_E5M2 ? tuner::fill_value::e5m2_value(x) : tuner::fill_value::e4m3_value(x);
}
template <typename T>
__nv_fp8x2_storage_t fp8_pair(T x, T y, __nv_saturation_t saturation, __nv_fp8_interpretation_t format) {
  const unsigned low = __nv_cvt_float_to_fp8(small_source(x), saturation, format),
                 high = __nv_cvt_float_to_fp8(small_source(y), saturation, format);
  return static_cast<__nv_fp8x2_storage_t>(low | high << 8);
}

}  // namespace tuner_host

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(tuner_host::narrow(x), saturation, format);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                                                  __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__half(x), saturation, format);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__nv_bfloat16(x), saturation, format);
}
#define TUNER_HOST_TO_FP8X2(name, Pair, Two)                                                                    \
  inline __nv_fp8x2_storage_t name(Pair pair, __nv_saturation_t saturation, __nv_fp8_interpretation_t format) { \
    const Two both = pair;                                                                                      \
    return tuner_host::fp8_pair(both.x, both.y, saturation, format);                                            \
  }
TUNER_HOST_TO_FP8X2(__nv_cvt_float2_to_fp8x2, float2, float2)
TUNER_HOST_TO_FP8X2(__nv_cvt_double2_to_fp8x2, double2, double2)
TUNER_HOST_TO_FP8X2(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __half2)
TUNER_HOST_TO_FP8X2(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, __nv_bfloat162)
#undef TUNER_HOST_TO_FP8X2
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return __half(tuner_host::fp8_value(x, format));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t format) {
  return __half2{__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), format),
                 __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format)};
}

/// A scale factor is a power of two: its exponent.
inline __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturation, cudaRoundMode rounding) {
  const unsigned bits = tuner::fill_value::float_bits(x) & 0x7fffffffu;
  const unsigned exponent = rounding == cudaRoundZero ? bits >> 23 : tuner::fill_value::e8m0_bits(x);
  const bool saturates = saturation == __NV_SATFINITE && bits <= 0x7f800000u;
  if (!saturates && bits > 0x7f000000u && rounding != cudaRoundZero) return 0xff;
  return static_cast<__nv_fp8_storage_t>(saturates && exponent == 0xffu ? 0xfeu : exponent);
}
inline __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturation, cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(tuner_host::narrow(x), saturation, rounding);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                                                       cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(__nv_bfloat16(x), saturation, rounding);
}
inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return __nv_bfloat16(tuner::fill_value::e8m0_value(x));
}

TUNER_HOST_SMALL_FLOAT(__nv_fp8, e4m3, 8, unsigned short, unsigned)
TUNER_HOST_SMALL_FLOAT(__nv_fp8, e5m2, 8, unsigned short, unsigned)
TUNER_HOST_SMALL_FLOAT(__nv_fp8, e8m0, 8, unsigned short, unsigned)
