#pragma once
/// __nv_bfloat16 and __nv_bfloat162 in software; see cuda_fp16.h. CUDA Math API, "Bfloat16 Precision Intrinsics".

#include "numbers/small_float.h"

TUNER_HOST_SMALL_FLOAT_TYPE(__nv_bfloat16, __nv_bfloat162, bfloat16)
TUNER_HOST_SMALL_FLOAT_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
