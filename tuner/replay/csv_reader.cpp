#include <algorithm>
#include <charconv>
#include <map>

#include <tuner/replay/read_recording.hpp>

namespace tuner::replay {

namespace {

constexpr std::size_t kMostColumns = 256;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Fields of one line; a field may stand in double quotes, in which a comma is text.
std::vector<std::string> fields_of(std::string_view line, const std::string& place) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      if (fields.size() == kMostColumns)
        throw RecordingError(place + "more than " + std::to_string(kMostColumns) + " columns; is this a recording?");
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = std::string(trimmed(field));
  return fields;
}

std::string at_line(const std::string& origin, std::size_t line) { return origin + ':' + std::to_string(line) + ": "; }

double number(const std::string& text, const std::string& place, const std::string& column) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw RecordingError(place + "column '" + column + "' holds '" + text + "', which is not a number");
  return value;
}

struct Columns {
  std::vector<std::string> names;
  std::size_t eval_time = 0;
  std::size_t objective = 0;
  std::optional<std::size_t> outcome;
  std::vector<std::size_t> parameters;
};

Columns read_header(std::string_view line, const std::string& place) {
  Columns columns;
  columns.names = fields_of(line, place);
  std::optional<std::size_t> eval_time;
  std::optional<std::size_t> objective;
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    const std::string& name = columns.names[i];
    if (name.empty()) throw RecordingError(place + "column " + std::to_string(i + 1) + " has no name");
    if (std::count(columns.names.begin(), columns.names.end(), name) > 1)
      throw RecordingError(place + "column '" + name + "' is given twice");
    if (name == "eval_time_s") {
      eval_time = i;
    } else if (name == "objective") {
      objective = i;
    } else if (name == "outcome") {
      columns.outcome = i;
    } else {
      columns.parameters.push_back(i);
    }
  }
  if (!objective) throw RecordingError(place + "there is no column 'objective'");
  if (!eval_time) throw RecordingError(place + "there is no column 'eval_time_s'");
  if (columns.parameters.empty()) throw RecordingError(place + "there is no column with a tuning parameter");
  columns.eval_time = *eval_time;
  columns.objective = *objective;
  return columns;
}

}  // namespace

Recording parse_csv(std::string_view text, const std::string& origin) {
  std::optional<Columns> columns;
  std::vector<RecordedTrial> trials;
  std::map<Configuration, std::size_t> first_line;
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    const std::string place = at_line(origin, line_number);
    if (!columns) {
      columns = read_header(line, place);
      continue;
    }
    const std::vector<std::string> fields = fields_of(line, place);
    if (fields.size() != columns->names.size())
      throw RecordingError(place + std::to_string(fields.size()) + " fields where the header names " +
                           std::to_string(columns->names.size()));
    if ((trials.size() + 1) * fields.size() > kMostFields)
      throw RecordingError(place + "more than " + std::to_string(kMostFields) + " fields; is this a recording?");
    RecordedTrial trial;
    for (const std::size_t i : columns->parameters) trial.configuration.set(columns->names[i], Value::parse(fields[i]));
    if (!fields[columns->objective].empty()) {
      trial.objective = number(fields[columns->objective], place, "objective");
    } else {
      trial.kind = OutcomeKind::launch;
    }
    trial.eval_seconds = number(fields[columns->eval_time], place, "eval_time_s");
    if (!(trial.eval_seconds >= 0)) throw RecordingError(place + "column 'eval_time_s' is negative");
    if (columns->outcome && !fields[*columns->outcome].empty()) {
      const auto kind = outcome_kind(fields[*columns->outcome]);
      if (!kind) throw RecordingError(place + "unknown outcome '" + fields[*columns->outcome] + "'");
      trial.kind = *kind;
    }
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
