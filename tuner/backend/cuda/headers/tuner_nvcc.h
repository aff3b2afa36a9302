#pragma once
#define __TUNER_NVCC
// The names that a file has under nvcc without an #include: they come from the headers of the host's C and C++
// libraries.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>
#include <tuner_host_library.h>
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define __extension__
// nvcc accepts it, although C++17 removed it.
#define register
