#pragma once
/// The message of a reference that was not compiled. Kernel and reference are usually one program, so the error may be
/// in neither.

#include <string>

#include <tuner/core/result/outcome.hpp>

namespace tuner {

struct KernelSpec;

/// Says whether the reference does not compile, or the source that the kernel is made of as well. The compiler's first
/// error follows, then its log.
std::string reference_failure(const KernelSpec& spec, const CompileError& error);

}  // namespace tuner
