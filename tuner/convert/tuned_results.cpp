#include <tuner/convert/tuned_results.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include <cache/query/browse.hpp>
#include <cache/query/session.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/error.hpp>

namespace tuner::convert {
namespace {

/// The key is device key and problem, as rows are sorted.
using KnownProblems = std::map<std::pair<std::string, cache::ProblemRecord>, cache::BestRecord>;

bool is_wanted(const cache::KernelRecord& kernel, const TunedOptions& options) {
  return kernel.objective == "time" && (options.source_hash.empty() || kernel.source_hash == options.source_hash);
}

cache::Filter filter_of(const TunedOptions& options) { return {options.kernel, options.device_key}; }

/// Best configurations for the objective time. Without a device in \p options, only those of GPUs, if there are any.
/// Without a source, only those of the source that was measured last.
std::vector<cache::BestRecord> wanted_best(std::span<cache::Database> databases, TunedOptions& options) {
  std::vector<cache::BestRecord> rows;
  for (cache::Database& database : databases)
    for (cache::BestRecord& row : cache::best_rows(database, filter_of(options)))
      if (is_wanted(row.kernel, options)) rows.push_back(std::move(row));
  std::string rejected;
  std::erase_if(rows, [&](const cache::BestRecord& row) {
    const auto why = options.objection ? options.objection(row, row.configuration) : std::nullopt;
    if (why) rejected = fmt::format("{}: {}", row.configuration, *why);
    return why.has_value();
  });
  if (rows.empty() && !rejected.empty())
    throw Error(fmt::format("no stored best configuration of kernel {} may be served: {}", options.kernel,
                            printable(rejected)));
  const auto is_gpu = [](const cache::BestRecord& row) { return row.device.backend != "host"; };
  if (options.device_key.empty() && std::ranges::any_of(rows, is_gpu))
    std::erase_if(rows, [&](const cache::BestRecord& row) { return !is_gpu(row); });
  const auto latest = std::ranges::max_element(rows, [](const auto& a, const auto& b) {
    return std::tie(a.measured_ms, a.kernel) < std::tie(b.measured_ms, b.kernel);
  });
  if (latest != rows.end()) options.source_hash = latest->kernel.source_hash;
  std::erase_if(rows, [&](const cache::BestRecord& row) { return !is_wanted(row.kernel, options); });
  return rows;
}

/// The latest of several results for a problem on a device.
KnownProblems known_problems(std::vector<cache::BestRecord> rows) {
  std::ranges::sort(rows, {}, [](const auto& row) { return std::tie(row.measured_ms, row.configuration); });
  KnownProblems known;
  for (const cache::BestRecord& row : rows) known.insert_or_assign({row.device.key, row.problem}, row);
  return known;
}

bool matches(const cache::ProblemRecord& problem, const TuningFilter& filter) {
  for (const auto& [name, value] : filter.sizes)
    if (const auto at = problem.sizes.find(name); at == problem.sizes.end() || at->second != value) return false;
  std::istringstream words(problem.choices);
  const std::set<std::string> choices{std::istream_iterator<std::string>(words), {}};
  return std::ranges::all_of(filter.choices,
                             [&](const auto& one) { return choices.contains(one.first + '=' + one.second); });
}

std::ptrdiff_t measured(const RecordedTuning& tuning) {
  return std::ranges::count_if(tuning.trials, [](auto& trial) { return trial.kind == "ok"; });
}

}  // namespace

TunedResults tuned_results(std::span<cache::Database> databases, const TunedOptions& given) {
  TunedOptions options = given;
  KnownProblems known = known_problems(wanted_best(databases, options));
  if (known.empty())
    throw Error(fmt::format("no best configuration of kernel {} is stored{}; `tune {}` makes some", options.kernel,
                            given.source_hash.empty() ? "" : " for its present text",
                            options.file.empty() ? options.kernel : options.file));
  std::vector<cache::QuarantineRecord> quarantined;
  for (cache::Database& database : databases)
    for (cache::QuarantineRecord& one : cache::quarantined(database, filter_of(options)))
      quarantined.push_back(std::move(one));
  TunedResults results;
  results.kernel = known.begin()->second.kernel;
  for (const auto& [key, best] : known)
    if (std::ranges::none_of(quarantined, [&, &best = best](const cache::QuarantineRecord& record) {
          return record.device_key == best.device.key && record.configuration == best.configuration &&
                 cache::alike(record.problem, best.problem);
        }))
      results.rows.push_back(
          {best.device, best.problem, Configuration::parse(best.configuration), best.median_ns, best.rule});
  if (results.rows.empty())
    throw Error(fmt::format("all results of kernel {} are quarantined; `tune db check` lists them", options.kernel));
  return results;
}

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
    for (const cache::SessionRecord& session :
         cache::sessions(database, {filter.kernel, filter.device_key, filter.source_hash})) {
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
