#pragma once
/// Atomic functions. They are real atomics, because blocks run on several operating-system threads. Each returns the
/// old value. Their order is acquire and release, not relaxed as in CUDA. This costs nothing on common CPUs, and
/// ThreadSanitizer then sees the order that __threadfence() makes.

namespace tuner_host {

template <typename T, typename Combine>
inline T atomic_update(T* address, Combine combine) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (;;) {
    T desired = combine(old);
    if (__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return old;
  }
}

}  // namespace tuner_host

#define TUNER_HOST_ATOMIC_INTEGER(T)                                                                         \
  inline T atomicAdd(T* address, T value) { return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL); }   \
  inline T atomicAnd(T* address, T value) { return __atomic_fetch_and(address, value, __ATOMIC_ACQ_REL); }   \
  inline T atomicOr(T* address, T value) { return __atomic_fetch_or(address, value, __ATOMIC_ACQ_REL); }     \
  inline T atomicXor(T* address, T value) { return __atomic_fetch_xor(address, value, __ATOMIC_ACQ_REL); }   \
  inline T atomicSub(T* address, T value) { return __atomic_fetch_sub(address, value, __ATOMIC_ACQ_REL); }   \
  inline T atomicExch(T* address, T value) { return __atomic_exchange_n(address, value, __ATOMIC_ACQ_REL); } \
  inline T atomicCAS(T* address, T compare, T value) {                                                       \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);        \
    return compare;                                                                                          \
  }                                                                                                          \
  inline T atomicMin(T* address, T value) {                                                                  \
    return tuner_host::atomic_update(address, [value](T old) { return value < old ? value : old; });         \
  }                                                                                                          \
  inline T atomicMax(T* address, T value) {                                                                  \
    return tuner_host::atomic_update(address, [value](T old) { return old < value ? value : old; });         \
  }
TUNER_HOST_ATOMIC_INTEGER(int)
TUNER_HOST_ATOMIC_INTEGER(unsigned)
TUNER_HOST_ATOMIC_INTEGER(long)
TUNER_HOST_ATOMIC_INTEGER(unsigned long)
TUNER_HOST_ATOMIC_INTEGER(long long)
TUNER_HOST_ATOMIC_INTEGER(unsigned long long)
#undef TUNER_HOST_ATOMIC_INTEGER

#define TUNER_HOST_ATOMIC_FLOATING(T)                                                  \
  inline T atomicAdd(T* address, T value) {                                            \
    return tuner_host::atomic_update(address, [value](T old) { return old + value; }); \
  }                                                                                    \
  inline T atomicExch(T* address, T value) {                                           \
    return tuner_host::atomic_update(address, [value](T) { return value; });           \
  }
TUNER_HOST_ATOMIC_FLOATING(float)
TUNER_HOST_ATOMIC_FLOATING(double)
#undef TUNER_HOST_ATOMIC_FLOATING

inline unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value) {
  __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return compare;
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return tuner_host::atomic_update(address, [limit](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return tuner_host::atomic_update(address,
                                   [limit](unsigned old) { return old == 0u || old > limit ? limit : old - 1u; });
}

#define TUNER_HOST_SCOPED(name)                 \
  template <typename T>                         \
  inline T name##_block(T* address, T value) {  \
    return name(address, value);                \
  }                                             \
  template <typename T>                         \
  inline T name##_system(T* address, T value) { \
    return name(address, value);                \
  }
TUNER_HOST_SCOPED(atomicAdd)
TUNER_HOST_SCOPED(atomicMin)
TUNER_HOST_SCOPED(atomicMax)
TUNER_HOST_SCOPED(atomicExch)
TUNER_HOST_SCOPED(atomicSub)
TUNER_HOST_SCOPED(atomicAnd)
TUNER_HOST_SCOPED(atomicOr)
TUNER_HOST_SCOPED(atomicXor)
TUNER_HOST_SCOPED(atomicInc)
TUNER_HOST_SCOPED(atomicDec)
template <typename T>
inline T atomicCAS_block(T* address, T compare, T value) {
  return atomicCAS(address, compare, value);
}
template <typename T>
inline T atomicCAS_system(T* address, T compare, T value) {
  return atomicCAS(address, compare, value);
}
#undef TUNER_HOST_SCOPED
