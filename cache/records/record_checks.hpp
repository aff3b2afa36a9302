#pragma once
/// Which records may be stored. Asked before every write, and whenever a row or a line of text is read. Names and
/// values of kernels become code, so they must be identifiers and numbers. Private to this room.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <cache/records/fields.hpp>

namespace tuner::cache {

// The largest contents of a record.
inline constexpr std::size_t kMaxTextBytesOfField = 64 << 10;
inline constexpr std::size_t kMaxProseBytes = 256 << 10;  ///< messages and compiler logs
inline constexpr std::size_t kMaxSamples = 100'000;
inline constexpr std::size_t kMaxNumbers = 1000;  ///< metrics of one trial, and the like

/// \p text as a message or log of a record: repaired where it is not UTF-8, and cut to `kMaxProseBytes`.
std::string prose(std::string_view text);

/// Explains why a record may not be stored; nullopt when it may.
std::optional<std::string> problem_with(const KernelRecord& kernel);
std::optional<std::string> problem_with(const DeviceRecord& device);
std::optional<std::string> problem_with(const ProblemRecord& problem);
std::optional<std::string> problem_with(const TrialRecord& trial);
std::optional<std::string> problem_with(const StoredTrial& trial);
std::optional<std::string> problem_with(const BestRecord& best);
std::optional<std::string> problem_with(const SessionRecord& session);
std::optional<std::string> problem_with(const QuarantineRecord& record);
std::optional<std::string> problem_with(const MissRecord& miss);
/// Accepts what tuner::Configuration::text() writes: `block=32 vector=true`, sorted by name, one blank between. Names
/// must be identifiers, values identifiers or numbers.
std::optional<std::string> problem_with_configuration(const std::string& text);

}  // namespace tuner::cache
