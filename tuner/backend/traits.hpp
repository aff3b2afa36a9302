#pragma once
/// Properties of each kind of backend, known before one is opened. Code asks for these properties, not for names of
/// backends.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/characters.hpp>

namespace tuner {

// Values of DeviceKey::backend.
inline constexpr std::string_view kCudaBackend = "cuda";
inline constexpr std::string_view kHostBackend = "host";

/// Messages about kernels that the host backend cannot compile or run end with these: for `asm`, for tensor cores, and
/// for headers and words of CUDA that it lacks.
inline constexpr const char* kInlinePtx = "this is inline PTX, which only a GPU runs";
inline constexpr const char* kGuardedCode = "code that `__CUDA_ARCH__` guards is left out on the host";
inline constexpr const char* kTensorCores = "nvcuda::wmma is for tensor cores, which only a GPU has";
inline constexpr const char* kForGpus = ", which is for GPUs";

/// The host backend's message about an access that a GPU does not make begins with this.
inline constexpr const char* kMisaligned = "misaligned access, on which a GPU faults";

struct BackendTraits {
  bool is_gpu = true;          ///< has counters, an energy sensor and machine code to show; much faster than a CPU
  bool keeps_objects = false;  ///< its compiler keeps its images, so they need not be stored

  bool shares_cores = false;  ///< shares its cores with all other work, so a slow kernel may only be waiting
  std::size_t batch = 0;      ///< the best number of configurations in one compile; 0: depends on the number of cores
};

inline BackendTraits traits(std::string_view backend) {
  if (backend == kHostBackend) return {false, true, true, 16};
  return {};
}
inline BackendTraits traits(const DeviceKey& key) { return traits(key.backend); }

/// CompileRequest::architecture for a device.
inline std::string architecture_of(const DeviceKey& key) {
  return key.backend == kHostBackend ? key.backend : "sm_" + std::to_string(key.compute_capability);
}

/// 90 for "compute_90", an architecture of PTX, which later chips can use too; nothing for the architecture of one
/// chip.
inline std::optional<int> virtual_capability(std::string_view architecture) {
  constexpr std::string_view kPrefix = "compute_";
  if (!architecture.starts_with(kPrefix)) return std::nullopt;
  return number_of<int>(architecture.substr(kPrefix.size()));
}

/// Whether code for \p target ("sm_90a", "compute_90a") runs on one chip alone, which is not of \p compute_capability.
inline bool is_for_another_chip(std::string_view target, int compute_capability) {
  return target.ends_with('a') && !target.ends_with('_' + std::to_string(compute_capability) + 'a');
}

}  // namespace tuner
