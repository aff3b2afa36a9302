#pragma once
/// __half and __half2 in software. Each operation is done in float and rounded to nearest even, as the CUDA Math API
/// ("Half Precision Intrinsics") defines it for +, -, * and /. Two roundings are as good as one, because float has more
/// than twice the bits (Figueroa, "When is double rounding innocuous?", 1995).

#include "tuner_half_constants.h"
#include "numbers/small_float.h"

TUNER_HOST_SMALL_FLOAT_TYPE(__half, __half2, half)
TUNER_HOST_SMALL_FLOAT_FUNCTIONS(__half, __half2)
using half = __half;
using half2 = __half2;
