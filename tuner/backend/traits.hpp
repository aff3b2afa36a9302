#pragma once
/// What follows from the kind of a backend and must be known before one is opened. Whoever would ask for a backend's
/// name asks here.

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tuner/core/device.hpp>

namespace tuner {

// DeviceKey::backend.
inline constexpr std::string_view kCudaBackend = "cuda";
inline constexpr std::string_view kHostBackend = "host";

struct BackendTraits {
  bool is_gpu = true;          ///< has counters, a sensor and machine code to show; a CPU is slow beside it
  bool keeps_objects = false;  ///< its compiler remembers what it compiled: images need not be stored
  bool shares_cores = false;   ///< runs where everything else does: what takes long may only be waiting
  std::size_t batch = 0;       ///< configurations that one compile should have; 0: as many as cores suggest
};

inline BackendTraits traits(const DeviceKey& key) {
  if (key.backend == kHostBackend) return {false, true, true, 8};
  return {};
}

/// CompileRequest::architecture for a device.
inline std::string architecture_of(const DeviceKey& key) {
  return key.backend == kHostBackend ? key.backend : "sm_" + std::to_string(key.compute_capability);
}

/// 90 for "compute_90", which PTX is written for and later chips can be given; nothing for an architecture that is one
/// chip's.
inline std::optional<int> virtual_capability(std::string_view architecture) {
  constexpr std::string_view kPrefix = "compute_";
  if (!architecture.starts_with(kPrefix)) return std::nullopt;
  architecture.remove_prefix(kPrefix.size());
  int number = 0;
  const char* const end = architecture.data() + architecture.size();
  const auto [rest, error] = std::from_chars(architecture.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace tuner
