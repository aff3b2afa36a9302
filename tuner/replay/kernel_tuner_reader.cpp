#include <tuner/replay/json_file.hpp>
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
double seconds(const nlohmann::json& entry, const std::function<std::string(const std::string&)>& place) {
  double sum = 0;
  for (const char* part : {"compile_time", "verification_time", "benchmark_time", "framework_time"})
    sum += number_or(entry, part, 0, place);
  return sum * 1e-3;
}

std::vector<std::string> parameter_names(const JsonFile& file) {
  const auto keys = file.root().find("tune_params_keys");
  if (keys == file.root().end() || !keys->is_array() || keys->empty())
    throw RecordingError(file.place({"tune_params_keys"}) + "there is no list \"tune_params_keys\" with names");
  std::vector<std::string> names;
  for (const nlohmann::json& key : *keys) {
    if (!key.is_string())
      throw RecordingError(file.place({"tune_params_keys", std::to_string(names.size())}) + key.dump() +
                           " is not the name of a parameter");
    names.push_back(key.get<std::string>());
  }
  return names;
}

}  // namespace

Recording parse_kernel_tuner(std::string_view text, const std::string& origin) {
  const JsonFile file(text, origin);
  const auto cache = file.root().find("cache");
  if (cache == file.root().end() || !cache->is_object())
    throw RecordingError(file.place({"cache"}) + "there is no object \"cache\"");
  const std::vector<std::string> names = parameter_names(file);
  const auto objective_name = file.root().find("objective");
  const std::string objective =
      objective_name != file.root().end() && objective_name->is_string() ? objective_name->get<std::string>() : "time";

  std::vector<RecordedTrial> trials;
  for (const auto& item : cache->items()) {
    const std::string& key = item.key();
    const nlohmann::json& entry = item.value();
    const auto place = [&](const std::string& member) { return file.place({"cache", key, member}); };
    const auto here = [&] { return file.place({"cache", key}) + "the entry '" + key + "' "; };
    if (!entry.is_object()) throw RecordingError(here() + "is not an object");
    RecordedTrial trial;
    for (const std::string& name : names) {
      const auto value = entry.find(name);
      if (value == entry.end()) throw RecordingError(here() + "has no value of '" + name + "'");
      trial.configuration.set(name, json_value(*value));
    }
    const std::string measured = entry.contains(objective) ? objective : "time";
    const auto result = entry.find(measured);
    if (result == entry.end()) throw RecordingError(here() + "has no '" + objective + "'");
    if (result->is_number()) {
      trial.objective = result->get<double>();
    } else if (result->is_string() || result->is_null()) {
      trial.kind = failure(result->is_string() ? result->get<std::string>() : "");
    } else {
      throw RecordingError(place(measured) + '\'' + measured + "' is neither a number nor the name of a failure");
    }
    trial.eval_seconds = seconds(entry, place);
    trials.push_back(std::move(trial));
  }
  if (trials.empty()) throw RecordingError(file.place({"cache"}) + "the cache is empty");
  return make_recording(origin, trials);
}

}  // namespace tuner::replay
