#pragma once
/// __half and __half2 in software. Each operation is done in float and rounded to nearest even, as the CUDA Math API
/// ("Half Precision Intrinsics") defines it for +, -, * and /. Two roundings are as good as one, because float has more
/// than twice the bits (Figueroa, "When is double rounding innocuous?", 1995).

#include "tuner_host.h"
#include "fill_value.hpp"
#include "tuner_host_small_float.h"

struct __half_raw {
  unsigned short x;
};
struct __half {
  unsigned short bits;

  __half() = default;
  __half(float value) : bits(tuner::fill_value::half_bits(value)) {}
  __half(double value) : bits(tuner::fill_value::half_bits(tuner_host::narrow(value))) {}
  __half(int value) : __half(static_cast<double>(value)) {}
  __half(unsigned value) : __half(static_cast<double>(value)) {}
  __half(long long value) : __half(static_cast<float>(value)) {}
  __half(unsigned long long value) : __half(static_cast<float>(value)) {}
  __half(short value) : __half(static_cast<float>(value)) {}
  __half(unsigned short value) : __half(static_cast<float>(value)) {}
  __half(__half_raw raw) : bits(raw.x) {}
  operator float() const { return tuner::fill_value::half_value(bits); }
  operator __half_raw() const { return {bits}; }
};
using half = __half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
};
using half2 = __half2;

TUNER_HOST_SMALL_FLOAT(__half, __half2)
TUNER_HOST_SMALL_FLOAT_FUNCTIONS(__half, __half2)

inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline float __half2float(__half x) { return static_cast<float>(x); }
inline __half __int2half_rn(int x) { return __half(x); }
inline __half __uint2half_rn(unsigned x) { return __half(x); }
inline int __half2int_rn(__half x) { return __float2int_rn(static_cast<float>(x)); }
inline int __half2int_rz(__half x) { return static_cast<int>(static_cast<float>(x)); }
inline __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
inline __half __short_as_half(short x) { return __ushort_as_half(static_cast<unsigned short>(x)); }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline short __half_as_short(__half x) { return static_cast<short>(x.bits); }

inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 x) { return {__half(x.x), __half(x.y)}; }
inline float2 __half22float2(__half2 x) { return {static_cast<float>(x.x), static_cast<float>(x.y)}; }
inline __half __low2half(__half2 x) { return x.x; }
inline __half __high2half(__half2 x) { return x.y; }
inline float __low2float(__half2 x) { return static_cast<float>(x.x); }
inline float __high2float(__half2 x) { return static_cast<float>(x.y); }
