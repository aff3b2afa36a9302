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

namespace nvcuda::experimental {

/// An earlier pipeline of one thread.
class pipeline {
 public:
  size_t commit() { return batch_++; }
  void commit_and_wait() { commit(); }
  void wait(size_t) {}
  template <unsigned prior>
  void wait_prior() {}
  template <typename Barrier>
  void arrive_on(Barrier&) {}

 private:
  size_t batch_ = 0;
};

template <size_t n, typename T>
inline auto segment(T* at) -> T (*)[n] {
  return reinterpret_cast<T(*)[n]>(at);
}
template <typename T>
inline void memcpy_async(T& to, const T& from, pipeline&) {
  to = from;
}
/// Elements that \p from does not have are zero.
template <typename T, size_t n, size_t given>
inline void memcpy_async(T (*to)[n], const T (*from)[given], pipeline&) {
  for (size_t i = 0; i < n; ++i) (*to)[i] = i < given ? (*from)[i] : T();
}

}  // namespace nvcuda::experimental
