#include <tuner/replay/read_recording.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/disk.hpp>
#include <cache/exchange.hpp>
#include <cache/session.hpp>

#include <tuner/core/objective.hpp>

namespace tuner::replay {
namespace {

RecordedTrial recorded(const cache::TrialRecord& trial, const std::string& objective) {
  RecordedTrial out;
  out.configuration = Configuration::parse(trial.configuration);
  out.kind = outcome_kind(trial.kind).value_or(OutcomeKind::launch);
  if (out.kind == OutcomeKind::ok) out.objective = Objective{objective}(trial.median_ns, trial.metrics);
  for (const auto& [part, seconds] : trial.times_s)
    if (part != "wait") out.eval_seconds += seconds;
  if (trial.resources) {
    const cache::ResourceRecord& needs = *trial.resources;
    out.resources = Resources{needs.registers,      needs.spill_bytes,   needs.stack_bytes, needs.static_shared_bytes,
                              needs.constant_bytes, needs.blocks_per_sm, needs.occupancy};
  }
  return out;
}

std::string title(const cache::SessionKey& key) {
  return fmt::format("{} {} {} {}", key.kernel.name, key.problem.choices, cache::sizes_text(key.problem.sizes),
                     key.device.name.empty() ? key.device.key : key.device.name);
}

std::vector<Recording> recordings_of(cache::Database& database, const std::string& origin, const Warn& warn) {
  std::vector<Recording> out;
  std::set<decltype(cache::SessionKey().identity())> seen;
  for (const cache::SessionRecord& session : cache::sessions(database)) {
    const cache::SessionKey& key = session.key;
    if (!seen.insert(key.identity()).second) continue;
    std::vector<RecordedTrial> trials;
    for (const cache::TrialRecord& trial : cache::finished_trials(database, key)) try {
        trials.push_back(recorded(trial, key.kernel.objective));
      } catch (const std::invalid_argument& error) {
        if (warn) warn(fmt::format("{}: '{}': a trial is left out: {}", origin, title(key), error.what()));
      }
    const auto measured =
        std::count_if(trials.begin(), trials.end(), [](const auto& trial) { return trial.objective.has_value(); });
    if (measured >= static_cast<std::ptrdiff_t>(kFewestMeasured)) {
      out.push_back(make_recording(title(key), trials, Objective{key.kernel.objective}.is_time() ? "ns" : ""));
    } else if (warn) {
      warn(fmt::format("{}: '{}' has {} measured configurations: too few to replay (at least {})", origin, title(key),
                       measured, kFewestMeasured));
    }
  }
  if (!out.empty()) return out;
  throw RecordingError(fmt::format(
      "{}: {}; record one with `tune KERNEL --strategy exhaustive`", origin,
      seen.empty() ? "holds no tuning, at most best configurations (`tune db export --all` writes the tunings too)"
                   : fmt::format("holds no tuning with {} measured configurations", kFewestMeasured)));
}

std::string without_endings(const std::string& origin) {
  std::string stem = std::filesystem::path(origin).filename().string();
  for (const std::string_view ending : {".gz", ".csv", ".json", ".jsonl"})
    if (stem.size() > ending.size() && stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  return stem;
}

/// Whether \p text was written by `tune db export`.
bool is_exported(std::string_view text) {
  while (text.starts_with('#')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.starts_with("{\"tuner_wisdom\"");
}

}  // namespace

std::vector<Recording> read_recordings(const std::filesystem::path& path, const Warn& warn) try {
  if (!cache::is_database_file(path)) return parse_recordings(cache::read_text(path), path.string(), warn);
  std::string reason;
  std::optional<cache::Database> database =
      cache::Database::open_shipped(path, {.warn = [&](const std::string& text) { reason = text; }});
  if (!database) throw RecordingError(reason);
  return recordings_of(*database, path.string(), warn);
} catch (const cache::CacheError& error) {
  throw RecordingError(error.what());
}

std::vector<Recording> parse_recordings(std::string_view text, const std::string& origin, const Warn& warn) {
  if (cache::is_database(text)) throw RecordingError(origin + ": a compressed database: gunzip it first");
  if (!is_exported(text)) return {parse_recording(text, origin)};
  cache::Database database = cache::Database::in_memory();
  cache::import_text(database, text, origin);
  return recordings_of(database, origin, warn);
}

Recording parse_recording(std::string_view text, const std::string& origin) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) throw RecordingError(origin + ": the file is empty");
  Recording out = text[first] == '{' ? parse_json(text, origin) : parse_csv(text, origin);
  out.name = without_endings(origin);
  return out;
}

}  // namespace tuner::replay
