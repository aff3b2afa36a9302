#pragma once
#define __TUNER_NVCC
// The names that a file has under nvcc without an #include: they come from the headers of the host's C and C++
// libraries.
#include <cuda.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <tuner_half_constants.h>
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define __extension__
// cuda_device_runtime_api.h
__device__ inline void cudaGridDependencySynchronize() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void cudaTriggerProgrammaticLaunchCompletion() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" :::);
#endif
}
// nvcc accepts it, although C++17 removed it.
#define register
