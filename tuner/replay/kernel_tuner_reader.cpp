#include <tuner/replay/json_file.hpp>

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

struct ObjectiveOfFile {
  std::string name = "time";
  bool larger_is_better = false;
};

/// Kernel Tuner asks its user for the direction of an objective that is none of its own, and keeps it in newer files.
ObjectiveOfFile objective_of_file(const JsonFile& file) {
  ObjectiveOfFile objective;
  const auto name = file.root().find("objective");
  if (name != file.root().end() && name->is_string()) objective.name = name->get<std::string>();
  const auto given = file.root().find("objective_higher_is_better");
  if (given != file.root().end() && given->is_boolean()) {
    objective.larger_is_better = given->get<bool>();
  } else if (is_rate(objective.name)) {
    objective.larger_is_better = true;
  } else if (objective.name.find("time") == std::string::npos && objective.name.find("energy") == std::string::npos) {
    throw RecordingError(file.place({"objective"}) + "whether more or less '" + objective.name +
                         "' is better is not said; add \"objective_higher_is_better\": true or false to the file");
  }
  return objective;
}

}  // namespace

Recording parse_kernel_tuner(const JsonFile& file) {
  const auto cache = file.root().find("cache");
  if (cache == file.root().end() || !cache->is_object())
    throw RecordingError(file.place({"cache"}) + "there is no object \"cache\"");
  const std::vector<std::string> names = parameter_names(file);
  const ObjectiveOfFile objective = objective_of_file(file);

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
    // A failure may stand in place of the time alone; a time in place of another objective is of another unit.
    const std::string measured = entry.contains(objective.name) ? objective.name : "time";
    const auto result = entry.find(measured);
    if (result == entry.end() || (result->is_number() && measured != objective.name))
      throw RecordingError(here() + "has no '" + objective.name + "'");
    if (result->is_number()) {
      const double value = result->get<double>();
      trial.objective = objective.larger_is_better ? reciprocal(value, place(measured)) : value;
    } else if (result->is_string() || result->is_null()) {
      trial.kind = failure(result->is_string() ? result->get<std::string>() : "");
    } else {
      throw RecordingError(place(measured) + '\'' + measured + "' is neither a number nor the name of a failure");
    }
    trial.eval_seconds = seconds(entry, place);
    trials.push_back(std::move(trial));
  }
  if (trials.empty()) throw RecordingError(file.place({"cache"}) + "the cache is empty");
  const std::string unit = objective.name == "time"     ? "ms"
                           : objective.larger_is_better ? "1 / (" + objective.name + ")"
                                                        : objective.name;
  return make_recording(file.origin(), trials, unit);
}

}  // namespace tuner::replay
