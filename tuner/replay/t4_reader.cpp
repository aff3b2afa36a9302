#include <tuner/replay/json_file.hpp>

namespace tuner::replay {

namespace {

/// `file:line:column: result N: ` of a member of the result.
using Place = std::function<std::string(JsonFile::Path)>;

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
double eval_time(const nlohmann::json& times, const Place& place) {
  const auto place_of_part = [&](const std::string& part) { return place({"times", part}); };
  double sum = 0;
  for (const char* part : {"compilation", "compilation_time", "framework", "validation"})
    sum += number_or(times, part, 0, place_of_part);
  const double benchmark = number_or(times, "benchmark", -1, place_of_part);
  if (benchmark >= 0) return sum + benchmark;
  const auto runs = times.find("runtimes");
  if (runs != times.end() && runs->is_array())
    for (const auto& run : *runs)
      if (run.is_number()) sum += run.get<double>();
  return sum;
}

OutcomeKind outcome(const nlohmann::json& result, const Place& place) {
  const auto word = result.find("invalidity");
  if (word == result.end() || word->is_null()) {
    const auto place_of_member = [&](const std::string& member) { return place({member}); };
    return number_or(result, "correctness", 1, place_of_member) > 0 ? OutcomeKind::ok : OutcomeKind::wrong;
  }
  const std::string text = word->is_string() ? word->get<std::string>() : word->dump();
  if (text == "correct" || text.empty()) return OutcomeKind::ok;
  if (text == "compile") return OutcomeKind::compile;
  if (text == "runtime") return OutcomeKind::launch;
  if (text == "timeout") return OutcomeKind::timeout;
  if (text == "correctness") return OutcomeKind::wrong;
  if (text == "constraints") return OutcomeKind::invalid;
  throw RecordingError(place({"invalidity"}) + "unknown invalidity '" + text + "'");
}

/// The first measurement of the first objective.
double objective_of(const nlohmann::json& result, const Place& place) {
  std::string wanted;
  const auto objectives = result.find("objectives");
  if (objectives != result.end() && objectives->is_array() && !objectives->empty() && objectives->front().is_string())
    wanted = objectives->front().get<std::string>();
  const auto measurements = result.find("measurements");
  if (measurements != result.end() && measurements->is_array()) {
    for (std::size_t i = 0; i < measurements->size(); ++i) {
      const nlohmann::json& measurement = (*measurements)[i];
      const auto name = measurement.find("name");
      if (!wanted.empty() && (name == measurement.end() || *name != wanted)) continue;
      const auto value = measurement.find("value");
      if (value != measurement.end() && value->is_number()) {
        const bool rate = name != measurement.end() && name->is_string() && is_rate(name->get<std::string>());
        const auto there = [&] { return place({"measurements", std::to_string(i), "value"}); };
        return rate ? reciprocal(value->get<double>(), there()) : value->get<double>();
      }
      throw RecordingError(place({"measurements", std::to_string(i), "value"}) +
                           "a correct result whose measurement has no number as its \"value\"");
    }
  }
  throw RecordingError(place({"measurements"}) + "a correct result without a measurement of its objective" +
                       (wanted.empty() ? "" : " '" + wanted + '\''));
}

}  // namespace

Recording parse_t4(const JsonFile& file) {
  const auto results = file.root().find("results");
  if (results == file.root().end() || !results->is_array())
    throw RecordingError(file.place({"results"}) + "there is no list \"results\"");
  const double unit = seconds_a_unit(file.root());
  std::vector<RecordedTrial> trials;
  for (std::size_t i = 0; i < results->size(); ++i) {
    const nlohmann::json& result = (*results)[i];
    const Place place = [&](JsonFile::Path path) {
      path.insert(path.begin(), {"results", std::to_string(i)});
      return file.place(path) + "result " + std::to_string(i + 1) + ": ";
    };
    const auto configuration = result.find("configuration");
    if (!result.is_object() || configuration == result.end() || !configuration->is_object())
      throw RecordingError(place({"configuration"}) + "there is no object \"configuration\"");
    RecordedTrial trial;
    for (const auto& [name, value] : configuration->items()) trial.configuration.set(name, json_value(value));
    trial.kind = outcome(result, place);
    if (trial.kind == OutcomeKind::ok) trial.objective = objective_of(result, place);
    const auto times = result.find("times");
    if (times != result.end() && times->is_object()) trial.eval_seconds = eval_time(*times, place) * unit;
    trials.push_back(std::move(trial));
  }
  if (trials.empty()) throw RecordingError(file.place({"results"}) + "the list of results is empty");
  return make_recording(file.origin(), trials);
}

}  // namespace tuner::replay
