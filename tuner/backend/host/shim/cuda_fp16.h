#pragma once
/// __half and __half2 in software. Each operation is done in float and rounded to nearest even, as the CUDA Math API
/// ("Half Precision Intrinsics") defines it for +, -, * and /. Two roundings are as good as one, because float has more
/// than twice the bits (Figueroa, "When is double rounding innocuous?", 1995).

#include "tuner_host_small_float.h"

TUNER_HOST_SMALL_FLOAT_TYPE(__half, __half2, half)
TUNER_HOST_SMALL_FLOAT_FUNCTIONS(__half, __half2)
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
using half = __half;
using half2 = __half2;
