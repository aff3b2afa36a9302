#pragma once
/// Tunings from databases, from which files of results are written: all trials of one, and the best configurations of a
/// kernel by device, choices and sizes.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cache/query/database.hpp>
#include <cache/records/stored_records.hpp>

#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/value.hpp>

namespace tuner::convert {

/// For people.
inline const std::string& device_name(const cache::DeviceRecord& device) {
  return device.name.empty() ? device.key : device.name;
}

/// The best configuration for one problem on one device.
struct TunedSize {
  cache::DeviceRecord device;
  cache::ProblemRecord problem;
  Configuration configuration;
  double median_ns = 0;
  std::string rule = {};  ///< cache::BestRecord::rule
};

struct TunedResults {
  cache::KernelRecord kernel;
  std::vector<TunedSize> rows;  ///< sorted by device, choices and sizes
};

/// Why serving would reject a configuration for a problem on a device; nullopt when it would not.
using Objection = std::function<std::optional<std::string>(const cache::Context&, const std::string& configuration)>;

struct TunedOptions {
  std::string kernel;
  std::string file = {};         ///< for a message; empty: the kernel is known by its name.
  std::string device_key = {};   ///< empty: all GPUs; if there are none, all CPUs.
  std::string source_hash = {};  ///< empty: the source that was measured last.
  Objection objection = {};      ///< leaves out results that it rejects.
};

/// For the objective time. Leaves out quarantined configurations. Throws tuner::Error when there are no results.
TunedResults tuned_results(std::span<cache::Database> databases, const TunedOptions& options);

/// All trials of one kernel for one problem on one device; the last trial of each configuration. Without measurements
/// that were not verified.
struct RecordedTuning {
  cache::SessionKey key;
  std::vector<cache::TrialRecord> trials;  ///< at least one was measured
};

struct TuningFilter {
  std::string kernel = {};
  std::string device_key = {};                      ///< empty: all
  std::map<std::string, std::int64_t> sizes = {};   ///< sizes that a problem must have
  std::map<std::string, std::string> choices = {};  ///< choices that a problem must have
  std::string source_hash = {};                     ///< SHA-256 of the kernel's source; empty: any
};

/// The tunings that match \p filter, sorted by device, problem and objective. If several differ only in source, driver
/// or conditions, returns the one that measured most configurations. Throws tuner::Error when there are none.
std::vector<RecordedTuning> recorded_tunings(std::span<cache::Database> databases, const TuningFilter& filter);

/// `kernel T=float n=1000 on NVIDIA H200`, for messages.
std::string title(const cache::SessionKey& key);

/// The parameters of \p tuning and their tried values, in ascending order. Parameters in \p order come first. Throws
/// tuner::Error when its configurations do not all have the same parameters.
std::vector<TuningParameter> tried_parameters(const RecordedTuning& tuning, const std::vector<std::string>& order);

}  // namespace tuner::convert
