#pragma once
/// Compiles kernel files with NVRTC, for any architecture that it supports. Needs no GPU. The result is a cubin, or PTX
/// for a virtual architecture ("compute_90"), which drivers translate for that chip and all later ones.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include <tuner/backend/compiler.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner::cuda {

struct NvrtcOptions {
  bool line_info = false;  ///< source lines for profilers
  /// Returns a folder for precompiled headers. Only for a process that compiles one program at a time. Empty: they are
  /// not used.
  std::function<std::filesystem::path()> folder_of_headers = {};
  double long_s = 0.4;  ///< the headers of texts that take the processor this long are precompiled
};

/// Thread-safe. \p library must outlive it; nvrtc() does. For an unknown architecture, compiling returns a CompileError
/// that lists the known ones.
std::unique_ptr<Compiler> make_nvrtc_compiler(const Nvrtc& library, NvrtcOptions options = {});
/// Uses the process's NVRTC, which the first compile loads. Throws NvrtcError if there is none.
std::unique_ptr<Compiler> make_lazy_nvrtc_compiler(NvrtcOptions options);

/// The part of each image's key that tuner itself decides: the language, the options of every compile, and its own
/// headers. Needs no NVRTC.
std::string own_part_of_images();

/// PTX of \p request as text, for the compute capability of its architecture; or why it does not compile.
std::variant<std::string, CompileError> compile_to_ptx(const Nvrtc& library, const CompileRequest& request,
                                                       NvrtcOptions options = {});

}  // namespace tuner::cuda
