#include <tuner/convert/recorded_tuning.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include <cache/browse.hpp>
#include <cache/session.hpp>

#include <tuner/core/error.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::convert {
namespace {

bool matches(const cache::ProblemRecord& problem, const TuningFilter& filter) {
  for (const auto& [name, value] : filter.sizes)
    if (const auto at = problem.sizes.find(name); at == problem.sizes.end() || at->second != value) return false;
  std::istringstream words(problem.choices);
  const std::set<std::string> choices{std::istream_iterator<std::string>(words), {}};
  return std::all_of(filter.choices.begin(), filter.choices.end(),
                     [&](const auto& one) { return choices.contains(one.first + '=' + one.second); });
}

std::ptrdiff_t measured(const RecordedTuning& tuning) {
  return std::count_if(tuning.trials.begin(), tuning.trials.end(), [](auto& trial) { return trial.kind == "ok"; });
}

}  // namespace

std::string title(const cache::SessionKey& key) {
  return fmt::format("{}{}{} {} on {}{}", printable(key.kernel.name), key.problem.choices.empty() ? "" : " ",
                     printable(key.problem.choices), cache::sizes_text(key.problem.sizes),
                     printable(key.device.name.empty() ? key.device.key : key.device.name),
                     key.kernel.objective == "time" ? "" : ", objective " + printable(key.kernel.objective));
}

std::vector<RecordedTuning> recorded_tunings(std::span<cache::Database> databases, const TuningFilter& filter) {
  std::map<std::tuple<std::string, cache::ProblemRecord, std::string>, RecordedTuning> found;
  for (cache::Database& database : databases) {
    std::set<decltype(cache::SessionKey().identity())> seen;
    for (const cache::SessionRecord& session : cache::sessions(database, {filter.kernel, filter.device_key})) {
      if (!filter.source_hash.empty() && session.key.kernel.source_hash != filter.source_hash) continue;
      if (!matches(session.key.problem, filter) || !seen.insert(session.key.identity()).second) continue;
      RecordedTuning tuning{session.key, cache::finished_trials(database, session.key)};
      // Files of results call everything that ran "correct".
      std::erase_if(tuning.trials, [](const auto& trial) { return trial.kind == "ok" && !trial.verified; });
      RecordedTuning& best = found[{session.key.device.key, session.key.problem, session.key.kernel.objective}];
      if (measured(tuning) > measured(best)) best = std::move(tuning);
    }
  }
  std::vector<RecordedTuning> tunings;
  for (auto& [key, tuning] : found)
    if (measured(tuning) > 0) tunings.push_back(std::move(tuning));
  if (tunings.empty())
    throw Error(fmt::format("no tuning{} with a measured configuration is stored{}{}; `tune show --all` lists all",
                            filter.kernel.empty() ? "" : " of kernel " + filter.kernel,
                            filter.source_hash.empty() ? "" : " for its present text",
                            filter.sizes.empty() && filter.choices.empty() ? "" : " for that problem"));
  return tunings;
}

std::vector<TuningParameter> tried_parameters(const RecordedTuning& tuning, const std::vector<std::string>& order) {
  std::map<std::string, std::set<Value>> values;
  std::size_t trials = 0;
  for (const cache::TrialRecord& trial : tuning.trials) try {
      const Configuration configuration = Configuration::parse(trial.configuration);
      for (const auto& [name, value] : configuration.entries()) {
        if (trials > 0 && !values.contains(name)) throw std::invalid_argument("has another parameter, " + name);
        values[name].insert(value);
      }
      ++trials;
    } catch (const std::invalid_argument& error) {
      throw Error(
          fmt::format("{}: the configuration {} {}", title(tuning.key), in_quotes(trial.configuration), error.what()));
    }
  std::vector<TuningParameter> parameters;
  for (const std::string& name : order)
    if (const auto at = values.find(name); at != values.end()) {
      parameters.push_back({name, {at->second.begin(), at->second.end()}});
      values.erase(at);
    }
  for (const auto& [name, all] : values) parameters.push_back({name, {all.begin(), all.end()}});
  for (const cache::TrialRecord& trial : tuning.trials)
    if (Configuration::parse(trial.configuration).entries().size() != parameters.size())
      throw Error(
          fmt::format("{}: the configuration {} lacks a parameter", title(tuning.key), in_quotes(trial.configuration)));
  return parameters;
}

}  // namespace tuner::convert
