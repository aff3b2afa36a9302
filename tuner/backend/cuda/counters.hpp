#pragma once
/// Reads a device's hardware counters around launches: the device half of counting. Unavailable, with its reason, where
/// there is no CUPTI, or the driver does not permit it.

#include <cuda.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// What is counted. It runs once for each pass.
struct CountedWork {
  std::function<void()> before;  ///< not counted: makes inputs and caches as they should be, and waits
  /// Launches, and waits for the end; its failure ends the counting.
  std::function<std::optional<Unavailable>()> run;
  /// Several are one range, from the first's beginning to the last's end.
  std::size_t launches = 1;
};

/// Counters of one context. Profiling is on only inside collect(). One thread.
class Counters {
 public:
  virtual ~Counters() = default;
  virtual CountResult collect(std::span<const std::string> metrics, const CountedWork& work) = 0;
};

/// Of \p context, which must be current (here and in collect()), on device \p ordinal.
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(CUcontext context, int ordinal);

}  // namespace tuner::cuda
