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

std::vector<std::string> parameter_names(const JsonFile& file) {
  const nlohmann::json& keys = member(file.root(), "tune_params_keys");
  if (!keys.is_array() || keys.empty())
    file.fail(file.root(), "tune_params_keys", "there is no list \"tune_params_keys\" with names");
  std::vector<std::string> names;
  for (const nlohmann::json& key : keys) {
    if (!key.is_string()) file.fail(key, "", key.dump() + " is not the name of a parameter");
    names.push_back(key.get<std::string>());
  }
  return names;
}

/// Kernel Tuner asks its user for the direction of an objective that it does not know. Newer files have the answer.
bool larger_is_better(const JsonFile& file, const std::string& objective) {
  const nlohmann::json& given = member(file.root(), "objective_higher_is_better");
  if (given.is_boolean()) return given.get<bool>();
  if (is_rate(objective)) return true;
  if (objective.find("time") == std::string::npos && objective.find("energy") == std::string::npos)
    file.fail(file.root(), "objective",
              "the file does not tell whether a larger '" + objective +
                  "' is better; add \"objective_higher_is_better\": true or false to it");
  return false;
}

}  // namespace

Recording parse_kernel_tuner(const JsonFile& file) {
  const Fail fail = [&](const auto&... of) { file.fail(of...); };
  const nlohmann::json& cache = member(file.root(), "cache");
  if (!cache.is_object()) fail(file.root(), "cache", "there is no object \"cache\"");
  const std::vector<std::string> names = parameter_names(file);
  const std::string given = text_or_empty(file.root(), "objective");
  const std::string name = given.empty() ? "time" : given;
  if (cache.empty()) fail(cache, "", "the cache is empty");
  const bool rate = larger_is_better(file, name);

  std::vector<RecordedTrial> trials;
  for (const auto& item : cache.items()) {
    const nlohmann::json& entry = item.value();
    const std::string it = "the entry '" + item.key() + "' ";
    if (!entry.is_object()) fail(entry, "", it + "is not an object");
    RecordedTrial& trial = trials.emplace_back();
    for (const std::string& parameter : names) {
      if (!entry.contains(parameter)) fail(entry, "", it + "has no value of '" + parameter + "'");
      trial.configuration.set(parameter, json_value(entry[parameter]));
    }
    // Some files have a failure in place of the time even if the objective is another. A time there has another unit.
    const std::string measured = entry.contains(name) ? name : "time";
    const nlohmann::json& result = member(entry, measured);
    if (const std::string why = text_or_empty(entry, "__error__"); !why.empty()) {
      trial.kind = failure(why);
    } else if (!entry.contains(measured) || (result.is_number() && measured != name)) {
      fail(entry, "", it + "has no '" + name + "'");
    } else if (result.is_number()) {
      trial.objective = objective(entry, measured, name, rate, fail);
    } else if (result.is_string() || result.is_null()) {
      trial.kind = failure(text_or_empty(entry, measured));
    } else {
      fail(entry, measured, '\'' + measured + "' is neither a number nor the name of a failure");
    }
    // The strategy's own time is left out: replays account for their own.
    for (const char* part : {"compile_time", "verification_time", "benchmark_time", "framework_time"})
      trial.eval_seconds += 1e-3 * time_or(entry, part, 0, fail);
  }
  return make_recording(file.origin(), trials, name == "time" ? "ms" : rate ? "1 / (" + name + ")" : name);
}

}  // namespace tuner::replay
