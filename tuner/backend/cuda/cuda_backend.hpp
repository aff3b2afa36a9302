#pragma once
/// The backend that runs kernels on a GPU through the CUDA driver. Its pieces (driver, context, kernel functions,
/// occupancy) are usable on their own; see the headers of this folder.

#include <memory>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver.hpp>

namespace tuner {

struct CudaOptions {
  int device = 0;                    ///< ordinal; its primary context is used
  bool use_current_context = false;  ///< the caller's current context and its device instead
  OwnKernels own = OwnKernels::when_needed;
  bool line_info = false;  ///< compile with source lines, for profilers
};

/// Threads: see Backend. NVRTC is needed by compiler() (which throws NvrtcError without it) and by everything that runs
/// tuner's own kernels: fill, compare, fingerprint, sample. Everything but fills is over when its call returns, and
/// what follows a fill sees it. Throws Error without a usable device. sample() may return fewer samples than asked for
/// when its time ends between two of them.
std::unique_ptr<Backend> make_cuda_backend(CudaOptions options = {});

}  // namespace tuner
