#include <tuner/replay/json_text.hpp>
#include <tuner/replay/read_recording.hpp>

namespace tuner::replay {

namespace {

OutcomeKind failure(const std::string& word) {
  if (word.find("Compilation") != std::string::npos) return OutcomeKind::compile;
  if (word.find("Invalid") != std::string::npos) return OutcomeKind::invalid;
  if (word.find("Timeout") != std::string::npos) return OutcomeKind::timeout;
  if (word.find("Correctness") != std::string::npos || word.find("Verification") != std::string::npos)
    return OutcomeKind::wrong;
  return OutcomeKind::launch;
}

/// The strategy's own time is left out: replays account for their own.
double seconds(const nlohmann::json& entry) {
  double sum = 0;
  for (const char* part : {"compile_time", "verification_time", "benchmark_time", "framework_time"})
    sum += number_or(entry, part, 0);
  return sum * 1e-3;
}

}  // namespace

Recording parse_kernel_tuner(std::string_view text, const std::string& origin) {
  const nlohmann::json file = parse_json(text, origin);
  const auto cache = file.find("cache");
  const auto keys = file.find("tune_params_keys");
  if (cache == file.end() || !cache->is_object()) throw RecordingError(origin + ": there is no object \"cache\"");
  if (keys == file.end() || !keys->is_array() || keys->empty())
    throw RecordingError(origin + ": there is no list \"tune_params_keys\"");
  const auto objective_name = file.find("objective");
  const std::string objective =
      objective_name != file.end() && objective_name->is_string() ? objective_name->get<std::string>() : "time";

  std::vector<RecordedTrial> trials;
  for (const auto& [key, entry] : cache->items()) {
    const auto place = [&] { return place_of('"' + key + '"', text, origin); };
    if (!entry.is_object()) throw RecordingError(place() + "the entry '" + key + "' is not an object");
    RecordedTrial trial;
    for (const auto& parameter : *keys) {
      const auto name = parameter.is_string() ? parameter.get<std::string>() : parameter.dump();
      const auto value = entry.find(name);
      if (value == entry.end())
        throw RecordingError(place() + "the entry '" + key + "' has no value of '" + name + "'");
      trial.configuration.set(name, json_value(*value));
    }
    auto result = entry.find(objective);
    if (result == entry.end()) result = entry.find("time");
    if (result == entry.end()) throw RecordingError(place() + "the entry '" + key + "' has no '" + objective + "'");
    if (result->is_number()) {
      trial.objective = result->get<double>();
    } else {
      trial.kind = failure(result->is_string() ? result->get<std::string>() : result->dump());
    }
    trial.eval_seconds = seconds(entry);
    trials.push_back(std::move(trial));
  }
  if (trials.empty()) throw RecordingError(origin + ": the cache is empty");
  return make_recording(origin, trials);
}

}  // namespace tuner::replay
