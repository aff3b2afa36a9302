#pragma once
/// Gives CUDA C++ its meaning on a CPU. Included before every kernel file that the host backend compiles. Semantics:
/// CUDA C++ Programming Guide, "C++ Language Extensions". The README next to this folder lists the differences.

#define TUNER_HOST 1
#define CUDART_VERSION 13000

#if __has_include(<bits/c++config.h>)
// Without libstdc++'s special functions of C++17 (std::beta and others), a small kernel's compile reads half as much.
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif
#include <tuner_host_library.h>
#include <new>  // as nvcc

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
// Used: otherwise a compiler reads zero from a variable that it sees nobody write.
#define __shared__ static thread_local __attribute__((used))
#define __forceinline__ inline __attribute__((__always_inline__))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((__aligned__(n)))
// An author's `__noinline__` is rewritten to this, because the C++ library's own attributes use that word.
#define __tuner_noinline__ __attribute__((__noinline__))
#define __device_builtin__
#define __cudart_builtin__
#define __builtin_assume(condition) (static_cast<void>(0))

// An interleaved object (tuner_host_interleave.h) switches threads at memory accesses, but not inside these functions.
#ifdef __tuner_interleaved
#define __tuner_unseen __attribute__((__noinline__, __no_sanitize__("thread")))
extern "C" void tuner_host_stay();
#else
#define __tuner_unseen
#endif

#include "tuner_host_abi.h"
#include "tuner_host_types.h"

namespace tuner_host {

inline thread_local Context context{nullptr, nullptr, 1};
inline const Api* api = nullptr;

__tuner_unseen inline unsigned lane() { return context.thread->linear & 31u; }

}  // namespace tuner_host

// Macros that are used in a kernel's text expand to reserved names only, so that no macro of the kernel (block, index,
// …) changes them.
__tuner_unseen inline const tuner_host::Index& __tuner_thread_idx() { return tuner_host::context.thread->index; }
__tuner_unseen inline const tuner_host::Index& __tuner_block_idx() { return tuner_host::context.block->index; }
__tuner_unseen inline dim3 __tuner_block_dim() { return tuner_host::context.block->dim; }
__tuner_unseen inline dim3 __tuner_grid_dim() { return tuner_host::context.block->grid; }
/// In a function, `extern __shared__ T name[]` becomes `static thread_local T (&name)[] = ::__tuner_dynamic_shared()`.
struct __tuner_dynamic_shared {
  template <typename T>
  __tuner_unseen operator T&() const {
#ifdef __tuner_interleaved
    tuner_host_stay();
#endif
    return *static_cast<T*>(tuner_host::context.block->shared);
  }
};
/// Elsewhere, where it may be repeated, it becomes `extern __tuner_dynamic T (&name)[] __tuner_dynamic_name`. All such
/// references are this address, which each operating-system thread sets before it runs threads of a block. It is not 0
/// at first, so that it is not beside shared memory, which is.
extern "C" {
__attribute__((__visibility__("hidden"))) __thread unsigned long tuner_host_dynamic = 1;
}
#define __tuner_dynamic __thread __attribute__((__visibility__("hidden")))
#define __tuner_dynamic_name __asm__("tuner_host_dynamic")
inline void __tuner_assertion_failed(const char* what, const char* file, int line) {
  tuner_host::api->fail(tuner_host::context.block, what, file, line);
}

#define threadIdx (::__tuner_thread_idx())
#define blockIdx (::__tuner_block_idx())
#define blockDim (::__tuner_block_dim())
#define gridDim (::__tuner_grid_dim())
inline constexpr int warpSize = 32;

// Makes a function object like std::plus: name<T>, or name<> for arguments of any one type.
#define TUNER_HOST_OPERATION(name, expression)                                  \
  template <typename T = void>                                                  \
  struct name {                                                                 \
    constexpr T operator()(const T& a, const T& b) const { return expression; } \
  };                                                                            \
  template <>                                                                   \
  struct name<void> {                                                           \
    template <typename T>                                                       \
    constexpr T operator()(const T& a, const T& b) const {                      \
      return expression;                                                        \
    }                                                                           \
  };

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

/// At the beginning of a kernel with `__launch_bounds__(most, ...)`, which a GPU does not start with larger blocks.
inline void __tuner_require_bounds(unsigned long most, unsigned = 0, unsigned = 0) {
  if (tuner_host::context.block->threads <= most) return;
  char message[128];
  __builtin_snprintf(message, sizeof message,
                     "block of %u threads exceeds this kernel's limit of %lu (__launch_bounds__)",
                     tuner_host::context.block->threads, most);
  tuner_host::api->fail(tuner_host::context.block, message, nullptr, 0);
}

/// At the beginning of a kernel with `__cluster_dims__(x, y, z)`.
inline void __tuner_require_cluster(unsigned x, unsigned y = 1, unsigned z = 1) {
  tuner_host::api->require_cluster(tuner_host::context.block, {x, y, z});
}

[[noreturn]] inline void __trap(TUNER_HOST_SITE) {
  tuner_host::api->fail(tuner_host::context.block, "trap", file, line);
  __builtin_unreachable();
}
/// In place of an `asm` statement.
[[noreturn]] inline void __tuner_inline_ptx(TUNER_HOST_SITE) {
  tuner_host::api->fail(tuner_host::context.block,
                        "this is inline PTX, which only a GPU runs: this kernel is checked there", file, line);
  __builtin_unreachable();
}
inline void __nanosleep(unsigned) { tuner_host::api->yield(tuner_host::context.block); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#include "tuner_host_cluster.h"
#include "tuner_host_warp.h"
#include "tuner_host_atomic.h"
#include "tuner_host_math.h"
#include "tuner_host_memory.h"
#include "tuner_host_texture.h"
#include "assert.h"

// A launch here begins after the one before it has ended.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

// A kernel file is written for nvcc. These come last: the headers above are the C++ library's. `__CUDA_ARCH__` is not
// defined, as in nvcc's own pass for the host: code that it guards is often PTX.
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDACC_EXTENDED_LAMBDA__ 1
