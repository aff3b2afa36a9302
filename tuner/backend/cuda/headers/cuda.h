#pragma once
// The names of the driver's interface that device code can use. The toolkit's own header declares host functions.
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
// Libraries declare the struct before they know its contents.
#if __CUDACC_VER_MAJOR__ >= 13
#define __TUNER_MAP_ALIGNMENT 128
#else
#define __TUNER_MAP_ALIGNMENT 64
#endif
struct alignas(__TUNER_MAP_ALIGNMENT) CUtensorMap_st {
  unsigned long long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;
#undef __TUNER_MAP_ALIGNMENT
#ifndef CUDA_VERSION
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
