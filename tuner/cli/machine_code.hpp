#pragma once
/// What the compiler made of a configuration, for people to read: PTX and SASS.

#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner::cli {

/// What the launches of \p configuration are compiled to for \p architecture ("sm_90"); needs NVRTC, no GPU. Throws
/// Error, also where they cannot run there.
Image machine_code(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                   const std::string& architecture, const Configuration& configuration);

/// The same as PTX.
std::string ptx(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                const std::string& architecture, const Configuration& configuration);

/// The same in text, by nvdisasm or cuobjdump of the CUDA toolkit. Throws Error, also where neither is there.
std::string sass(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                 const std::string& architecture, const Configuration& configuration);

}  // namespace tuner::cli
