#pragma once
/// The C++ text that a kernel file and the kernels wanted from it become.

#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/includes.hpp>

namespace tuner::host {

/// What is compiled for a request.
struct ProgramText {
  std::string unit;
  /// The author's headers, by paths from the kernel file's folder, which may lead out of it; all of those that can be
  /// named so, where one of them is not as the author wrote it, or not on this host.
  std::vector<IncludedFile> headers;

  friend bool operator==(const ProgramText&, const ProgramText&) = default;
};

/// One translation unit for all of \p request's expressions; function i is exported as symbol(i). Line numbers of the
/// author's files are kept. \p includes: what the kernel file reads.
ProgramText whole_program(const CompileRequest& request, const Includes& includes);
/// The same without the host functions of the author's files (core/host_functions.hpp).
ProgramText program_without_host_functions(const CompileRequest& request, const Includes& includes);
std::string symbol(std::size_t function);

/// \p source, a kernel file's or a header's of its author, with what no header of ours can give its meaning: each
/// `extern __shared__ T name[];` as a pointer to the block's dynamic shared memory, `static __shared__` without its
/// first word, and `__noinline__` by a name of ours, as the C++ library's own attributes use that word.
std::string own_text(const std::string& source);

}  // namespace tuner::host
