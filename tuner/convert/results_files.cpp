#include <tuner/convert/results_files.hpp>

#include <cmath>

#include <fmt/format.h>

#include <cache/records/json.hpp>
#include <cache/records/stored_records.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/objective.hpp>

namespace tuner::convert {
namespace {

std::string dump(const Json& json) { return text_of_json(json, -1, true); }

Json json_of(const Value& value) {
  if (value.is_boolean()) return value.boolean();
  if (value.is_integer()) return value.integer();
  if (const std::optional<double> number = value.fraction()) return *number;
  return value.string();
}

/// A value as Python prints it: keys of a cache file consist of these.
std::string python_text(const Value& value) {
  if (value.is_boolean()) return value.boolean() ? "True" : "False";
  const std::optional<double> number = value.fraction();
  if (!number) return value.text();
  const std::string text = fmt::format("{}", *number);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string instant(std::int64_t ms) {
  std::string text = cache::instant_text(ms);  // 2026-01-31T23:59:59.000Z
  text.replace(text.find('T'), 1, " ");
  return text.replace(text.size() - 1, 1, "+00:00");
}

double milliseconds(const cache::TrialRecord& trial, const char* part) {
  const auto at = trial.times_s.find(part);
  return at != trial.times_s.end() && std::isfinite(at->second) ? 1e3 * at->second : 0;
}

Json samples(const cache::TrialRecord& trial) {
  Json list = Json::array();
  for (const double ns : trial.samples_ns) list.push_back(1e-6 * ns);
  return list;
}

std::string objective_name(const RecordedTuning& tuning) {
  const Objective objective{tuning.key.kernel.objective};
  return objective.is_time() ? "time" : objective.metric();
}

/// The value of the objective, times in milliseconds; nullopt when the trial failed or has no such value.
std::optional<double> objective_of(const RecordedTuning& tuning, const cache::TrialRecord& trial) {
  if (trial.kind != "ok") return std::nullopt;
  const Objective objective{tuning.key.kernel.objective};
  const std::optional<double> value = objective.value(trial.median_ns, trial.metrics);
  return value && objective.is_time() ? std::optional(1e-6 * *value) : value;
}

std::string invalidity(const std::string& kind) {
  if (kind == "ok") return "correct";
  if (kind == "launch") return "runtime";
  if (kind == "wrong") return "correctness";
  if (kind == "invalid") return "constraints";
  return kind;  // compile, timeout
}

/// Kernel Tuner has three classes of failure.
const char* error_class(const std::string& kind) {
  if (kind == "compile") return "CompilationFailedConfig";
  return kind == "invalid" ? "InvalidConfig" : "RuntimeFailedConfig";
}

/// The sizes, sorted by name: one number or a list.
Json problem_size(const cache::Sizes& sizes) {
  if (sizes.size() == 1) return sizes.begin()->second;
  Json list = Json::array();
  for (const auto& [name, value] : sizes) list.push_back(value);
  return list;
}

}  // namespace

std::string t4_text(const RecordedTuning& tuning) {
  const std::string objective = objective_name(tuning);
  const bool is_time = Objective{tuning.key.kernel.objective}.is_time();
  Json metadata{{"timeunit", "milliseconds"},
                {"kernel", tuning.key.kernel.name},
                {"source_sha256", tuning.key.kernel.source_hash},
                {"device", device_name(tuning.key.device)},
                {"choices", tuning.key.problem.choices},
                {"sizes", tuning.key.problem.sizes},
                {"driver", tuning.key.environment.driver},
                {"compiler", tuning.key.environment.compiler},
                {"operating_system", tuning.key.environment.os}};
  std::string text = fmt::format("{},\n\"schema_version\": \"1.0.0\",\n\"metadata\": {},\n\"results\": [\n",
                                 kResultsMark, dump(metadata));
  for (const cache::TrialRecord& trial : tuning.trials) {
    const Configuration tried = Configuration::parse(trial.configuration);
    Json configuration = Json::object();
    for (const auto& [name, value] : tried.entries()) configuration[name] = json_of(value);
    Json measurements = Json::array();
    if (const std::optional<double> value = objective_of(tuning, trial))
      measurements.push_back({{"name", objective}, {"value", *value}, {"unit", is_time ? "ms" : ""}});
    for (const auto& [name, value] : trial.metrics)
      if (name != objective && std::isfinite(value))
        measurements.push_back({{"name", name}, {"value", value}, {"unit", ""}});
    if (const auto& used = trial.resources) {
      measurements.push_back({{"name", "registers"}, {"value", used->registers}, {"unit", ""}});
      measurements.push_back({{"name", "spill_bytes"}, {"value", used->spill_bytes}, {"unit", "bytes"}});
      measurements.push_back({{"name", "occupancy"}, {"value", used->occupancy}, {"unit", ""}});
    }
    const Json result{{"timestamp", instant(trial.created_ms)},
                      {"configuration", configuration},
                      {"times",
                       {{"compilation", milliseconds(trial, "compile")},
                        {"benchmark", milliseconds(trial, "measure")},
                        {"framework", milliseconds(trial, "load")},
                        {"search_algorithm", 0},
                        {"validation", milliseconds(trial, "verify")},
                        {"runtimes", samples(trial)}}},
                      {"invalidity", invalidity(trial.kind)},
                      {"correctness", trial.kind == "wrong" ? 0 : 1},
                      {"measurements", measurements},
                      {"objectives", {objective}}};
    text += dump(result) + (&trial == &tuning.trials.back() ? "\n" : ",\n");
  }
  return text + "]}\n";
}

std::string kernel_tuner_cache_text(const RecordedTuning& tuning, const std::vector<std::string>& order) {
  const std::vector<TuningParameter> parameters = tried_parameters(tuning, order);
  const std::string objective = objective_name(tuning);
  Json names = Json::array(), tune_params = Json::object();
  for (const TuningParameter& parameter : parameters) {
    names.push_back(parameter.name);
    for (const Value& value : parameter.values) tune_params[parameter.name].push_back(json_of(value));
  }
  std::string text = fmt::format(
      "{},\n\"device_name\": {},\n\"kernel_name\": {},\n\"problem_size\": {},\n\"tune_params_keys\": {},\n"
      "\"tune_params\": {},\n\"objective\": {},\n\"objective_higher_is_better\": {},\n\"cache\": {{\n",
      kResultsMark, dump(device_name(tuning.key.device)), dump(tuning.key.kernel.name),
      dump(problem_size(tuning.key.problem.sizes)), dump(names), dump(tune_params), dump(objective),
      Objective{tuning.key.kernel.objective}.is_larger_better());
  for (const cache::TrialRecord& trial : tuning.trials) {
    const Configuration configuration = Configuration::parse(trial.configuration);
    std::string key;
    Json entry = Json::object();
    for (const TuningParameter& parameter : parameters) {
      const Value& value = *configuration.find(parameter.name);
      key += (entry.empty() ? "" : ",") + python_text(value);
      entry[parameter.name] = json_of(value);
    }
    if (const std::optional<double> value = objective_of(tuning, trial)) {
      entry[objective] = *value;
      if (objective != "time") entry["time"] = 1e-6 * trial.median_ns;
    } else {
      entry[objective] = error_class(trial.kind);
      entry["__error__"] = error_class(trial.kind);
    }
    entry["times"] = samples(trial);
    for (const auto& [name, value] : trial.metrics)
      if (!entry.contains(name) && std::isfinite(value)) entry[name] = value;
    entry["compile_time"] = milliseconds(trial, "compile");
    entry["verification_time"] = milliseconds(trial, "verify");
    entry["benchmark_time"] = milliseconds(trial, "measure");
    entry["strategy_time"] = 0;
    entry["framework_time"] = milliseconds(trial, "load");
    entry["timestamp"] = instant(trial.created_ms);
    text += fmt::format("{}: {}{}", dump(key), dump(entry), &trial == &tuning.trials.back() ? "" : ",\n");
  }
  return text + "}\n}";  // Kernel Tuner can continue only a file with this end
}

}  // namespace tuner::convert
