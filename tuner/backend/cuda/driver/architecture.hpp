#pragma once
/// The facts that an architecture ("sm_90") fixes, for work without a device: compiling, enumerating, occupancy. The
/// limits of a real device come from the driver (discovery.hpp).
/// Source: CUDA C++ Programming Guide, "Compute Capabilities", technical specifications per compute capability.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/device/device.hpp>

namespace tuner::cuda {

/// 90 for "sm_90" and "sm_90a"; nothing for another form.
std::optional<int> compute_capability(std::string_view architecture);
/// "sm_90" for 90.
std::string architecture_name(int compute_capability);

/// "sm_20" … "sm_121", ascending. NVRTC may not compile for all of them.
std::vector<std::string> known_architectures();
/// A product that stands for its architecture where the number of multiprocessors matters.
struct UsualProduct {
  std::string_view name;
  int sm_count = 0;
};
std::optional<UsualProduct> usual_product(int compute_capability);
/// sm_count is that of usual_product(). Throws Error for an unknown architecture, with a list of the known ones.
DeviceLimits limits_of_architecture(std::string_view architecture);

/// FP32 lanes of one multiprocessor; 0 for an unknown compute capability.
int cores_per_sm(int compute_capability);

/// Operations that one multiprocessor begins in a clock; 0: not published, or it has none.
struct Throughput {
  int fp64 = 0;    ///< additions, multiplications or multiply-adds in double precision
  int tensor = 0;  ///< multiply-adds of half precision in tensor cores, sums in half, without sparsity
};
/// Sources: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"; for tensor cores NVIDIA's white
/// papers on Volta, Turing, Ampere (GA100, GA102), Ada, Hopper and Blackwell.
Throughput throughput_per_sm(int compute_capability);

}  // namespace tuner::cuda
