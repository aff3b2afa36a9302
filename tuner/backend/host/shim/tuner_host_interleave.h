#pragma once
/// The functions that an interleaved object calls at its memory accesses. The object is compiled with
/// -fsanitize=thread,alignment, and this file takes the place of the sanitizers' libraries. It is a separate
/// translation unit, compiled without them. Names and arguments: compiler-rt, tsan_interface.h, tsan_interface_atomic.h
/// and ubsan_handlers.h.

#include "tuner_host_abi.h"

namespace tuner_host {

inline thread_local Accesses accesses{};

inline void seen(const void* address, unsigned weight) {
  Accesses& a = accesses;
  if (reinterpret_cast<unsigned long>(address) - a.private_begin < a.private_bytes) return;
  if (a.left > weight) {
    a.left -= weight;
  } else if (a.due != nullptr) {
    a.due();
  }
}

// A store weighs more than a load: a switch between a load and the store that depends on it shows a lost update.
inline void reads(const void* address) {
  seen(address, 1);
  accesses.read[reinterpret_cast<unsigned long>(address) / 4 % 64] = address;
}
inline void writes(const void* address) { seen(address, 4); }

/// A write that is not atomic. If its address was read before, it may be an update, which loses values that other
/// blocks wrote in between. Static shared memory is not checked. It is near `accesses`, because both are thread_local,
/// and no other memory is near.
inline void stores(const void* address) {
  writes(address);
  Accesses& a = accesses;
  const auto at = reinterpret_cast<unsigned long>(address);
  if (a.updates == 0 || a.read[at / 4 % 64] != address) return;
  constexpr unsigned long near = 1ul << 20;
  if (at - a.private_begin < a.private_bytes || at - a.shared_begin < a.shared_bytes ||
      at - reinterpret_cast<unsigned long>(&a) + near < 2 * near)
    return;
  if (--a.updates == 0) a.pause();
}
inline void updates(const void* address) {
  reads(address);
  stores(address);
}

}  // namespace tuner_host

extern "C" {

__attribute__((visibility("default"))) tuner_host::Accesses* tuner_host_accesses() { return &tuner_host::accesses; }

/// The next accesses initialise a thread_local. No switch may come before it is initialised.
void tuner_host_stay() {
  if (tuner_host::accesses.left < 64) tuner_host::accesses.left = 64;
}

/// The first members of compiler-rt's TypeMismatchData.
struct __tuner_mismatch {
  const char* file;
  unsigned line, column;
  const void* type;
  unsigned char log_of_alignment, kind;
};
void __ubsan_handle_type_mismatch_v1(__tuner_mismatch* at, unsigned long address) {
  const auto misaligned = tuner_host::accesses.misaligned;
  if (misaligned != nullptr)
    misaligned(reinterpret_cast<const void*>(address), 1u << at->log_of_alignment, at->file, at->line);
}

/// clang's, for `__builtin_assume_aligned`.
void __ubsan_handle_alignment_assumption(void*, unsigned long, unsigned long, unsigned long) {}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** at) { tuner_host::reads(at); }
void __tsan_vptr_update(void** at, void*) { tuner_host::writes(at); }
void __tsan_read_range(void* at, unsigned long) { tuner_host::reads(at); }
void __tsan_write_range(void* at, unsigned long) { tuner_host::stores(at); }
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  tuner_host::reads(from);
  tuner_host::stores(to);
  return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  tuner_host::reads(from);
  tuner_host::stores(to);
  return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  tuner_host::stores(to);
  return __builtin_memset(to, value, bytes);
}

#define TUNER_HOST_ACCESS(bytes)                                                        \
  void __tsan_read##bytes(void* at) { tuner_host::reads(at); }                          \
  void __tsan_write##bytes(void* at) { tuner_host::stores(at); }                        \
  void __tsan_read_write##bytes(void* at) { tuner_host::updates(at); }                  \
  void __tsan_unaligned_read##bytes(const void* at) { tuner_host::reads(at); }          \
  void __tsan_unaligned_write##bytes(void* at) { tuner_host::stores(at); }              \
  void __tsan_unaligned_read_write##bytes(void* at) { tuner_host::updates(at); }        \
  void __tsan_volatile_read##bytes(void* at) { tuner_host::reads(at); }                 \
  void __tsan_volatile_write##bytes(void* at) { tuner_host::stores(at); }               \
  void __tsan_unaligned_volatile_read##bytes(const void* at) { tuner_host::reads(at); } \
  void __tsan_unaligned_volatile_write##bytes(void* at) { tuner_host::stores(at); }
TUNER_HOST_ACCESS(1)
TUNER_HOST_ACCESS(2)
TUNER_HOST_ACCESS(4)
TUNER_HOST_ACCESS(8)
TUNER_HOST_ACCESS(16)
#undef TUNER_HOST_ACCESS

#define TUNER_HOST_UPDATE(bits, T, name)                               \
  T __tsan_atomic##bits##_fetch_##name(volatile T* at, T value, int) { \
    tuner_host::writes(const_cast<const T*>(at));                      \
    return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);         \
  }
#define TUNER_HOST_COMPARE(bits, T, name)                                                               \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile T* at, T* expected, T value, int, int) {   \
    tuner_host::writes(const_cast<const T*>(at));                                                       \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
#define TUNER_HOST_ATOMIC(bits, T)                                                                \
  T __tsan_atomic##bits##_load(const volatile T* at, int) {                                       \
    tuner_host::reads(const_cast<const T*>(at));                                                  \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int) {                                \
    tuner_host::writes(const_cast<const T*>(at));                                                 \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                               \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int) {                                \
    tuner_host::writes(const_cast<const T*>(at));                                                 \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                      \
  }                                                                                               \
  TUNER_HOST_UPDATE(bits, T, add)                                                                 \
  TUNER_HOST_UPDATE(bits, T, sub)                                                                 \
  TUNER_HOST_UPDATE(bits, T, and)                                                                 \
  TUNER_HOST_UPDATE(bits, T, or)                                                                  \
  TUNER_HOST_UPDATE(bits, T, xor)                                                                 \
  TUNER_HOST_UPDATE(bits, T, nand)                                                                \
  TUNER_HOST_COMPARE(bits, T, strong)                                                             \
  TUNER_HOST_COMPARE(bits, T, weak)                                                               \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T value, int, int) {   \
    tuner_host::writes(const_cast<const T*>(at));                                                 \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                              \
  }
TUNER_HOST_ATOMIC(8, unsigned char)
TUNER_HOST_ATOMIC(16, unsigned short)
TUNER_HOST_ATOMIC(32, unsigned)
TUNER_HOST_ATOMIC(64, unsigned long)
#undef TUNER_HOST_ATOMIC
#undef TUNER_HOST_COMPARE
#undef TUNER_HOST_UPDATE
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
