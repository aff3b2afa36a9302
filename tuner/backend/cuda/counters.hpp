#pragma once
/// Reads a device's hardware counters around launches. Unavailable, with the reason, if CUPTI is missing or the driver
/// does not permit it. Planning, which needs no device, is in chip_metrics.hpp.

#include <cuda.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// The work that is counted. It runs once for each pass.
struct CountedWork {
  std::function<void()> before;  ///< not counted: prepares inputs and caches, and waits until that is done
  /// Launches and waits for the end. A failure ends the counting.
  std::function<std::optional<Unavailable>()> run;
  /// Several launches are one range, from the beginning of the first to the end of the last.
  std::size_t launches = 1;
};

/// Counters of one context, which must be current in every call and in the destructor. One thread.
class Counters {
 public:
  virtual ~Counters() = default;
  /// Leaves profiling on, because switching it on takes longer than counting.
  virtual CountResult collect(std::span<const std::string> metrics, const CountedWork& work) = 0;
  /// Switches profiling off. Call it before anything is timed.
  virtual void rest() = 0;
  /// Drops all handles: those of a lost context cannot be freed.
  virtual void leak() noexcept = 0;
};

/// Of \p context on device \p ordinal.
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(CUcontext context, int ordinal);

}  // namespace tuner::cuda
