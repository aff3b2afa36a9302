#pragma once
/// What the compiler made of a configuration, for people to read: PTX and SASS.

#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner::cli {

/// To compile the launches of \p configuration for \p architecture ("sm_90"). Throws Error where NVRTC cannot, and
/// where they cannot run there.
CompileRequest code_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                            const std::string& architecture, const Configuration& configuration);

/// All three need NVRTC, no GPU, and throw Error.
Image machine_code(const CompileRequest& request);
std::string ptx(const CompileRequest& request);
/// By nvdisasm or cuobjdump of the CUDA toolkit; throws Error where neither is there.
std::string sass(const CompileRequest& request);

}  // namespace tuner::cli
