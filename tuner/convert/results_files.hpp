#pragma once
/// Results in the files of other tuners: T4 (the Open Autotuning Results Schema 1.0.0) and the cache files of Kernel
/// Tuner. Times in them are milliseconds.

#include <string>
#include <vector>

#include <tuner/convert/tuned_results.hpp>

namespace tuner::convert {

/// The beginning of the JSON texts below.
inline constexpr const char* kResultsMark = R"({"written_by": "tuner")";

/// Every trial of \p tuning. Failures have a reason: `timeout compile runtime correctness constraints`.
std::string t4_text(const RecordedTuning& tuning);

/// A cache file for Kernel Tuner's simulation mode: every trial of \p tuning, with Kernel Tuner's three classes of
/// failures. \p order: of the parameters; a script that uses the file must declare them in this order. Parameters that
/// it does not contain follow by name.
std::string kernel_tuner_cache_text(const RecordedTuning& tuning, const std::vector<std::string>& order);

}  // namespace tuner::convert
