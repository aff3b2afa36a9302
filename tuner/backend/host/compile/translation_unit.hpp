#pragma once
/// Makes the C++ text that is compiled for a kernel file and the requested kernels, and turns what a compiler says
/// about it into one sentence.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/compiler.hpp>
#include <tuner/core/cpp/host_code.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner::host {

/// A header of shim/, embedded at build time, so that one program file is enough.
struct ShimFile {
  std::string_view name;  ///< relative to the include path
  std::string_view text;
  std::string_view sha256;  ///< of `text`
};
std::span<const ShimFile> shim_files();
/// The folder of these headers below a folder where the compiler looks, so that they also have names that no author's
/// file has.
inline constexpr std::string_view kShim = "tuner_shim";

/// The C++ text for a request.
struct ProgramText {
  std::string unit;
  /// Copies of the author's headers, by paths from the kernel file's folder, which may lead out of it. Empty if no
  /// header had to be changed, none has the name of one of ours, and all are on this host.
  std::vector<IncludedFile> headers;
  /// program_headers_in() the author's files
  std::vector<std::string> of_programs = {};
  /// toolkit_std_folders()
  std::vector<std::string> toolkit = {};

  friend bool operator==(const ProgramText&, const ProgramText&) = default;
};

/// The kernel's source and the headers of its author in \p includes, the source first, without definitions of macros
/// that \p request makes.
std::vector<IncludedFile> own_texts(const CompileRequest& request, const Includes& includes);
/// One translation unit for all expressions of \p request. Function i is exported as symbol(i). Line numbers of the
/// author's files stay the same. \p texts: own_texts(), perhaps with parts left out.
ProgramText program_of(const CompileRequest& request, const Includes& includes, const std::vector<IncludedFile>& texts);
std::string symbol(std::size_t function);

/// All errors of g++ or clang++ in \p log, with the places that instantiate what they refuse.
std::vector<RefusedCode> refused_code(const std::string& log);

/// The first error of \p log with its place, or its cause if that is known. Known causes are a file that is missing,
/// tensor cores, a function of another file, and a brace that is not closed. Empty if \p log is. \p unit: the name of
/// the translation unit.
std::string failure_message(const CompileRequest& request, const std::string& log, const std::string& unit);

}  // namespace tuner::host
