#pragma once
/// The C++ text that a kernel file and the kernels wanted from it become.

#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/includes.hpp>

namespace tuner::host {

/// One translation unit for all of \p request's expressions; function i is exported as symbol(i). Line numbers of the
/// kernel file are kept. \p includes: what the kernel file reads.
std::string translation_unit(const CompileRequest& request, const Includes& includes);
std::string symbol(std::size_t function);

/// \p source with each `extern __shared__ T name[];` as a pointer to the block's dynamic shared memory.
std::string with_dynamic_shared(const std::string& source);

}  // namespace tuner::host
