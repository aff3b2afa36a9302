#pragma once
/// Compiles kernel files with NVRTC, for any architecture it supports and without a GPU. The result is a cubin, or PTX
/// for a virtual architecture ("compute_90"), which drivers translate for that chip and every later one.

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>

namespace tuner::cuda {

struct NvrtcOptions {
  bool line_info = false;                       ///< source lines for profilers
  std::vector<std::string> include_paths = {};  ///< before the CUDA headers'
};

/// Thread-safe. \p library must outlive it; nvrtc() does. An architecture that it does not know is a CompileError that
/// lists those it does.
std::unique_ptr<Compiler> make_nvrtc_compiler(const Nvrtc& library, NvrtcOptions options = {});
/// With the process's NVRTC, which the first compile loads. Throws NvrtcError when there is none.
std::unique_ptr<Compiler> make_lazy_nvrtc_compiler(NvrtcOptions options = {});

/// The part of every image that is tuner's own: the language and the headers that it brings. Needs no NVRTC.
std::string own_part_of_images();

/// PTX of \p request, as people read it, for its architecture's compute capability; or why it does not compile.
std::variant<std::string, CompileError> compile_to_ptx(const Nvrtc& library, const CompileRequest& request,
                                                       NvrtcOptions options = {});

}  // namespace tuner::cuda
