#pragma once
/// __nv_bfloat16 and __nv_bfloat162 in software; see cuda_fp16.h. CUDA Math API, "Bfloat16 Precision Intrinsics".

#include "tuner_host.h"
#include "fill_value.hpp"
#include "tuner_host_small_float.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat16 {
  unsigned short bits;

  __nv_bfloat16() = default;
  __nv_bfloat16(float value) : bits(tuner::fill_value::bfloat16_bits(value)) {}
  __nv_bfloat16(double value) : bits(tuner::fill_value::bfloat16_bits(tuner_host::narrow(value))) {}
  __nv_bfloat16(int value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(unsigned value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(long long value) : __nv_bfloat16(static_cast<float>(value)) {}
  __nv_bfloat16(unsigned long long value) : __nv_bfloat16(static_cast<float>(value)) {}
  __nv_bfloat16(short value) : __nv_bfloat16(static_cast<float>(value)) {}
  __nv_bfloat16(unsigned short value) : __nv_bfloat16(static_cast<float>(value)) {}
  __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
  operator float() const { return tuner::fill_value::bfloat16_value(bits); }
  operator __nv_bfloat16_raw() const { return {bits}; }
};
using nv_bfloat16 = __nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using nv_bfloat162 = __nv_bfloat162;

TUNER_HOST_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162)
TUNER_HOST_SMALL_FLOAT_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)

inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return static_cast<float>(x); }
inline __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
inline int __bfloat162int_rz(__nv_bfloat16 x) { return static_cast<int>(static_cast<float>(x)); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16(__nv_bfloat16_raw{x}); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }

inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 x) { return {__nv_bfloat16(x.x), __nv_bfloat16(x.y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 x) { return {static_cast<float>(x.x), static_cast<float>(x.y)}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
inline float __low2float(__nv_bfloat162 x) { return static_cast<float>(x.x); }
inline float __high2float(__nv_bfloat162 x) { return static_cast<float>(x.y); }
