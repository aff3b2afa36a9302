#pragma once
/// Tunings from databases, from which files of results are written.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/records.hpp>

#include <tuner/core/configuration.hpp>
#include <tuner/core/value.hpp>

namespace tuner::convert {

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
