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

/// Counters of one context, which must be current in every call and at the end. One thread.
class Counters {
 public:
  virtual ~Counters() = default;
  /// Leaves profiling on, since switching it on takes longer than counting.
  virtual CountResult collect(std::span<const std::string> metrics, const CountedWork& work) = 0;
  /// Switches profiling off: before anything is timed.
  virtual void rest() = 0;
  /// Gives up what belongs to a context that was lost.
  virtual void leak() noexcept = 0;
};

/// Of \p context on device \p ordinal.
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(CUcontext context, int ordinal);

}  // namespace tuner::cuda
