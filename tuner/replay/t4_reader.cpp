#include <tuner/replay/json_text.hpp>
#include <tuner/replay/read_recording.hpp>

namespace tuner::replay {

namespace {

/// Seconds a unit of `metadata.timeunit`; milliseconds, misspelt ones too, when it does not say.
double seconds_a_unit(const nlohmann::json& file) {
  const auto metadata = file.find("metadata");
  if (metadata == file.end() || !metadata->is_object()) return 1e-3;
  const auto unit = metadata->find("timeunit");
  if (unit == metadata->end() || !unit->is_string()) return 1e-3;
  const auto word = unit->get<std::string>();
  if (word.starts_with("mic") || word == "us") return 1e-6;
  if (word.starts_with("nan") || word == "ns") return 1e-9;
  if (word.starts_with("s")) return 1;
  return 1e-3;
}

/// Compiling, running, checking and overhead; the search's own time is left out.
double eval_time(const nlohmann::json& times) {
  double sum = 0;
  for (const char* part : {"compilation", "compilation_time", "framework", "validation"})
    sum += number_or(times, part, 0);
  const double benchmark = number_or(times, "benchmark", -1);
  if (benchmark >= 0) return sum + benchmark;
  const auto runs = times.find("runtimes");
  if (runs != times.end() && runs->is_array())
    for (const auto& run : *runs)
      if (run.is_number()) sum += run.get<double>();
  return sum;
}

OutcomeKind outcome(const nlohmann::json& result, const std::string& place) {
  const auto word = result.find("invalidity");
  if (word == result.end() || !word->is_string())
    return number_or(result, "correctness", 1) > 0 ? OutcomeKind::ok : OutcomeKind::wrong;
  const auto text = word->get<std::string>();
  if (text == "correct" || text.empty()) return OutcomeKind::ok;
  if (text == "compile") return OutcomeKind::compile;
  if (text == "runtime") return OutcomeKind::launch;
  if (text == "timeout") return OutcomeKind::timeout;
  if (text == "correctness") return OutcomeKind::wrong;
  if (text == "constraints") return OutcomeKind::invalid;
  throw RecordingError(place + "unknown invalidity '" + text + "'");
}

std::optional<double> objective_of(const nlohmann::json& result) {
  std::string wanted;
  const auto objectives = result.find("objectives");
  if (objectives != result.end() && objectives->is_array() && !objectives->empty() && objectives->front().is_string())
    wanted = objectives->front().get<std::string>();
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return std::nullopt;
  for (const auto& measurement : *measurements) {
    const auto name = measurement.find("name");
    const bool is_wanted = wanted.empty() || (name != measurement.end() && name->is_string() && *name == wanted);
    const auto value = measurement.find("value");
    if (is_wanted && value != measurement.end() && value->is_number()) return value->get<double>();
  }
  return std::nullopt;
}

}  // namespace

Recording parse_t4(std::string_view text, const std::string& origin) {
  const nlohmann::json file = parse_json(text, origin);
  const auto results = file.find("results");
  if (results == file.end() || !results->is_array()) throw RecordingError(origin + ": there is no list \"results\"");
  const double unit = seconds_a_unit(file);
  std::vector<RecordedTrial> trials;
  std::size_t number = 0;
  for (const auto& result : *results) {
    const std::string place = origin + ": result " + std::to_string(++number) + ": ";
    const auto configuration = result.find("configuration");
    if (!result.is_object() || configuration == result.end() || !configuration->is_object())
      throw RecordingError(place + "there is no object \"configuration\"");
    RecordedTrial trial;
    for (const auto& [name, value] : configuration->items()) trial.configuration.set(name, json_value(value));
    trial.kind = outcome(result, place);
    if (trial.kind == OutcomeKind::ok) trial.objective = objective_of(result);
    if (trial.kind == OutcomeKind::ok && !trial.objective)
      throw RecordingError(place + "a correct result without a measurement of its objective");
    const auto times = result.find("times");
    if (times != result.end() && times->is_object()) trial.eval_seconds = eval_time(*times) * unit;
    trials.push_back(std::move(trial));
  }
  if (trials.empty()) throw RecordingError(origin + ": the list of results is empty");
  return make_recording(origin, trials);
}

}  // namespace tuner::replay
