#pragma once
/// __nv_fp6_e3m2 and __nv_fp6_e2m3, their pairs and quadruples: each number has a byte. CUDA Math API, "FP6
/// Intrinsics".

#include "cuda_fp8.h"

enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };
using __nv_fp6x4_storage_t = unsigned;

namespace tuner_host {

inline float fp6_value(unsigned char x, __nv_fp6_interpretation_t format) {
  return format == __NV_E2M3 ? tuner::fill_value::e2m3_value(x) : tuner::fill_value::e3m2_value(x);
}
inline unsigned char fp6_bits(float x, __nv_fp6_interpretation_t format, cudaRoundMode rounding) {
  const unsigned char bits = format == __NV_E2M3 ? tuner::fill_value::e2m3_bits(x) : tuner::fill_value::e3m2_bits(x);
  return toward_zero(bits, fp6_value(bits, format), x, rounding);
}

}  // namespace tuner_host

TUNER_HOST_SMALL_CONVERSIONS(6, 8, unsigned short, __nv_fp6_interpretation_t, tuner_host::fp6_bits,
                             tuner_host::fp6_value)
TUNER_HOST_SMALL_FLOAT(__nv_fp6, e3m2, 8, unsigned short, unsigned)
TUNER_HOST_SMALL_FLOAT(__nv_fp6, e2m3, 8, unsigned short, unsigned)
