#pragma once
// The operators that CUB 3 left out, for kernels that name them.
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
