#pragma once
/// For tests that use the driver beside the library, on the first GPU.

#include <tuner/backend/cuda/context.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/backend/gpu.hpp>

namespace tuner::testing {

/// The context that the library serves in is current as long as the guard lives.
inline cuda::ContextGuard make_current() {
  return cuda::ContextGuard(reinterpret_cast<CUcontext>(primary_gpu_context(0).handle));
}

inline void wait_for(const cuda::UniqueStream& stream) {
  cuda::check(cuda::driver().cuStreamSynchronize(stream.get()), "cuStreamSynchronize");
}

}  // namespace tuner::testing
