#pragma once
/// Tells apart what is wrong in a kernel's text from what only a GPU has.

#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner::host {

/// \p message, the first error of compiling \p request. If its cause is clusters, or a header of CUDA that the host
/// backend lacks, or has without the contents that the message names, the result ends with the cause and kForGpus.
std::string with_gpu_only_cause(const CompileRequest& request, const Includes& includes, std::string message);

}  // namespace tuner::host
