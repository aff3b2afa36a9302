#pragma once
/// The metrics that CUPTI can count on a chip: names, units, and how many runs of a kernel a set of metrics takes. This
/// needs no GPU. And the counters of a device, which are read around launches. Everything is Unavailable, with the
/// reason, if CUPTI is missing or tuner was built without its headers.

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// One of the chip's own metrics. To name a value, a roll-up or part follows the name: `dram__bytes_read.sum`.
struct ChipMetric {
  std::string name;
  std::string_view kind;  ///< "counter", "ratio" or "throughput"
  std::string unit;       ///< "byte", "instruction/warp"; may be empty
  std::string meaning;
};

/// The counters from which the requested metrics are computed.
struct MetricPlan {
  std::vector<std::string> counters;  ///< the chip's names, each once
  struct Value {
    std::string name;                                   ///< as requested
    std::vector<std::pair<std::size_t, double>> terms;  ///< index into counters, factor
  };
  std::vector<Value> values;
};

/// One chip. Not thread-safe.
class ChipMetrics {
 public:
  virtual ~ChipMetrics() = default;
  virtual const std::string& chip() const = 0;    ///< "GH100"
  virtual const std::string& source() const = 0;  ///< CUPTI's library file
  /// All metrics of the chip, sorted by name; those of special configurations ("FE_A.TriageCompute.…") come last.
  virtual std::vector<ChipMetric> all() const = 0;
  /// The suffixes that a name of \p kind may have: ".sum", ".avg.per_second", …
  virtual std::vector<std::string> roll_ups(std::string_view kind) const = 0;
  /// Whether \p counter, with its roll-up, can be counted.
  virtual bool has(const std::string& counter) const = 0;
  /// The first of \p counters, separated by blanks, that the chip has; empty when it has none.
  std::string first_of(std::string_view counters) const;

  /// How to count \p metrics: names of core/device/metric.hpp or of the chip, but no sets. Unavailable for a name that
  /// is unknown (with a suggestion) or that this chip does not have.
  std::variant<MetricPlan, Unavailable> plan(std::span<const std::string> metrics) const;
  /// How often a kernel has to run for \p plan.
  virtual std::size_t passes(const MetricPlan& plan) const = 0;

  /// The image that configures the profiler. Throws Error.
  virtual std::vector<std::uint8_t> config_image(const MetricPlan& plan) const = 0;
  /// The values of the only range in \p counter_data, a decoded image. Throws Error.
  virtual Metrics evaluate(const MetricPlan& plan, std::span<const std::uint8_t> counter_data) const = 0;
};

/// The chips that CUPTI knows, in its order.
std::variant<std::vector<std::string>, Unavailable> known_chips();
/// Ignores upper and lower case in \p chip.
std::variant<std::unique_ptr<ChipMetrics>, Unavailable> chip_metrics(std::string_view chip);
/// The chip of device \p ordinal of this machine: "GH100". Needs a driver.
std::variant<std::string, Unavailable> chip_of_device(int ordinal);

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

/// Of \p context on device \p ordinal. Also Unavailable if the driver does not permit it.
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(CUcontext context, int ordinal);

// Whether this process may read hardware counters, according to the system's files. A container may hide these files;
// then only an attempt shows whether the driver permits it.

/// The advice for a system where only administrators may read counters: a clause without a full stop.
std::string permission_cure();

/// Whether the driver lets only administrators read counters. \p driver_parameters: text of /proc/driver/nvidia/params.
bool only_for_administrators(std::string_view driver_parameters);
/// Whether a process has CAP_SYS_ADMIN or CAP_PERFMON. \p status: the text of its /proc/self/status.
bool is_administrator(std::string_view status);

/// Why the driver will not let this process count; empty: no reason is known.
std::string why_not_permitted();

}  // namespace tuner::cuda
