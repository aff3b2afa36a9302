#pragma once
/// std::numeric_limits of __half and __nv_bfloat16, as headers/limits of the CUDA backend has them. Included if a text
/// uses such limits and does not define its own.
#include <limits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#define TUNER_HOST_LIMITS(T, fraction, exponent)                                                                 \
  template <>                                                                                                    \
  struct std::numeric_limits<T> {                                                                                \
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false,         \
                          has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true, is_iec559 = true, \
                          is_bounded = true, is_modulo = false;                                                  \
    static constexpr int radix = 2, digits = fraction + 1, digits10 = fraction * 301 / 1000,                     \
                         max_digits10 = 2 + (fraction + 1) * 301 / 1000, max_exponent = 1 << (exponent - 1),     \
                         min_exponent = 3 - max_exponent;                                                        \
    static constexpr T from(int bits) { return T(T##_raw{static_cast<unsigned short>(bits)}); }                  \
    static constexpr T min() { return from(1 << fraction); }                                                     \
    static constexpr T max() { return from((((1 << exponent) - 1) << fraction) - 1); }                           \
    static constexpr T lowest() { return from(0x8000 | ((((1 << exponent) - 1) << fraction) - 1)); }             \
    static constexpr T epsilon() { return from(((1 << (exponent - 1)) - 1 - fraction) << fraction); }            \
    static constexpr T round_error() { return from(((1 << (exponent - 1)) - 2) << fraction); }                   \
    static constexpr T infinity() { return from(((1 << exponent) - 1) << fraction); }                            \
    static constexpr T quiet_NaN() { return from((((1 << exponent) - 1) << fraction) | (1 << (fraction - 1))); } \
    static constexpr T denorm_min() { return from(1); }                                                          \
  };
TUNER_HOST_LIMITS(__half, 10, 5)
TUNER_HOST_LIMITS(__nv_bfloat16, 7, 8)
#undef TUNER_HOST_LIMITS
