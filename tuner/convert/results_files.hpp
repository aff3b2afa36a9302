#pragma once
/// Files of other tuners with results: T4 (the Open Autotuning Results Schema 1.0.0) and the files of Kernel Tuner.
/// Times in them are milliseconds.

#include <span>
#include <string>
#include <vector>

#include <tuner/convert/recorded_tuning.hpp>

namespace tuner::convert {

/// The beginning of the JSON texts below.
inline constexpr const char* kResultsMark = R"({"written_by": "tuner")";
/// The beginning of the header of device targets.
inline constexpr const char* kTargetsMark = "/* device targets of kernel ";

/// Every trial of \p tuning. Failures have a reason: `timeout compile runtime correctness constraints`.
std::string t4_text(const RecordedTuning& tuning);

/// A cache file for Kernel Tuner's simulation mode: every trial of \p tuning, with Kernel Tuner's three classes of
/// failures. \p order: of the parameters; a script that uses the file must declare them in this order. Parameters that
/// it does not contain follow by name.
std::string kernel_tuner_cache_text(const RecordedTuning& tuning, const std::vector<std::string>& order);

/// A file as `store_results` writes it: for each tuning, the configurations within 3% of its best, best first.
/// \p source: the kernel's text; may be empty. Throws tuner::Error for different kernels or objectives, and for two
/// tunings with the same device and sizes, which the file cannot distinguish.
std::string kernel_tuner_results_text(std::span<const RecordedTuning> tunings, const std::vector<std::string>& order,
                                      const std::string& source);

/// A header as `create_device_targets` writes it, with the parameters as macros. `-DTARGET_NAME_OF_THE_DEVICE` selects
/// the configuration that loses least over the device's sizes; the default loses least over all. Throws as
/// kernel_tuner_results_text(), and for a value that cannot be a macro.
std::string device_targets_text(std::span<const RecordedTuning> tunings, const std::vector<std::string>& order);

}  // namespace tuner::convert
