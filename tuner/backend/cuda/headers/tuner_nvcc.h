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
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define __extension__
// nvcc accepts it, although C++17 removed it.
#define register

// The operators that CUB 3 left out.
#if __has_include(<cub/version.cuh>)
#include <cub/version.cuh>
#if CUB_MAJOR_VERSION >= 3
#define __TUNER_OPERATOR(name, result)                                \
  struct name {                                                       \
    template <typename T>                                             \
    __device__ constexpr T operator()(const T& a, const T& b) const { \
      return result;                                                  \
    }                                                                 \
  };
namespace cub {
__TUNER_OPERATOR(Sum, a + b)
__TUNER_OPERATOR(Max, a < b ? b : a)
__TUNER_OPERATOR(Min, b < a ? b : a)
}  // namespace cub
#undef __TUNER_OPERATOR
#endif
#endif
