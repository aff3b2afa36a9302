#pragma once
/// Loads and stores with cache hints: CUDA C++ Programming Guide, "Read-Only Data Cache Load Function" and the two
/// sections after it. A CPU has no such hints, so these are plain accesses, which need their natural alignment as on a
/// GPU.

#define TUNER_HOST_LOAD(name)       \
  template <typename T>             \
  inline T name(const T* address) { \
    return *address;                \
  }
TUNER_HOST_LOAD(__ldg)
TUNER_HOST_LOAD(__ldca)
TUNER_HOST_LOAD(__ldcg)
TUNER_HOST_LOAD(__ldcs)
TUNER_HOST_LOAD(__ldcv)
TUNER_HOST_LOAD(__ldlu)
#undef TUNER_HOST_LOAD

#define TUNER_HOST_STORE(name)            \
  template <typename T, typename V>       \
  inline void name(T* address, V value) { \
    *address = value;                     \
  }
TUNER_HOST_STORE(__stwb)
TUNER_HOST_STORE(__stcg)
TUNER_HOST_STORE(__stcs)
TUNER_HOST_STORE(__stwt)
#undef TUNER_HOST_STORE

template <typename T>
inline size_t __cvta_generic_to_shared(const T* address) {
  return reinterpret_cast<size_t>(address);
}
inline bool __isShared(const void*) { return true; }
inline bool __isGlobal(const void*) { return true; }
