#pragma once
/// Results in the files of other tuners: T4 (the Open Autotuning Results Schema 1.0.0) and what Kernel Tuner reads and
/// writes. Times in them are milliseconds.

#include <span>
#include <string>
#include <vector>

#include <tuner/convert/recorded_tuning.hpp>

namespace tuner::convert {

/// What the JSON texts below begin with.
inline constexpr const char* kResultsMark = R"({"written_by": "tuner")";
/// What the header of device targets begins with.
inline constexpr const char* kTargetsMark = "/* device targets of kernel ";

/// Every trial of \p tuning, failures with why: `timeout compile runtime correctness constraints`.
std::string t4_text(const RecordedTuning& tuning);

/// A cache file, which Kernel Tuner's simulation mode replays: every trial of \p tuning, failures by the names of its
/// three classes. \p order: of the parameters, which a script that uses the file must declare in the same order; those
/// that it does not name follow, by name.
std::string kernel_tuner_cache_text(const RecordedTuning& tuning, const std::vector<std::string>& order);

/// What `store_results` writes: of each tuning the configurations that take at most 3% longer than its best, fastest
/// first. \p source: the kernel's text, may be empty. Throws tuner::Error when two tunings are for the same device and
/// sizes, which the file cannot tell apart, when their kernels or objectives differ, and when one has no such name
/// there.
std::string kernel_tuner_results_text(std::span<const RecordedTuning> tunings, const std::vector<std::string>& order,
                                      const std::string& source);

/// A header as `create_device_targets` writes it: the parameters as macros, of the configuration that loses least over
/// the sizes of each device, chosen by `-DTARGET_NAME_OF_THE_DEVICE`, and else of the one that loses least over all.
/// Throws as kernel_tuner_results_text().
std::string device_targets_text(std::span<const RecordedTuning> tunings, const std::vector<std::string>& order);

}  // namespace tuner::convert
