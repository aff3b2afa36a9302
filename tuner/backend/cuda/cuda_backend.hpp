#pragma once
/// The backend that runs kernels on a GPU through the CUDA driver. Its parts (driver, context, kernel functions) can be
/// used without it; see the headers of this folder.

#include <memory>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>

namespace tuner {

struct CudaOptions {
  int device = 0;                    ///< ordinal; its primary context is used
  bool use_current_context = false;  ///< the caller's current context and its device instead
  PreloadedKernels preloaded = PreloadedKernels::none;
  bool line_info = false;  ///< compile with source lines, for profilers
};

/// Threads: see Backend. Throws Error without a usable device.
///
/// NVRTC is needed by compiler(), which throws NvrtcError without it, and by all functions that run tuner's own
/// kernels: fill, compare, fingerprint, sample. Fills may still run when their call returns, but later calls see their
/// result; all other work is done when its call returns. sample() returns fewer samples than requested if its time ends
/// between two of them.
std::unique_ptr<Backend> make_cuda_backend(CudaOptions options = {});

}  // namespace tuner
