#pragma once
/// __half and __nv_bfloat16 in software: the types, their pairs, conversions, operators and named functions. Internal
/// to cuda_fp16.h and cuda_bf16.h.

#include "../tuner_host.h"
#include "../fill_value.hpp"

namespace tuner_host {

/// \p value rounded to odd, as a float. If that is rounded to a shorter type, the result is the same as for \p value
/// itself. Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008.
inline float narrow(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || nearest != nearest) return nearest;
  unsigned bits = bits_as<unsigned>(nearest);
  if ((bits & 1u) != 0 || (bits & 0x7fffffffu) == 0x7f800000u) return nearest;
  const double magnitude = value < 0 ? -value : value,
               rounded = nearest < 0 ? -static_cast<double>(nearest) : static_cast<double>(nearest);
  bits = rounded > magnitude ? bits - 1u : bits + 1u;
  return bits_as<float>(bits);
}

}  // namespace tuner_host

// A type and its pair, with the conversions that have \p name in their names.
#define TUNER_HOST_SMALL_FLOAT_TYPE(T, T2, name)                                                        \
  struct T##_raw {                                                                                      \
    unsigned short x;                                                                                   \
  };                                                                                                    \
  struct T {                                                                                            \
    unsigned short bits;                                                                                \
                                                                                                        \
    T() = default;                                                                                      \
    T(float value) : bits(tuner::fill_value::name##_bits(value)) {}                                     \
    T(double value) : bits(tuner::fill_value::name##_bits(tuner_host::narrow(value))) {}                \
    T(int value) : T(static_cast<double>(value)) {}                                                     \
    T(unsigned value) : T(static_cast<double>(value)) {}                                                \
    T(long long value) : T(static_cast<float>(value)) {}                                                \
    T(unsigned long long value) : T(static_cast<float>(value)) {}                                       \
    T(short value) : T(static_cast<float>(value)) {}                                                    \
    T(unsigned short value) : T(static_cast<float>(value)) {}                                           \
    constexpr T(T##_raw raw) : bits(raw.x) {}                                                           \
    operator float() const { return tuner::fill_value::name##_value(bits); }                            \
    operator T##_raw() const { return {bits}; }                                                         \
  };                                                                                                    \
  struct __attribute__((aligned(4))) T2 {                                                               \
    T x, y;                                                                                             \
  };                                                                                                    \
  inline T __float2##name(float x) { return T(x); }                                                     \
  inline T __float2##name##_rn(float x) { return T(x); }                                                \
  /* The number on the other side of x, if the nearest is on the wrong one. Bits count magnitudes. */   \
  inline T __float2##name##_rz(float x) {                                                               \
    T near(x);                                                                                          \
    if (fabsf(static_cast<float>(near)) > fabsf(x)) near.bits -= 1;                                     \
    return near;                                                                                        \
  }                                                                                                     \
  inline T __float2##name##_rd(float x) {                                                               \
    T near(x);                                                                                          \
    const float value = static_cast<float>(near);                                                       \
    if (value > x) near.bits = value == 0 ? 0x8001 : near.bits + (value < 0 ? 1 : -1);                  \
    return near;                                                                                        \
  }                                                                                                     \
  inline T __float2##name##_ru(float x) {                                                               \
    T near(x);                                                                                          \
    const float value = static_cast<float>(near);                                                       \
    if (value < x) near.bits = value == 0 ? 0x0001 : near.bits + (value < 0 ? -1 : 1);                  \
    return near;                                                                                        \
  }                                                                                                     \
  inline T __double2##name(double x) { return T(x); }                                                   \
  inline float __##name##2float(T x) { return static_cast<float>(x); }                                  \
  inline T __int2##name##_rn(int x) { return T(x); }                                                    \
  inline T __uint2##name##_rn(unsigned x) { return T(x); }                                              \
  inline int __##name##2int_rn(T x) { return __float2int_rn(static_cast<float>(x)); }                   \
  inline int __##name##2int_rz(T x) { return static_cast<int>(static_cast<float>(x)); }                 \
  inline T __ushort_as_##name(unsigned short x) { return T(T##_raw{x}); }                               \
  inline T __short_as_##name(short x) { return __ushort_as_##name(static_cast<unsigned short>(x)); }    \
  inline unsigned short __##name##_as_ushort(T x) { return x.bits; }                                    \
  inline short __##name##_as_short(T x) { return static_cast<short>(x.bits); }                          \
  inline T2 __halves2##name##2(T x, T y) { return {x, y}; }                                             \
  inline T2 make_##name##2(T x, T y) { return {x, y}; }                                                 \
  inline T2 __##name##2##name##2(T x) { return {x, x}; }                                                \
  inline T2 __float2##name##2_rn(float x) { return {T(x), T(x)}; }                                      \
  inline T2 __floats2##name##2_rn(float x, float y) { return {T(x), T(y)}; }                            \
  inline T2 __float22##name##2_rn(float2 x) { return {T(x.x), T(x.y)}; }                                \
  inline float2 __##name##22float2(T2 x) { return {static_cast<float>(x.x), static_cast<float>(x.y)}; } \
  inline T __low2##name(T2 x) { return x.x; }                                                           \
  inline T __high2##name(T2 x) { return x.y; }                                                          \
  inline float __low2float(T2 x) { return static_cast<float>(x.x); }                                    \
  inline float __high2float(T2 x) { return static_cast<float>(x.y); }

// Overloads for the type itself, instead of conversions to float: h + h is rounded to the type, as on a GPU.
#define TUNER_HOST_SMALL_FLOAT_FUNCTIONS(T, T2)                                                          \
  inline T operator+(T a, T b) { return T(static_cast<float>(a) + static_cast<float>(b)); }              \
  inline T operator-(T a, T b) { return T(static_cast<float>(a) - static_cast<float>(b)); }              \
  inline T operator*(T a, T b) { return T(static_cast<float>(a) * static_cast<float>(b)); }              \
  inline T operator/(T a, T b) { return T(static_cast<float>(a) / static_cast<float>(b)); }              \
  inline T operator-(T a) { return T(-static_cast<float>(a)); }                                          \
  inline T operator+(T a) { return a; }                                                                  \
  inline T& operator+=(T& a, T b) { return a = a + b; }                                                  \
  inline T& operator-=(T& a, T b) { return a = a - b; }                                                  \
  inline T& operator*=(T& a, T b) { return a = a * b; }                                                  \
  inline T& operator/=(T& a, T b) { return a = a / b; }                                                  \
  inline bool operator==(T a, T b) { return static_cast<float>(a) == static_cast<float>(b); }            \
  inline bool operator!=(T a, T b) { return static_cast<float>(a) != static_cast<float>(b); }            \
  inline bool operator<(T a, T b) { return static_cast<float>(a) < static_cast<float>(b); }              \
  inline bool operator<=(T a, T b) { return static_cast<float>(a) <= static_cast<float>(b); }            \
  inline bool operator>(T a, T b) { return static_cast<float>(a) > static_cast<float>(b); }              \
  inline bool operator>=(T a, T b) { return static_cast<float>(a) >= static_cast<float>(b); }            \
  inline T2 operator+(T2 a, T2 b) { return {a.x + b.x, a.y + b.y}; }                                     \
  inline T2 operator-(T2 a, T2 b) { return {a.x - b.x, a.y - b.y}; }                                     \
  inline T2 operator*(T2 a, T2 b) { return {a.x * b.x, a.y * b.y}; }                                     \
  inline T2 operator/(T2 a, T2 b) { return {a.x / b.x, a.y / b.y}; }                                     \
  inline T __hadd(T a, T b) { return a + b; }                                                            \
  inline T __hadd_rn(T a, T b) { return a + b; }                                                         \
  inline T __hsub(T a, T b) { return a - b; }                                                            \
  inline T __hmul(T a, T b) { return a * b; }                                                            \
  inline T __hmul_rn(T a, T b) { return a * b; }                                                         \
  inline T __hdiv(T a, T b) { return a / b; }                                                            \
  inline T __hneg(T a) { return -a; }                                                                    \
  inline T __habs(T a) { return T(fabsf(static_cast<float>(a))); }                                       \
  inline T __hfma(T a, T b, T c) {                                                                       \
    /* The product is exact in double, the sum is rounded to odd before the last rounding. */            \
    return T(fma(static_cast<double>(static_cast<float>(a)), static_cast<double>(static_cast<float>(b)), \
                 static_cast<double>(static_cast<float>(c))));                                           \
  }                                                                                                      \
  inline T __hmin(T a, T b) { return T(fminf(static_cast<float>(a), static_cast<float>(b))); }           \
  inline T __hmax(T a, T b) { return T(fmaxf(static_cast<float>(a), static_cast<float>(b))); }           \
  inline bool __heq(T a, T b) { return a == b; }                                                         \
  inline bool __hne(T a, T b) { return a != b; }                                                         \
  inline bool __hlt(T a, T b) { return a < b; }                                                          \
  inline bool __hle(T a, T b) { return a <= b; }                                                         \
  inline bool __hgt(T a, T b) { return a > b; }                                                          \
  inline bool __hge(T a, T b) { return a >= b; }                                                         \
  inline bool __hisnan(T a) { return static_cast<float>(a) != static_cast<float>(a); }                   \
  inline int __hisinf(T a) {                                                                             \
    const float value = static_cast<float>(a);                                                           \
    return value == __builtin_huge_valf() ? 1 : value == -__builtin_huge_valf() ? -1 : 0;                \
  }                                                                                                      \
  inline T hsqrt(T a) { return T(sqrtf(static_cast<float>(a))); }                                        \
  inline T hexp(T a) { return T(expf(static_cast<float>(a))); }                                          \
  inline T hlog(T a) { return T(logf(static_cast<float>(a))); }                                          \
  inline T hrsqrt(T a) { return T(1.0f / sqrtf(static_cast<float>(a))); }                                \
  inline T hrcp(T a) { return T(1.0f / static_cast<float>(a)); }                                         \
  inline T hfloor(T a) { return T(floorf(static_cast<float>(a))); }                                      \
  inline T hceil(T a) { return T(ceilf(static_cast<float>(a))); }                                        \
  inline T hrint(T a) { return T(rintf(static_cast<float>(a))); }                                        \
  inline T htrunc(T a) { return T(truncf(static_cast<float>(a))); }                                      \
  inline T hsin(T a) { return T(sinf(static_cast<float>(a))); }                                          \
  inline T hcos(T a) { return T(cosf(static_cast<float>(a))); }                                          \
  inline T hexp2(T a) { return T(exp2f(static_cast<float>(a))); }                                        \
  inline T hlog2(T a) { return T(log2f(static_cast<float>(a))); }                                        \
  inline T2& operator+=(T2& a, T2 b) { return a = a + b; }                                               \
  inline T2& operator-=(T2& a, T2 b) { return a = a - b; }                                               \
  inline T2& operator*=(T2& a, T2 b) { return a = a * b; }                                               \
  inline T2 operator-(T2 a) { return {-a.x, -a.y}; }                                                     \
  inline T2 __hneg2(T2 a) { return -a; }                                                                 \
  inline T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                         \
  inline T2 h2sqrt(T2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }                                            \
  inline T2 h2exp(T2 a) { return {hexp(a.x), hexp(a.y)}; }                                               \
  inline T2 h2rcp(T2 a) { return {hrcp(a.x), hrcp(a.y)}; }                                               \
  inline T2 h2rsqrt(T2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }                                         \
  inline T2 h2div(T2 a, T2 b) { return a / b; }                                                          \
  inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                                        \
  inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                                        \
  inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                                        \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }         \
  inline T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                         \
  inline T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                         \
  inline T atomicAdd(T* address, T value) {                                                              \
    return tuner_host::atomic_update(address, [value](T old) { return old + value; });                   \
  }                                                                                                      \
  /* Each number is atomic, not both together, as on a GPU. */                                           \
  inline T2 atomicAdd(T2* address, T2 value) {                                                           \
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};                           \
  }
