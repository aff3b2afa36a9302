#pragma once
/// Which records may be stored: asked before every write, and of every line that is imported. Private to this room.

#include <optional>
#include <string>

#include <cache/records.hpp>

namespace tuner::cache {

/// What is wrong with a record, in words; nullopt when it may be stored.
std::optional<std::string> problem_with(const KernelRecord& kernel);
std::optional<std::string> problem_with(const DeviceRecord& device);
std::optional<std::string> problem_with(const ProblemRecord& problem);
std::optional<std::string> problem_with(const TrialRecord& trial);
std::optional<std::string> problem_with(const BestRecord& best);
std::optional<std::string> problem_with_configuration(const std::string& text);

}  // namespace tuner::cache
