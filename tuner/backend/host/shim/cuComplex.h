#pragma once
// Complex numbers ("cuComplex.h" of the CUDA toolkit).
#include "tuner_host.h"

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

#define TUNER_HOST_COMPLEX(T, real, suffix)                                                                     \
  inline T make_##T(real x, real y) { return T{x, y}; }                                                         \
  inline real cuCreal##suffix(T a) { return a.x; }                                                              \
  inline real cuCimag##suffix(T a) { return a.y; }                                                              \
  inline T cuConj##suffix(T a) { return T{a.x, -a.y}; }                                                         \
  inline T cuCadd##suffix(T a, T b) { return T{a.x + b.x, a.y + b.y}; }                                         \
  inline T cuCsub##suffix(T a, T b) { return T{a.x - b.x, a.y - b.y}; }                                         \
  inline T cuCmul##suffix(T a, T b) { return T{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                 \
  inline T cuCdiv##suffix(T a, T b) {                                                                           \
    const real scale = 1 / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y)); /* keeps squares from overflow */ \
    a = T{a.x * scale, a.y * scale};                                                                            \
    b = T{b.x * scale, b.y * scale};                                                                            \
    const real square = 1 / (b.x * b.x + b.y * b.y);                                                            \
    return T{(a.x * b.x + a.y * b.y) * square, (a.y * b.x - a.x * b.y) * square};                               \
  }                                                                                                             \
  inline real cuCabs##suffix(T a) { return static_cast<real>(hypot(a.x, a.y)); }                                \
  inline T cuCfma##suffix(T a, T b, T c) { return cuCadd##suffix(cuCmul##suffix(a, b), c); }
TUNER_HOST_COMPLEX(cuFloatComplex, float, f)
TUNER_HOST_COMPLEX(cuDoubleComplex, double, )
#undef TUNER_HOST_COMPLEX

inline cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return cuDoubleComplex{a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return cuFloatComplex{static_cast<float>(a.x), static_cast<float>(a.y)};
}
