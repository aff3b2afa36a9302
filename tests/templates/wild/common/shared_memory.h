#pragma once
#include <cstdio>
#include <string>

// The dynamic shared memory of a block as an array of T.
template <class T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
};

extern __shared__ float block_values[];

inline void say(const std::string& what) { printf("%s\n", what.c_str()); }
