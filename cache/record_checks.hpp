#pragma once
/// Which records may be stored: asked before every write, and of everything that comes from another file, which is
/// somebody else's word. Private to this room.

#include <optional>
#include <string>

#include <fmt/format.h>

#include <cache/fields.hpp>
#include <cache/records.hpp>

namespace tuner::cache {

// How much a record may hold.
inline constexpr std::size_t kMaxTextBytesOfField = 64 << 10;
inline constexpr std::size_t kMaxProseBytes = 256 << 10;  ///< messages and compiler logs
inline constexpr std::size_t kMaxSamples = 100'000;
inline constexpr std::size_t kMaxNumbers = 1000;  ///< metrics of one trial, and the like

/// What is wrong with a record, in words; nullopt when it may be stored.
std::optional<std::string> problem_with(const KernelRecord& kernel);
std::optional<std::string> problem_with(const DeviceRecord& device);
std::optional<std::string> problem_with(const ProblemRecord& problem);
std::optional<std::string> problem_with(const TrialRecord& trial);
std::optional<std::string> problem_with(const StoredTrial& trial);
std::optional<std::string> problem_with(const BestRecord& best);
std::optional<std::string> problem_with(const SessionRecord& session);
std::optional<std::string> problem_with(const QuarantineRecord& record);
/// Accepts what tuner::Configuration::parse() takes and text() writes, and nothing else: `block=32 vector=true`, sorted
/// by name, one blank between.
std::optional<std::string> problem_with_configuration(const std::string& text);

/// Why a trial that this process did not measure cannot be what it says: its numbers do not agree with each other.
std::optional<std::string> contradiction_in(const TrialRecord& trial);
/// The same for its dates: what is said to come from the future would stay the latest for ever.
template <class Record>
std::optional<std::string> date_in_the_future(const Record& record) {
  constexpr std::int64_t day_ms = 24 * 60 * 60 * 1000;  // clocks differ
  std::optional<std::string> complaint;
  visit_fields(record, [&](const char* name, const auto& field, unsigned how) {
    if constexpr (std::is_constructible_v<std::optional<std::int64_t>, decltype(field)> &&
                  !std::is_floating_point_v<std::decay_t<decltype(field)>>) {
      if ((how & kInstant) != 0 && std::optional<std::int64_t>(field) > now_ms() + day_ms) {
        complaint = fmt::format("'{}' is in the future", name);
      }
    }
  });
  return complaint;
}

}  // namespace tuner::cache
