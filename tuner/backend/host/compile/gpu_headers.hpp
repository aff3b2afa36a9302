#pragma once
/// Tells apart what is wrong in a kernel's text from what only a GPU has.

#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/cpp/includes.hpp>

namespace tuner::host {

/// \p message, the first error of compiling \p request, with its cause if that is clusters, or a header of CUDA that
/// the host backend lacks: it has no such header, or it has the header without the contents that the message names. The
/// result then ends with kForGpus.
std::string with_gpu_only_cause(const CompileRequest& request, const Includes& includes, std::string message);

}  // namespace tuner::host
