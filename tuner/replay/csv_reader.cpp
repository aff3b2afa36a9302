#include <algorithm>
#include <cmath>
#include <map>

#include <boost/tokenizer.hpp>

#include <tuner/core/characters.hpp>
#include <tuner/replay/read_recording.hpp>

namespace tuner::replay {

namespace {

constexpr std::size_t kMostColumns = 256;

/// Fields of one line. Within double quotes a comma is text.
std::vector<std::string> fields_of(const std::string& line, const std::string& place) {
  using Separator = boost::escaped_list_separator<char>;
  std::vector<std::string> fields;
  for (const std::string& field : boost::tokenizer<Separator>(line, Separator("", ",", "\""))) {
    if (fields.size() == kMostColumns)
      throw RecordingError(place + "more than " + std::to_string(kMostColumns) + " columns; is this a recorded space?");
    fields.emplace_back(trimmed(field));
  }
  return fields;
}

double number(const std::string& text, const std::string& place, const std::string& column) {
  const auto value = number_of<double>(text);
  if (!value || !std::isfinite(*value))
    throw RecordingError(place + "column '" + column + "' holds '" + text + "', which is not a number");
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
    if (name.empty()) throw RecordingError(place + "column " + std::to_string(i + 1) + " has no name");
    if (std::count(columns.names.begin(), columns.names.end(), name) > 1)
      throw RecordingError(place + "column '" + name + "' is given twice");
    if (name == "eval_time_s" || name == "objective" || name == "outcome") {
      columns.results[name] = i;
    } else {
      columns.parameters.push_back(i);
    }
  }
  for (const char* needed : {"objective", "eval_time_s"})
    if (!columns.results.count(needed)) throw RecordingError(place + "there is no column '" + needed + "'");
  if (columns.parameters.empty()) throw RecordingError(place + "there is no column with a tuning parameter");
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
  if (!(trial.eval_seconds >= 0)) throw RecordingError(place + "column 'eval_time_s' is negative");
  const auto outcome = columns.results.find("outcome");
  if (outcome == columns.results.end() || fields[outcome->second].empty()) return trial;
  const auto kind = outcome_kind(fields[outcome->second]);
  if (!kind) throw RecordingError(place + "unknown outcome '" + fields[outcome->second] + "'");
  trial.kind = *kind;
  return trial;
}

}  // namespace

Recording parse_csv(std::string_view text, const std::string& origin) {
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
      throw RecordingError(place + std::to_string(fields.size()) + " fields where the header names " +
                           std::to_string(columns->names.size()));
    if ((trials.size() + 1) * fields.size() > kMostFields)
      throw RecordingError(place + "more than " + std::to_string(kMostFields) + " fields; is this a recorded space?");
    RecordedTrial trial = read_row(*columns, fields, place);
    const auto [earlier, is_new] = first_line.emplace(trial.configuration, line_number);
    if (!is_new)
      throw RecordingError(place + "the configuration of line " + std::to_string(earlier->second) + " again");
    trials.push_back(std::move(trial));
  }
  if (!columns) throw RecordingError(origin + ": there is no header line");
  if (trials.empty()) throw RecordingError(origin + ": there is no row");
  return make_recording(origin, trials);
}

}  // namespace tuner::replay
