#include <tuner/cli/replay_report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/cli/json.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::cli {
namespace {

/// The cells of a strategy, of one space or of all, but what only one of them has.
std::vector<std::string> scored(const std::string& strategy, double score, double error, double share) {
  return {strategy, fmt::format("{:.3f}", score), fmt::format("+- {:.3f}", error), format_percent(share, 2)};
}

Table score_table(std::vector<std::string> more) {
  std::vector<Table::Column> columns{{"strategy"}, {"score", Table::Align::right}, {""}};
  for (std::string& title : more) columns.push_back({std::move(title), Table::Align::right});
  return Table(std::move(columns));
}

}  // namespace

std::string replay_tables(const replay::ReplayReport& report) {
  std::string out;
  for (std::size_t i = 0; i < report.spaces.size(); ++i) {
    const replay::ReplaySpace& space = report.spaces[i];
    out +=
        fmt::format("{}: {} configurations, {} valid, optimum {:.6g} {}; scored until {:.4g} s, {:.0f} random draws\n",
                    printable(space.name), space.configurations, space.valid, space.optimum, printable(space.unit),
                    space.times.back(), space.random_draws);
    Table table = score_table({"best/opt", "<= 1%", "trials", "CPU ms/trial"});
    for (const replay::ReplayResult& result : report.results_of(i)) {
      const replay::Score& score = result.score;
      auto cells = scored(result.strategy, score.value, score.standard_error, score.relative_to_optimum);
      const auto close = static_cast<double>(result.trials_to_percent.size());
      cells.push_back(format_percent(close / static_cast<double>(report.repeats), 0));
      cells.push_back(fmt::format("{:.0f}", result.mean_trials));
      cells.push_back(fmt::format("{:.3f}", result.cpu_ms_per_proposal));
      table.add(std::move(cells));
    }
    if (const auto results = report.results_of(i); !results.empty())
      table.add({"(random)", "0", "", format_percent(results.front().score.random_to_optimum, 2)});
    out += table.text() + '\n';
  }
  out += fmt::format("mean of {}, {} repeats, seed {}; score: 0 = random search, 1 = the optimum at once\n",
                     plural(static_cast<std::int64_t>(report.spaces.size()), "space"), report.repeats, report.seed);
  Table means = score_table({"best/opt", "CPU ms/trial"});
  for (const replay::ReplayAggregate& one : report.aggregates) {
    auto cells = scored(one.strategy, one.score, one.standard_error, one.relative_to_optimum);
    cells.push_back(fmt::format("{:.3f}", one.cpu_ms_per_proposal));
    means.add(std::move(cells));
  }
  return out + means.text();
}

Json to_json(const replay::ReplayReport& report) {
  Json spaces = Json::array(), aggregates = Json::array();
  for (std::size_t i = 0; i < report.spaces.size(); ++i) {
    const replay::ReplaySpace& space = report.spaces[i];
    Json results = Json::array();
    for (const replay::ReplayResult& result : report.results_of(i))
      results.push_back({{"strategy", result.strategy},
                         {"score", result.score.value},
                         {"standard_error", result.score.standard_error},
                         {"best_relative_to_optimum", result.score.relative_to_optimum},
                         {"random_relative_to_optimum", result.score.random_to_optimum},
                         {"mean_trials", result.mean_trials},
                         {"cpu_ms_per_proposal", result.cpu_ms_per_proposal},
                         {"repeats_at_optimum", result.repeats_at_optimum},
                         {"repeats_within_1_percent", result.trials_to_percent.size()},
                         {"trials_to_1_percent", result.trials_to_percent},
                         {"curve", result.score.curve}});
    spaces.push_back({{"name", space.name},
                      {"unit", space.unit},
                      {"configurations", space.configurations},
                      {"valid", space.valid},
                      {"optimum", space.optimum},
                      {"random_draws", space.random_draws},
                      {"first_time_s", space.times.front()},
                      {"last_time_s", space.times.back()},
                      {"baseline", space.baseline},
                      {"results", std::move(results)}});
  }
  for (const replay::ReplayAggregate& one : report.aggregates)
    aggregates.push_back({{"strategy", one.strategy},
                          {"score", one.score},
                          {"standard_error", one.standard_error},
                          {"best_relative_to_optimum", one.relative_to_optimum},
                          {"cpu_ms_per_proposal", one.cpu_ms_per_proposal}});
  return {{"repeats", report.repeats},
          {"seed", report.seed},
          {"spaces", std::move(spaces)},
          {"aggregate", std::move(aggregates)}};
}

}  // namespace tuner::cli
