#pragma once
#pragma nv_diag_suppress 47  // the toolkit defines the same macros with other texts
// NVRTC itself knows the functions of float and double. As in ISO C++17, integers count as double.
#include <type_traits>
#define TUNER_UNARY(name)                                                                                        \
  template <typename T>                                                                                          \
  __host__ __device__ inline std::enable_if_t<std::is_integral<T>::value, double> name(T x) {                    \
    return ::name(static_cast<double>(x));                                                                       \
  }
#define TUNER_BINARY(name)                                                                                       \
  template <typename T, typename U>                                                                              \
  __host__ __device__ inline std::enable_if_t<std::is_arithmetic<T>::value && std::is_arithmetic<U>::value &&    \
                                                  (std::is_integral<T>::value || !std::is_same<T, U>::value),    \
                                              double>                                                            \
  name(T x, U y) {                                                                                               \
    return ::name(static_cast<double>(x), static_cast<double>(y));                                               \
  }
TUNER_UNARY(sqrt)
TUNER_UNARY(exp)
TUNER_UNARY(exp2)
TUNER_UNARY(log)
TUNER_UNARY(log2)
TUNER_UNARY(log10)
TUNER_UNARY(sin)
TUNER_UNARY(cos)
TUNER_UNARY(tan)
TUNER_UNARY(tanh)
TUNER_UNARY(floor)
TUNER_UNARY(ceil)
TUNER_UNARY(round)
TUNER_UNARY(fabs)
TUNER_UNARY(acos)
TUNER_UNARY(acosh)
TUNER_UNARY(asin)
TUNER_UNARY(asinh)
TUNER_UNARY(atan)
TUNER_UNARY(atanh)
TUNER_UNARY(cbrt)
TUNER_UNARY(cosh)
TUNER_UNARY(erf)
TUNER_UNARY(erfc)
TUNER_UNARY(expm1)
TUNER_UNARY(lgamma)
TUNER_UNARY(log1p)
TUNER_UNARY(logb)
TUNER_UNARY(nearbyint)
TUNER_UNARY(rint)
TUNER_UNARY(sinh)
TUNER_UNARY(tgamma)
TUNER_UNARY(trunc)
TUNER_BINARY(pow)
TUNER_BINARY(fmod)
TUNER_BINARY(fmax)
TUNER_BINARY(fmin)
TUNER_BINARY(atan2)
TUNER_BINARY(hypot)
TUNER_BINARY(copysign)
TUNER_BINARY(fdim)
TUNER_BINARY(nextafter)
TUNER_BINARY(remainder)
#undef TUNER_UNARY
#undef TUNER_BINARY
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.434294481903251827651
#define M_LN2 0.693147180559945309417
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.785398163397448309616
#define M_1_PI 0.318309886183790671538
#define M_2_PI 0.636619772367581343076
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.707106781186547524401
#ifndef INFINITY
#define INFINITY (__builtin_bit_cast(float, 0x7f800000))
#endif
#ifndef NAN
#define NAN (__builtin_bit_cast(float, 0x7fc00000))
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#endif
#ifndef HUGE_VAL
#define HUGE_VAL (static_cast<double>(INFINITY))
#endif
