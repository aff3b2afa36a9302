#pragma once
/// __nv_fp4_e2m1, a number in a byte, and its pairs and quadruples, which have four bits for each number. CUDA Math
/// API, "FP4 Intrinsics".

#include "cuda_fp6.h"

enum __nv_fp4_interpretation_t { __NV_E2M1 };
using __nv_fp4x4_storage_t = unsigned short;

namespace tuner_host {

inline float fp4_value(unsigned char x, __nv_fp4_interpretation_t) { return tuner::fill_value::e2m1_value(x); }
inline unsigned char fp4_bits(float x, __nv_fp4_interpretation_t, cudaRoundMode rounding) {
  const unsigned char bits = tuner::fill_value::e2m1_bits(x);
  return toward_zero(bits, tuner::fill_value::e2m1_value(bits), x, rounding);
}

}  // namespace tuner_host

TUNER_HOST_SMALL_CONVERSIONS(4, 4, unsigned char, __nv_fp4_interpretation_t, tuner_host::fp4_bits,
                             tuner_host::fp4_value)
TUNER_HOST_SMALL_FLOAT(__nv_fp4, e2m1, 4, unsigned char, unsigned short)
