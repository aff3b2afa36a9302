#pragma once
/// Tells apart what is wrong in a kernel's text from what only a GPU has.

#include <string>

#include <tuner/backend/compiler.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner::host {

/// \p message, the first error of compiling \p request. The host backend lacks some headers of CUDA, and has some
/// others without contents. If that is the cause, the result ends with it and kForGpus.
std::string with_gpu_only_cause(const CompileRequest& request, const Includes& includes, std::string message);

}  // namespace tuner::host
