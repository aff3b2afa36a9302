#pragma once
/// Floating types of 8, 6 and 4 bits, their pairs and quadruples, in software. They are converted and have no
/// arithmetic, as on a GPU.

#include <limits>
#include <type_traits>

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

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

namespace tuner_host {

template <typename T>
float small_source(T value) {
  if constexpr (std::is_same_v<T, double>)
    return narrow(value);
  else
    return static_cast<float>(value);
}
/// Numbers that the integer type cannot hold become the nearest that it can, and NaN 0.
template <typename T>
T small_integer(float value) {
  using Limits = std::numeric_limits<T>;
  if (value != value) return 0;
  if (value <= static_cast<float>(Limits::min())) return Limits::min();
  if (value >= static_cast<float>(Limits::max())) return Limits::max();
  return static_cast<T>(value);
}
/// \p bits are nearest to \p x and mean \p value. For cudaRoundZero, those of the next number nearer to zero if
/// \p value is farther from zero than \p x.
inline unsigned char toward_zero(unsigned char bits, float value, float x, cudaRoundMode rounding) {
  return static_cast<unsigned char>(rounding == cudaRoundZero && fabsf(value) > fabsf(x) ? bits - 1 : bits);
}

}  // namespace tuner_host

/// prefix_name, prefixx2_name and prefixx4_name; the first number of several is in the lowest bits. T2 and T4 hold two
/// and four numbers of so many bits.
#define TUNER_HOST_SMALL_FLOAT(prefix, name, bits, T2, T4)                                                       \
  struct prefix##_##name {                                                                                       \
    unsigned char __x;                                                                                           \
                                                                                                                 \
    prefix##_##name() = default;                                                                                 \
    template <typename T>                                                                                        \
    explicit prefix##_##name(T value) : __x(tuner::fill_value::name##_bits(tuner_host::small_source(value))) {}  \
    explicit operator float() const { return tuner::fill_value::name##_value(__x); }                             \
    explicit operator double() const { return static_cast<float>(*this); }                                       \
    explicit operator __half() const { return static_cast<float>(*this); }                                       \
    explicit operator __nv_bfloat16() const { return static_cast<float>(*this); }                                \
    explicit operator bool() const { return static_cast<float>(*this) != 0; }                                    \
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>                                      \
    explicit operator T() const {                                                                                \
      return tuner_host::small_integer<T>(static_cast<float>(*this));                                            \
    }                                                                                                            \
  };                                                                                                             \
  struct __attribute__((aligned(sizeof(T2)))) prefix##x2_##name {                                                \
    T2 __x;                                                                                                      \
                                                                                                                 \
    prefix##x2_##name() = default;                                                                               \
    template <typename Pair>                                                                                     \
    explicit prefix##x2_##name(Pair pair)                                                                        \
        : __x(static_cast<T2>(prefix##_##name(pair.x).__x | prefix##_##name(pair.y).__x << bits)) {}             \
    explicit operator float2() const {                                                                           \
      prefix##_##name low, high;                                                                                 \
      low.__x = static_cast<unsigned char>(__x & ((1u << bits) - 1u));                                           \
      high.__x = static_cast<unsigned char>(__x >> bits);                                                        \
      return {static_cast<float>(low), static_cast<float>(high)};                                                \
    }                                                                                                            \
    explicit operator __half2() const {                                                                          \
      const float2 both = static_cast<float2>(*this);                                                            \
      return {__half(both.x), __half(both.y)};                                                                   \
    }                                                                                                            \
    explicit operator __nv_bfloat162() const {                                                                   \
      const float2 both = static_cast<float2>(*this);                                                            \
      return {__nv_bfloat16(both.x), __nv_bfloat16(both.y)};                                                     \
    }                                                                                                            \
  };                                                                                                             \
  struct __attribute__((aligned(sizeof(T4)))) prefix##x4_##name {                                                \
    T4 __x;                                                                                                      \
                                                                                                                 \
    prefix##x4_##name() = default;                                                                               \
    template <typename Pair>                                                                                     \
    explicit prefix##x4_##name(Pair low, Pair high)                                                              \
        : __x(static_cast<T4>(prefix##x2_##name(low).__x | static_cast<T4>(prefix##x2_##name(high).__x)          \
                                                               << (2 * bits))) {}                                \
    explicit prefix##x4_##name(float4 all) : prefix##x4_##name(float2{all.x, all.y}, float2{all.z, all.w}) {}    \
    explicit prefix##x4_##name(double4 all) : prefix##x4_##name(double2{all.x, all.y}, double2{all.z, all.w}) {} \
    explicit operator float4() const {                                                                           \
      prefix##x2_##name low, high;                                                                               \
      low.__x = static_cast<T2>(__x);                                                                            \
      high.__x = static_cast<T2>(__x >> (2 * bits));                                                             \
      const float2 xy = static_cast<float2>(low), zw = static_cast<float2>(high);                                \
      return {xy.x, xy.y, zw.x, zw.y};                                                                           \
    }                                                                                                            \
  };

/// The conversions of cuda_fp6.h and cuda_fp4.h, which saturate: digits is 6 or 4. from(x, format, rounding) and
/// to(x, format) convert one number.
#define TUNER_HOST_SMALL_CONVERSIONS(digits, bits, T2, Format, from, to)                                              \
  using __nv_fp##digits##_storage_t = unsigned char;                                                                  \
  using __nv_fp##digits##x2_storage_t = T2;                                                                           \
  inline __nv_fp##digits##_storage_t __nv_cvt_float_to_fp##digits(float x, Format format, cudaRoundMode rounding) {   \
    return from(x, format, rounding);                                                                                 \
  }                                                                                                                   \
  inline __nv_fp##digits##_storage_t __nv_cvt_double_to_fp##digits(double x, Format format, cudaRoundMode rounding) { \
    return from(tuner_host::narrow(x), format, rounding);                                                             \
  }                                                                                                                   \
  inline __nv_fp##digits##_storage_t __nv_cvt_halfraw_to_fp##digits(__half_raw x, Format format,                      \
                                                                    cudaRoundMode rounding) {                         \
    return from(__half(x), format, rounding);                                                                         \
  }                                                                                                                   \
  inline __nv_fp##digits##_storage_t __nv_cvt_bfloat16raw_to_fp##digits(__nv_bfloat16_raw x, Format format,           \
                                                                        cudaRoundMode rounding) {                     \
    return from(__nv_bfloat16(x), format, rounding);                                                                  \
  }                                                                                                                   \
  template <typename Pair>                                                                                            \
  T2 tuner_host_fp##digits##_pair(Pair pair, Format format, cudaRoundMode rounding) {                                 \
    return static_cast<T2>(from(tuner_host::small_source(pair.x), format, rounding) |                                 \
                           from(tuner_host::small_source(pair.y), format, rounding) << bits);                         \
  }                                                                                                                   \
  inline T2 __nv_cvt_float2_to_fp##digits##x2(float2 x, Format format, cudaRoundMode rounding) {                      \
    return tuner_host_fp##digits##_pair(x, format, rounding);                                                         \
  }                                                                                                                   \
  inline T2 __nv_cvt_double2_to_fp##digits##x2(double2 x, Format format, cudaRoundMode rounding) {                    \
    return tuner_host_fp##digits##_pair(x, format, rounding);                                                         \
  }                                                                                                                   \
  inline T2 __nv_cvt_halfraw2_to_fp##digits##x2(__half2_raw x, Format format, cudaRoundMode rounding) {               \
    return tuner_host_fp##digits##_pair(static_cast<__half2>(x), format, rounding);                                   \
  }                                                                                                                   \
  inline T2 __nv_cvt_bfloat16raw2_to_fp##digits##x2(__nv_bfloat162_raw x, Format format, cudaRoundMode rounding) {    \
    return tuner_host_fp##digits##_pair(static_cast<__nv_bfloat162>(x), format, rounding);                            \
  }                                                                                                                   \
  inline __half_raw __nv_cvt_fp##digits##_to_halfraw(__nv_fp##digits##_storage_t x, Format format) {                  \
    return __half(to(x, format));                                                                                     \
  }                                                                                                                   \
  inline __half2_raw __nv_cvt_fp##digits##x2_to_halfraw2(T2 x, Format format) {                                       \
    return __half2{__half(to(static_cast<unsigned char>(x & ((1u << bits) - 1u)), format)),                           \
                   __half(to(static_cast<unsigned char>(x >> bits), format))};                                        \
  }
