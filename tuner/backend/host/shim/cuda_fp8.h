#pragma once
/// __nv_fp8_e4m3 and __nv_fp8_e5m2, their pairs and quadruples, in software. CUDA Math API, "FP8 Intrinsics". They are
/// converted and have no arithmetic, as on a GPU.

#include <limits>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;

/// Pairs as storage.
#define TUNER_HOST_RAW_PAIR(T2, T, raw)                            \
  struct __attribute__((aligned(4))) raw {                         \
    unsigned short x, y;                                           \
    raw() = default;                                               \
    raw(T2 pair) : x(pair.x.bits), y(pair.y.bits) {}               \
    operator T2() const { return {T(T##_raw{x}), T(T##_raw{y})}; } \
  };
TUNER_HOST_RAW_PAIR(__half2, __half, __half2_raw)
TUNER_HOST_RAW_PAIR(__nv_bfloat162, __nv_bfloat16, __nv_bfloat162_raw)
#undef TUNER_HOST_RAW_PAIR

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

template <typename T>
float fp8_source(T value) {
  if constexpr (std::is_same_v<T, double>)
    return narrow(value);
  else
    return static_cast<float>(value);
}
inline float fp8_value(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return format == __NV_E5M2 ? tuner::fill_value::e5m2_value(x) : tuner::fill_value::e4m3_value(x);
}
/// Numbers that the integer type cannot hold become the nearest that it can, and NaN 0.
template <typename T>
T fp8_integer(float value) {
  using Limits = std::numeric_limits<T>;
  if (value != value) return 0;
  if (value <= static_cast<float>(Limits::min())) return Limits::min();
  if (value >= static_cast<float>(Limits::max())) return Limits::max();
  return static_cast<T>(value);
}
template <typename T>
__nv_fp8x2_storage_t fp8_pair(T x, T y, __nv_saturation_t saturation, __nv_fp8_interpretation_t format) {
  const unsigned low = __nv_cvt_float_to_fp8(fp8_source(x), saturation, format),
                 high = __nv_cvt_float_to_fp8(fp8_source(y), saturation, format);
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

#define TUNER_HOST_FP8(name, format)                                                                           \
  struct __nv_fp8_##name {                                                                                     \
    __nv_fp8_storage_t __x;                                                                                    \
                                                                                                               \
    __nv_fp8_##name() = default;                                                                               \
    template <typename T>                                                                                      \
    explicit __nv_fp8_##name(T value)                                                                          \
        : __x(__nv_cvt_float_to_fp8(tuner_host::fp8_source(value), __NV_SATFINITE, format)) {}                 \
    explicit operator float() const { return tuner_host::fp8_value(__x, format); }                             \
    explicit operator double() const { return static_cast<float>(*this); }                                     \
    explicit operator __half() const { return static_cast<float>(*this); }                                     \
    explicit operator __nv_bfloat16() const { return static_cast<float>(*this); }                              \
    explicit operator bool() const { return (__x & 0x7f) != 0; }                                               \
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>                                    \
    explicit operator T() const {                                                                              \
      return tuner_host::fp8_integer<T>(static_cast<float>(*this));                                            \
    }                                                                                                          \
  };                                                                                                           \
  struct __attribute__((aligned(2))) __nv_fp8x2_##name {                                                       \
    __nv_fp8x2_storage_t __x;                                                                                  \
                                                                                                               \
    __nv_fp8x2_##name() = default;                                                                             \
    template <typename T2>                                                                                     \
    explicit __nv_fp8x2_##name(T2 pair) : __x(tuner_host::fp8_pair(pair.x, pair.y, __NV_SATFINITE, format)) {} \
    explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, format); }                      \
    explicit operator float2() const {                                                                         \
      return {tuner_host::fp8_value(static_cast<__nv_fp8_storage_t>(__x), format),                             \
              tuner_host::fp8_value(static_cast<__nv_fp8_storage_t>(__x >> 8), format)};                       \
    }                                                                                                          \
  };                                                                                                           \
  struct __attribute__((aligned(4))) __nv_fp8x4_##name {                                                       \
    __nv_fp8x4_storage_t __x;                                                                                  \
                                                                                                               \
    __nv_fp8x4_##name() = default;                                                                             \
    template <typename T4>                                                                                     \
    explicit __nv_fp8x4_##name(T4 four)                                                                        \
        : __x(tuner_host::fp8_pair(four.x, four.y, __NV_SATFINITE, format) |                                   \
              static_cast<unsigned>(tuner_host::fp8_pair(four.z, four.w, __NV_SATFINITE, format)) << 16) {}    \
    template <typename T2>                                                                                     \
    explicit __nv_fp8x4_##name(T2 low, T2 high)                                                                \
        : __x(tuner_host::fp8_pair(low.x, low.y, __NV_SATFINITE, format) |                                     \
              static_cast<unsigned>(tuner_host::fp8_pair(high.x, high.y, __NV_SATFINITE, format)) << 16) {}    \
    explicit operator float4() const {                                                                         \
      __nv_fp8x2_##name low, high;                                                                             \
      low.__x = static_cast<__nv_fp8x2_storage_t>(__x);                                                        \
      high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);                                                 \
      const float2 xy = static_cast<float2>(low), zw = static_cast<float2>(high);                              \
      return {xy.x, xy.y, zw.x, zw.y};                                                                         \
    }                                                                                                          \
  };
TUNER_HOST_FP8(e4m3, __NV_E4M3)
TUNER_HOST_FP8(e5m2, __NV_E5M2)
#undef TUNER_HOST_FP8
