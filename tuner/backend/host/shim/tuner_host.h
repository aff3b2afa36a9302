#pragma once
/// Gives CUDA C++ its meaning on a CPU. Included before every kernel file that the host backend compiles. Semantics:
/// CUDA C++ Programming Guide, "C++ Language Extensions"; what differs is told in the README beside this folder.

#define TUNER_HOST 1

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))

#include "tuner_host_abi.h"
#include "tuner_host_types.h"

namespace tuner_host {

inline thread_local Context context{};
inline const Api* api = nullptr;

/// `extern __shared__ T name[]` becomes `static thread_local T* const name = dynamic_shared<T>()`.
template <typename T>
inline T* dynamic_shared() {
  return static_cast<T*>(context.block->shared);
}

inline unsigned lane() { return context.thread->linear & 31u; }

}  // namespace tuner_host

#define threadIdx (::tuner_host::context.thread->index)
#define blockIdx (::tuner_host::context.block->index)
#define blockDim (::dim3(::tuner_host::context.block->dim))
#define gridDim (::dim3(::tuner_host::context.block->grid))
#define warpSize 32

#define TUNER_HOST_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(TUNER_HOST_SITE) {
  tuner_host::api->meet_block(tuner_host::context.block, tuner_host::kBarrier, 0, file, line);
}
inline int __syncthreads_count(int predicate, TUNER_HOST_SITE) {
  return tuner_host::api->meet_block(tuner_host::context.block, tuner_host::kBarrierCount, predicate != 0, file, line);
}
inline int __syncthreads_and(int predicate, TUNER_HOST_SITE) {
  return tuner_host::api->meet_block(tuner_host::context.block, tuner_host::kBarrierAnd, predicate != 0, file, line);
}
inline int __syncthreads_or(int predicate, TUNER_HOST_SITE) {
  return tuner_host::api->meet_block(tuner_host::context.block, tuner_host::kBarrierOr, predicate != 0, file, line);
}

[[noreturn]] inline void __trap(TUNER_HOST_SITE) {
  tuner_host::api->fail(tuner_host::context.block, "trap", file, line);
  __builtin_unreachable();
}
inline void __nanosleep(unsigned) { tuner_host::api->yield(tuner_host::context.block); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#include "tuner_host_warp.h"
#include "tuner_host_atomic.h"
#include "tuner_host_math.h"
#include "tuner_host_memory.h"
#include "assert.h"
