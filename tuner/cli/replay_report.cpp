#include <tuner/cli/replay_report.hpp>

#include <fmt/format.h>

#include <tuner/cli/json.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::cli {
namespace {

/// The columns that the scores of one space and the means of all share.
std::vector<Table::Column> scored_columns() {
  return {"strategy", "score", named("", "standard_error"), named("best/opt", "best_relative_to_optimum")};
}
std::vector<Cell> scored(const std::string& strategy, double score, double error, double share) {
  return {strategy, Cell(score, fmt::format("{:.3f}", score)), Cell(error, fmt::format("+- {:.3f}", error)),
          Cell::percent(share, 2)};
}

Cell cpu_cell(double ms) { return {ms, fmt::format("{:.3f}", ms)}; }

Table results_table(std::span<const replay::ReplayResult> results, std::size_t repeats) {
  std::vector<Table::Column> columns = scored_columns();
  columns.insert(columns.end(), {named("<= 1%", "repeats_within_1_percent"), named("trials", "mean_trials"),
                                 named("CPU ms/trial", "cpu_ms_per_proposal"), data("random_relative_to_optimum"),
                                 data("repeats_at_optimum"), data("trials_to_1_percent"), data("curve")});
  Table table(std::move(columns));
  for (const replay::ReplayResult& result : results) {
    const replay::Score& score = result.score;
    auto cells = scored(result.strategy, score.value, score.standard_error, score.relative_to_optimum);
    const std::size_t close = result.trials_to_percent.size();
    cells.insert(cells.end(),
                 {Cell(close, format_percent(static_cast<double>(close) / static_cast<double>(repeats), 0)),
                  Cell(result.mean_trials, fmt::format("{:.0f}", result.mean_trials)),
                  cpu_cell(result.cpu_ms_per_proposal), score.random_to_optimum, result.repeats_at_optimum,
                  Cell(result.trials_to_percent, ""), Cell(score.curve, "")});
    table.add(std::move(cells));
  }
  return table;
}

Table means_table(const replay::ReplayReport& report) {
  std::vector<Table::Column> columns = scored_columns();
  columns.push_back(named("CPU ms/trial", "cpu_ms_per_proposal"));
  Table table(std::move(columns));
  for (const replay::ReplayAggregate& one : report.aggregates) {
    auto cells = scored(one.strategy, one.score, one.standard_error, one.relative_to_optimum);
    cells.push_back(cpu_cell(one.cpu_ms_per_proposal));
    table.add(std::move(cells));
  }
  return table;
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
    const auto results = report.results_of(i);
    Table table = results_table(results, report.repeats);
    if (!results.empty()) table.add({"(random)", 0, {}, Cell::percent(results.front().score.random_to_optimum, 2)});
    out += table.text() + '\n';
  }
  out += fmt::format("mean of {}, {} repeats, seed {}; score: 0 = random search, 1 = the optimum at once\n",
                     plural(static_cast<std::int64_t>(report.spaces.size()), "space"), report.repeats, report.seed);
  return out + means_table(report).text();
}

Json to_json(const replay::ReplayReport& report) {
  Json spaces = Json::array();
  for (std::size_t i = 0; i < report.spaces.size(); ++i) {
    const replay::ReplaySpace& space = report.spaces[i];
    spaces.push_back({{"name", space.name},
                      {"unit", space.unit},
                      {"configurations", space.configurations},
                      {"valid", space.valid},
                      {"optimum", space.optimum},
                      {"random_draws", space.random_draws},
                      {"first_time_s", space.times.front()},
                      {"last_time_s", space.times.back()},
                      {"baseline", space.baseline},
                      {"results", results_table(report.results_of(i), report.repeats).json()}});
  }
  return {{"repeats", report.repeats},
          {"seed", report.seed},
          {"spaces", std::move(spaces)},
          {"aggregate", means_table(report).json()}};
}

}  // namespace tuner::cli
