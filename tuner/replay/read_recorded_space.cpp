#include <tuner/replay/read_recorded_space.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include <boost/tokenizer.hpp>
#include <fmt/format.h>

#include <cache/exchange/exchange.hpp>
#include <cache/file/disk.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/query/session.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/replay/json_reader.hpp>

namespace tuner::replay {
namespace {

RecordedTrial to_recorded_trial(const cache::TrialRecord& trial, const std::string& objective) {
  RecordedTrial out;
  out.configuration = Configuration::parse(trial.configuration);
  out.kind = outcome_kind(trial.kind).value_or(OutcomeKind::launch);
  if (out.kind == OutcomeKind::ok) out.objective = Objective{objective}(trial.median_ns, trial.metrics);
  for (const auto& [part, seconds] : trial.times_s)
    if (part != "wait") out.eval_seconds += seconds;
  if (trial.resources) {
    const cache::ResourceRecord& needs = *trial.resources;
    out.resources = Resources{needs.registers,      needs.spill_bytes,   needs.stack_bytes, needs.static_shared_bytes,
                              needs.constant_bytes, needs.blocks_per_sm, needs.occupancy,   needs.target};
  }
  return out;
}

std::string title(const cache::SessionKey& key) {
  return fmt::format("{} {} {} {}", key.kernel.name, key.problem.choices, cache::sizes_text(key.problem.sizes),
                     key.device.name.empty() ? key.device.key : key.device.name);
}

std::vector<RecordedSpace> recorded_spaces_of(cache::Database& database, const std::string& origin, const Warn& warn) {
  std::vector<RecordedSpace> out;
  std::set<decltype(cache::SessionKey().identity())> seen;
  for (const cache::SessionRecord& session : cache::sessions(database)) {
    const cache::SessionKey& key = session.key;
    if (!seen.insert(key.identity()).second) continue;
    std::vector<RecordedTrial> trials;
    for (const cache::TrialRecord& trial : cache::finished_trials(database, key)) try {
        trials.push_back(to_recorded_trial(trial, key.kernel.objective));
      } catch (const std::invalid_argument& error) {
        if (warn) warn(fmt::format("{}: '{}': a trial is left out: {}", origin, title(key), error.what()));
      }
    const auto measured =
        std::count_if(trials.begin(), trials.end(), [](const auto& trial) { return trial.objective.has_value(); });
    if (measured >= static_cast<std::ptrdiff_t>(kFewestMeasured)) {
      out.push_back(make_recorded_space(title(key), trials, Objective{key.kernel.objective}.is_time() ? "ns" : ""));
    } else if (warn) {
      warn(fmt::format("{}: '{}' has {} measured configurations: too few to replay (at least {})", origin, title(key),
                       measured, kFewestMeasured));
    }
  }
  if (!out.empty()) return out;
  throw RecordedSpaceError(fmt::format(
      "{}: {}. Record one with `tune KERNEL --strategy exhaustive`", origin,
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

constexpr std::size_t kMostColumns = 256;

/// Fields of one line. Within double quotes a comma is text.
std::vector<std::string> fields_of(const std::string& line, const std::string& place) {
  using Separator = boost::escaped_list_separator<char>;
  std::vector<std::string> fields;
  for (const std::string& field : boost::tokenizer<Separator>(line, Separator("", ",", "\""))) {
    if (fields.size() == kMostColumns)
      throw RecordedSpaceError(place + "more than " + std::to_string(kMostColumns) +
                               " columns; is this a recorded space?");
    fields.emplace_back(trimmed(field));
  }
  return fields;
}

double number(const std::string& text, const std::string& place, const std::string& column) {
  const auto value = number_of<double>(text);
  if (!value || !std::isfinite(*value))
    throw RecordedSpaceError(place + "column '" + column + "' holds '" + text + "', which is not a number");
  return *value;
}

struct Columns {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> results;  // columns with the outcome of a configuration
  std::vector<std::size_t> parameters;
};

Columns read_header(const std::string& line, const std::string& place) {
  Columns columns{fields_of(line, place), {}, {}};
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    const std::string& name = columns.names[i];
    if (name.empty()) throw RecordedSpaceError(place + "column " + std::to_string(i + 1) + " has no name");
    if (std::count(columns.names.begin(), columns.names.end(), name) > 1)
      throw RecordedSpaceError(place + "column '" + name + "' is given twice");
    if (name == "eval_time_s" || name == "objective" || name == "outcome") {
      columns.results[name] = i;
    } else {
      columns.parameters.push_back(i);
    }
  }
  for (const char* needed : {"objective", "eval_time_s"})
    if (!columns.results.count(needed)) throw RecordedSpaceError(place + "there is no column '" + needed + "'");
  if (columns.parameters.empty()) throw RecordedSpaceError(place + "there is no column with a tuning parameter");
  return columns;
}

RecordedTrial read_row(const Columns& columns, const std::vector<std::string>& fields, const std::string& place) {
  RecordedTrial trial;
  for (const std::size_t i : columns.parameters) trial.configuration.set(columns.names[i], Value::parse(fields[i]));
  const std::string& objective = fields[columns.results.at("objective")];
  if (!objective.empty()) {
    trial.objective = number(objective, place, "objective");
  } else {
    trial.kind = OutcomeKind::launch;
  }
  trial.eval_seconds = number(fields[columns.results.at("eval_time_s")], place, "eval_time_s");
  if (!(trial.eval_seconds >= 0)) throw RecordedSpaceError(place + "column 'eval_time_s' is negative");
  const auto outcome = columns.results.find("outcome");
  if (outcome == columns.results.end() || fields[outcome->second].empty()) return trial;
  const auto kind = outcome_kind(fields[outcome->second]);
  if (!kind) throw RecordedSpaceError(place + "unknown outcome '" + fields[outcome->second] + "'");
  trial.kind = *kind;
  return trial;
}

}  // namespace

std::vector<RecordedSpace> read_recorded_spaces(const std::filesystem::path& path, const Warn& warn) try {
  if (!cache::is_database_file(path)) return parse_recorded_spaces(cache::read_text(path), path.string(), warn);
  std::string reason;
  std::optional<cache::Database> database =
      cache::Database::open_shipped(path, {.warn = [&](const std::string& text) { reason = text; }});
  if (!database) throw RecordedSpaceError(reason);
  return recorded_spaces_of(*database, path.string(), warn);
} catch (const cache::CacheError& error) {
  throw RecordedSpaceError(error.what());
}

std::vector<RecordedSpace> parse_recorded_spaces(std::string_view text, const std::string& origin, const Warn& warn) {
  if (cache::is_database(text)) throw RecordedSpaceError(origin + ": a compressed database: gunzip it first");
  if (!is_exported(text)) return {parse_recorded_space(text, origin)};
  cache::Database database = cache::Database::in_memory();
  cache::import_text(database, text, origin);
  return recorded_spaces_of(database, origin, warn);
}

RecordedSpace parse_recorded_space(std::string_view text, const std::string& origin) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) throw RecordedSpaceError(origin + ": the file is empty");
  RecordedSpace out = text[first] == '{' ? parse_json(text, origin) : parse_csv(text, origin);
  out.name = without_endings(origin);
  return out;
}

RecordedSpace parse_csv(std::string_view text, const std::string& origin) {
  std::optional<Columns> columns;
  std::vector<RecordedTrial> trials;
  std::map<Configuration, std::size_t> first_line;
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    const std::string place = origin + ':' + std::to_string(line_number) + ": ";
    if (!columns) {
      columns = read_header(line, place);
      continue;
    }
    const std::vector<std::string> fields = fields_of(line, place);
    if (fields.size() != columns->names.size())
      throw RecordedSpaceError(place + std::to_string(fields.size()) + " fields where the header names " +
                               std::to_string(columns->names.size()));
    if ((trials.size() + 1) * fields.size() > kMostFields)
      throw RecordedSpaceError(place + "more than " + std::to_string(kMostFields) +
                               " fields; is this a recorded space?");
    RecordedTrial trial = read_row(*columns, fields, place);
    const auto [earlier, is_new] = first_line.emplace(trial.configuration, line_number);
    if (!is_new)
      throw RecordedSpaceError(place + "the configuration of line " + std::to_string(earlier->second) + " again");
    trials.push_back(std::move(trial));
  }
  if (!columns) throw RecordedSpaceError(origin + ": there is no header line");
  if (trials.empty()) throw RecordedSpaceError(origin + ": there is no row");
  return make_recorded_space(origin, trials);
}

}  // namespace tuner::replay
