#include <tuner/convert/results_files.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/convert/floating_value.hpp>
#include <tuner/convert/portfolio.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const Value& value) {
  if (value.is_boolean()) return value.boolean();
  if (value.is_integer()) return value.integer();
  if (const std::optional<double> number = floating_value(value)) return *number;
  return value.string();
}

/// A value as Python prints it: keys of a cache file consist of these.
std::string python_text(const Value& value) {
  if (value.is_boolean()) return value.boolean() ? "True" : "False";
  const std::optional<double> number = floating_value(value);
  if (!number) return value.text();
  const std::string text = fmt::format("{}", *number);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string instant(std::int64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03}+00:00", fmt::gmtime(seconds), ms % 1000);
}

double milliseconds(const cache::TrialRecord& trial, std::initializer_list<const char*> parts) {
  double seconds = 0;
  for (const char* part : parts)
    if (const auto at = trial.times_s.find(part); at != trial.times_s.end() && std::isfinite(at->second))
      seconds += at->second;
  return 1e3 * seconds;
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

std::string device_name(const cache::DeviceRecord& device) { return device.name.empty() ? device.key : device.name; }

/// The device's name as Kernel Tuner spells it in results: an underscore replaces each run of other characters.
std::string target_name(const cache::DeviceRecord& device) {
  const std::string text = device_name(device);
  std::string name;
  for (const char c : text.substr(0, text.find_last_not_of(" \t") + 1)) {
    const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (fits)
      name += c;
    else if (name.empty() || name.back() != '_')
      name += '_';
  }
  return name;
}

std::string sizes_with_x(const cache::Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

/// Requires one kernel and one objective; each device and sizes may occur once.
void require_one_kernel(std::span<const RecordedTuning> tunings) {
  std::set<std::pair<std::string, cache::Sizes>> seen;
  for (const RecordedTuning& tuning : tunings) {
    const cache::KernelRecord& first = tunings.front().key.kernel;
    if (tuning.key.kernel.name != first.name)
      throw Error(fmt::format("the file is of one kernel, and there are {} and {}: choose with --kernel",
                              printable(first.name), printable(tuning.key.kernel.name)));
    if (tuning.key.kernel.objective != first.objective)
      throw Error(fmt::format("the file has one objective, and there are {} and {}", printable(first.objective),
                              printable(tuning.key.kernel.objective)));
    if (!seen.insert({target_name(tuning.key.device), tuning.key.problem.sizes}).second)
      throw Error(fmt::format("the file cannot tell choices apart: besides {} there is another; choose with --choice",
                              title(tuning.key)));
  }
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
    const Json result{{"timestamp", instant(trial.created_ms)},
                      {"configuration", configuration},
                      {"times",
                       {{"compilation", milliseconds(trial, {"compile"})},
                        {"benchmark", milliseconds(trial, {"measure"})},
                        {"framework", milliseconds(trial, {"load"})},
                        {"search_algorithm", 0},
                        {"validation", milliseconds(trial, {"verify"})},
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
    entry["compile_time"] = milliseconds(trial, {"compile"});
    entry["verification_time"] = milliseconds(trial, {"verify"});
    entry["benchmark_time"] = milliseconds(trial, {"measure"});
    entry["strategy_time"] = 0;
    entry["framework_time"] = milliseconds(trial, {"load"});
    entry["timestamp"] = instant(trial.created_ms);
    text += fmt::format("{}: {}{}", dump(key), dump(entry), &trial == &tuning.trials.back() ? "" : ",\n");
  }
  return text + "}\n}";  // Kernel Tuner can continue only a file with this end
}

std::string kernel_tuner_results_text(std::span<const RecordedTuning> tunings, const std::vector<std::string>& order,
                                      const std::string& source) {
  require_one_kernel(tunings);
  const RecordedTuning& first = tunings.front();
  const std::string objective = objective_name(first);
  const bool larger = Objective{first.key.kernel.objective}.is_larger_better();
  Json names = Json::array();
  for (const TuningParameter& parameter : tried_parameters(first, order)) names.push_back(parameter.name);
  std::string text = fmt::format("{},\n\"version_number\": \"1.0\",\n\"kernel_name\": {},\n", kResultsMark,
                                 dump(first.key.kernel.name));
  if (!source.empty()) text += fmt::format("\"kernel_string\": {},\n", dump(source));
  text +=
      fmt::format("\"objective\": {},\n\"objective_higher_is_better\": {},\n\"tunable_parameters\": {},\n\"data\": [\n",
                  dump(objective), larger, dump(names));
  std::string rows;
  for (const RecordedTuning& tuning : tunings) {
    std::vector<std::pair<double, const cache::TrialRecord*>> measured;
    for (const cache::TrialRecord& trial : tuning.trials)
      if (const auto value = objective_of(tuning, trial); value && trial.verified)
        measured.emplace_back(*value, &trial);
    std::stable_sort(measured.begin(), measured.end(),
                     [&](const auto& a, const auto& b) { return larger ? a.first > b.first : a.first < b.first; });
    constexpr double kTop = 0.03;
    for (const auto& [value, trial] : measured) {
      const double best = measured.front().first;
      if (larger ? value < best * (1 - kTop) : value > best * (1 + kTop)) break;
      const Configuration configuration = Configuration::parse(trial->configuration);
      Json parameters = Json::object();
      for (const Json& name : names)
        if (const Value* parameter = configuration.find(name.get<std::string>()))
          parameters[name.get<std::string>()] = json_of(*parameter);
      const Json row{{"device_name", target_name(tuning.key.device)},
                     {"problem_size", sizes_with_x(tuning.key.problem.sizes)},
                     {"tunable_parameters", parameters},
                     {objective, value}};
      rows += (rows.empty() ? "" : ",\n") + dump(row);
    }
  }
  return text + rows + "\n]}\n";
}

namespace {

/// The configuration that loses least over all of \p tunings.
Configuration least_losing(const std::vector<const RecordedTuning*>& tunings) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> configurations;
  std::vector<std::map<std::string, double>> all;
  for (const RecordedTuning* tuning : tunings) {
    const Objective objective{tuning->key.kernel.objective};
    std::map<std::string, double>& values = all.emplace_back();
    for (const cache::TrialRecord& trial : tuning->trials)
      if (trial.kind == "ok" && trial.verified)
        if (const auto value = objective(trial.median_ns, trial.metrics); value && *value > 0) {
          values[trial.configuration] = *value;
          if (numbers.emplace(trial.configuration, configurations.size()).second)
            configurations.push_back(trial.configuration);
        }
  }
  if (configurations.empty())
    throw Error(fmt::format("{}: no configuration was measured and verified", title(tunings.front()->key)));
  std::vector<std::vector<double>> shares;
  for (const auto& values : all) {
    if (values.empty()) continue;
    std::vector<double>& row = shares.emplace_back(configurations.size(), 0.0);
    double best = values.begin()->second;
    for (const auto& [configuration, value] : values) best = std::min(best, value);
    for (const auto& [configuration, value] : values) row[numbers.at(configuration)] = best / value;
  }
  return Configuration::parse(configurations[choose_portfolio(shares, 1).chosen.front()]);
}

/// \p text for use inside a C comment.
std::string in_comment(const std::string& text) {
  std::string safe = printable(text);
  for (std::size_t at = 0; (at = safe.find("*/", at)) != std::string::npos;) safe.insert(at + 1, " ");
  return safe;
}

std::string macro(const std::string& name, const Value& value) {
  if (!is_identifier(name) || (value.is_string() && !is_identifier(value.string()) && !floating_value(value)))
    throw Error(fmt::format("{} = {} cannot be written as a macro: neither a word nor a number", in_quotes(name),
                            in_quotes(value.text())));
  return fmt::format("#define {} {}\n", name, value.text());
}

}  // namespace

std::string device_targets_text(std::span<const RecordedTuning> tunings, const std::vector<std::string>& order) {
  require_one_kernel(tunings);
  std::map<std::string, std::vector<const RecordedTuning*>> devices;
  std::vector<const RecordedTuning*> all;
  for (const RecordedTuning& tuning : tunings) {
    devices[target_name(tuning.key.device)].push_back(&tuning);
    all.push_back(&tuning);
  }
  const auto macros = [&](const Configuration& configuration) {
    std::string text;
    for (const TuningParameter& parameter : tried_parameters(tunings.front(), order))
      if (const Value* value = configuration.find(parameter.name)) text += macro(parameter.name, *value);
    return text;
  };
  std::string text = fmt::format(
      "{}{}, written by tuner: compile with -DTARGET_NAME_OF_THE_DEVICE */\n#pragma once\n#ifndef kernel_tuner /* "
      "only use these when not tuning */\n\n",
      kTargetsMark, in_comment(tunings.front().key.kernel.name));
  for (const auto& [name, of_device] : devices)
    text += fmt::format("#{} defined(TARGET_{})\n{}\n", text.ends_with("*/\n\n") ? "if" : "elif", name,
                        macros(least_losing(of_device)));
  return text +
         fmt::format("#else /* default configuration */\n{}#endif /* GPU TARGETS */\n\n#endif /* kernel_tuner */\n",
                     macros(least_losing(all)));
}

}  // namespace tuner::convert
