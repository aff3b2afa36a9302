#pragma once
/// Tunings as databases keep them: what files of results are written from.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <cache/database.hpp>
#include <cache/records.hpp>

#include <tuner/core/configuration.hpp>
#include <tuner/core/tuning_parameter.hpp>

namespace tuner::convert {

/// All trials of one kernel for one problem on one device, the last of each configuration; without measurements that
/// were not verified.
struct RecordedTuning {
  cache::SessionKey key;
  std::vector<cache::TrialRecord> trials;  ///< at least one that was measured
};

struct TuningFilter {
  std::string kernel = {};
  std::string device_key = {};                      ///< empty: all
  std::map<std::string, std::int64_t> sizes = {};   ///< that a problem must have
  std::map<std::string, std::string> choices = {};  ///< likewise
  std::string source_hash = {};                     ///< of the kernel's text; empty: of any
};

/// Those of \p filter, ordered by device, problem and objective. Of several for the same three (another source, driver
/// or conditions) the one that measured most configurations. Throws tuner::Error when there are none.
std::vector<RecordedTuning> recorded_tunings(std::span<cache::Database> databases, const TuningFilter& filter);

/// `kernel T=float n=1000 on NVIDIA H200`, for messages.
std::string title(const cache::SessionKey& key);

/// The parameters of \p tuning with the values that were tried, in ascending order; first those of \p order, in that
/// order. Throws tuner::Error when its configurations do not all assign the same ones.
std::vector<TuningParameter> tried_parameters(const RecordedTuning& tuning, const std::vector<std::string>& order);

}  // namespace tuner::convert
