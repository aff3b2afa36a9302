#pragma once
/// The compiler's output for a configuration, for people to read: PTX and SASS.

#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/device/device.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::cli {

/// Stands for any device of \p architecture ("sm_90"), which is also its name. Throws Error for an unknown one.
Device device_of(const std::string& architecture);

/// The request to compile the launches of \p configuration for \p architecture ("sm_90"). Throws Error if NVRTC cannot
/// compile for it, and if the launches cannot run there.
CompileRequest code_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                            const std::string& architecture, const Configuration& configuration);

/// All three need NVRTC, no GPU, and throw Error.
Image machine_code(const CompileRequest& request);
std::string ptx(const CompileRequest& request);
/// Uses nvdisasm or cuobjdump of the CUDA toolkit; throws Error if neither is installed.
std::string sass(const CompileRequest& request);

}  // namespace tuner::cli
