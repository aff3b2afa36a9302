#include <tuner/replay/json_file.hpp>

namespace tuner::replay {

namespace {

/// Seconds in a unit of `metadata.timeunit`. Milliseconds are the default, and may be misspelt.
double seconds_a_unit(const nlohmann::json& file) {
  const std::string word = text_or_empty(member(file, "metadata"), "timeunit");
  if (word.starts_with("mic") || word == "us") return 1e-6;
  if (word.starts_with("nan") || word == "ns") return 1e-9;
  return word.starts_with("s") ? 1 : 1e-3;
}

/// Time for compiling, running, checking and overhead, without the search's own.
double eval_time(const nlohmann::json& times, const Fail& fail) {
  double sum = 0;
  for (const char* part : {"compilation", "compilation_time", "framework", "validation"})
    sum += time_or(times, part, 0, fail);
  if (!member(times, "benchmark").is_null()) return sum + time_or(times, "benchmark", 0, fail);
  for (const nlohmann::json& run : member(times, "runtimes"))
    if (run.is_number()) {
      if (run.get<double>() < 0) fail(times, "runtimes", "a time in 'runtimes' is negative");
      sum += run.get<double>();
    }
  return sum;
}

OutcomeKind outcome(const nlohmann::json& result, const Fail& fail) {
  const nlohmann::json& word = member(result, "invalidity");
  if (word.is_null()) return number_or(result, "correctness", 1, fail) > 0 ? OutcomeKind::ok : OutcomeKind::wrong;
  const std::string text = word.is_string() ? word.get<std::string>() : word.dump();
  if (text == "correct" || text.empty()) return OutcomeKind::ok;
  if (text == "compile") return OutcomeKind::compile;
  if (text == "runtime") return OutcomeKind::launch;
  if (text == "timeout") return OutcomeKind::timeout;
  if (text == "correctness") return OutcomeKind::wrong;
  if (text != "constraints") fail(result, "invalidity", "unknown invalidity '" + text + "'");
  return OutcomeKind::invalid;
}

/// The first measurement of the first objective.
double first_measured(const nlohmann::json& result, const Fail& fail) {
  const nlohmann::json& objectives = member(result, "objectives");
  const bool named = objectives.is_array() && !objectives.empty() && objectives.front().is_string();
  const std::string wanted = named ? objectives.front().get<std::string>() : "";
  const nlohmann::json& measurements = member(result, "measurements");
  if (measurements.is_array())
    for (const nlohmann::json& measurement : measurements) {
      const std::string name = text_or_empty(measurement, "name");
      if (!wanted.empty() && name != wanted) continue;
      if (!member(measurement, "value").is_number())
        fail(measurement, "value", "a correct result whose measurement has no number as its \"value\"");
      return objective(measurement, "value", name, is_rate(name), fail);
    }
  fail(result, "measurements",
       "a correct result without a measurement of its objective" + (named ? " '" + wanted + '\'' : ""));
  return 0;
}

}  // namespace

Recording parse_t4(const JsonFile& file) {
  const nlohmann::json& results = member(file.root(), "results");
  if (!results.is_array()) file.fail(file.root(), "results", "there is no list \"results\"");
  if (results.empty()) file.fail(results, "", "the list of results is empty");
  const double unit = seconds_a_unit(file.root());
  std::vector<RecordedTrial> trials;
  for (const nlohmann::json& result : results) {
    RecordedTrial& trial = trials.emplace_back();
    const Fail fail = [&](const auto& object, const auto& key, const auto& complaint) {
      file.fail(object, key, "result " + std::to_string(trials.size()) + ": " + complaint);
    };
    const nlohmann::json& configuration = member(result, "configuration");
    if (!configuration.is_object()) fail(result, "configuration", "there is no object \"configuration\"");
    for (const auto& [name, value] : configuration.items()) trial.configuration.set(name, json_value(value));
    trial.kind = outcome(result, fail);
    if (trial.kind == OutcomeKind::ok) trial.objective = first_measured(result, fail);
    if (member(result, "times").is_object()) trial.eval_seconds = eval_time(result["times"], fail) * unit;
  }
  return make_recording(file.origin(), trials);
}

}  // namespace tuner::replay
