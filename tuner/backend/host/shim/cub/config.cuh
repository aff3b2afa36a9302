#pragma once
/// CUB's collectives for blocks and warps on a CPU, after their documentation (CUDA Core Compute Libraries, "CUB"): the
/// same names, arguments and results. The name of an algorithm changes only the order of a load or store.
#include "../tuner_host.h"

#define CUB_VERSION 200800  // this version has both its old operators and those of cuda/std/functional
#define CUB_NS_QUALIFIER ::cub

namespace cub {

/// Room for \p count values of T in shared memory, which runs no constructors.
template <typename T, int count>
struct TunerValues {
  alignas(T) unsigned char bytes[sizeof(T) * count];

  T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

/// Shared memory for a collective that gets none from its caller.
template <typename Storage>
inline Storage& tuner_storage() {
  __shared__ Storage storage;
  return storage;
}

inline int tuner_rank() { return static_cast<int>(tuner_host::context.thread->linear); }

}  // namespace cub
