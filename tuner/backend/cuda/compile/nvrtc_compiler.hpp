#pragma once
/// Compiles kernel files with NVRTC, for any architecture that it supports. Needs no GPU. The result is a cubin, or PTX
/// for a virtual architecture ("compute_90"), which drivers translate for that chip and all later ones.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/core/cpp/host_code.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner::cuda {

struct NvrtcOptions {
  bool line_info = false;  ///< source lines for profilers
};

/// Thread-safe. \p library must outlive it; nvrtc() does. For an unknown architecture, compiling returns a CompileError
/// that lists the known ones.
std::unique_ptr<Compiler> make_nvrtc_compiler(const Nvrtc& library);
/// Uses the process's NVRTC, which the first compile loads. Throws NvrtcError if there is none.
std::unique_ptr<Compiler> make_lazy_nvrtc_compiler(NvrtcOptions options);

/// The part of each image's key that tuner itself decides: the language and its own headers. Needs no NVRTC.
std::string own_part_of_images();

/// PTX of \p request as text, for the compute capability of its architecture; or why it does not compile.
std::variant<std::string, CompileError> compile_to_ptx(const Nvrtc& library, const CompileRequest& request,
                                                       NvrtcOptions options = {});

// ---- NVRTC's program log, in the formats of CUDA 11.4 to 13 (compile_log.cpp). `--ptxas-options=-v` makes it say the
// resources of each kernel.

/// By lowered name. Kernels that the log does not mention are absent.
std::map<std::string, Resources, std::less<>> resources_in_log(std::string_view log);

/// The first error: `mine.cu:14: expected a ";"` for one of the front end, the unchanged line for one of ptxas. The
/// first line, possibly empty, when nothing looks like an error. Says so if it points at one of \p macros.
std::string first_error(std::string_view log, const std::vector<std::string_view>& macros = {});

/// All errors of the front end, with the places that instantiate what they refuse.
std::vector<RefusedCode> refused_code(std::string_view log);

/// \p log without ptxas's resource lines.
std::string without_resource_lines(std::string_view log);

}  // namespace tuner::cuda
