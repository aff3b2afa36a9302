#pragma once
/// What the compiler made of a configuration, for people to read: PTX and SASS.

#include <string>

#include <tuner/core/kernel_spec.hpp>

namespace tuner::cli {

/// PTX of the launches of \p configuration for \p architecture ("sm_90"); needs NVRTC, no GPU. Throws Error.
std::string ptx(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                const std::string& architecture, const Configuration& configuration);

/// Machine code in text, by nvdisasm or cuobjdump of the CUDA toolkit. Throws Error, also where neither is there.
std::string sass(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                 const std::string& architecture, const Configuration& configuration);

}  // namespace tuner::cli
