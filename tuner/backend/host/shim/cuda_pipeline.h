#pragma once
/// Asynchronous copies (CUDA C++ Programming Guide, "Pipeline Primitives Interface"). Here each has ended when it
/// returns.
#include "cuda_awbarrier_primitives.h"

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  __builtin_memcpy(to, from, bytes - zeros);
  __builtin_memset(static_cast<char*>(to) + bytes - zeros, 0, zeros);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
inline void __pipeline_arrive_on(__mbarrier_t*) {}
