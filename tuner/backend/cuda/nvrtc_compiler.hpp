#pragma once
/// Compiles kernel files to cubins with NVRTC, for any architecture it supports and without a GPU.

#include <memory>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>

namespace tuner::cuda {

struct NvrtcOptions {
  bool line_info = false;                  ///< source lines for profilers
  std::vector<std::string> include_paths;  ///< before the CUDA headers'
};

/// Thread-safe. \p library must outlive it; nvrtc() does. An architecture that it does not know is a CompileError that
/// lists those it does.
std::unique_ptr<Compiler> make_nvrtc_compiler(const Nvrtc& library, NvrtcOptions options = {});

}  // namespace tuner::cuda
