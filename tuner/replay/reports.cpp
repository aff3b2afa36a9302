#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/replay/replay_run.hpp>

namespace tuner::replay {

std::string text_report(const ReplayReport& report) {
  std::size_t width = 8;
  for (const ReplayResult& result : report.results) width = std::max(width, result.strategy.size());
  std::string out;
  for (std::size_t i = 0; i < report.spaces.size(); ++i) {
    const ReplaySpace& space = report.spaces[i];
    const auto results = report.results_of(i);
    out += fmt::format(
        "{}: {} configurations, {} valid, optimum {:.6g} {}; scored until {:.4g} s, {:.0f} random draws\n", space.name,
        space.configurations, space.valid, space.optimum, space.unit, space.times.back(), space.random_draws);
    out += fmt::format("  {:<{}}  {:>6} {:>8}  {:>9}  {:>7}  {:>8}  {:>12}\n", "strategy", width, "score", "",
                       "best/opt", "<= 1%", "trials", "CPU ms/trial");
    for (const ReplayResult& result : results) {
      out += fmt::format(
          "  {:<{}}  {:>6.3f} +- {:<5.3f}  {:>8.2f}%  {:>6.0f}%  {:>8.0f}  {:>12.3f}\n", result.strategy, width,
          result.score.value, result.score.standard_error, 100 * result.score.relative_to_optimum,
          100.0 * static_cast<double>(result.trials_to_percent.size()) / static_cast<double>(report.repeats),
          result.mean_trials, result.cpu_ms_per_proposal);
    }
    if (!results.empty())
      out += fmt::format("  {:<{}}  {:>6} {:>8}  {:>8.2f}%\n", "(random)", width, "0", "",
                         100 * results.front().score.random_to_optimum);
    out += '\n';
  }
  out += fmt::format("mean of {} space{}, {} repeats, seed {}; score: 0 = random search, 1 = the optimum at once\n",
                     report.spaces.size(), report.spaces.size() == 1 ? "" : "s", report.repeats, report.seed);
  for (const ReplayAggregate& aggregate : report.aggregates)
    out += fmt::format("  {:<{}}  {:>6.3f} +- {:<5.3f}  {:>8.2f}% of the optimum  {:.3f} CPU ms/trial\n",
                       aggregate.strategy, width, aggregate.score, aggregate.standard_error,
                       100 * aggregate.relative_to_optimum, aggregate.cpu_ms_per_proposal);
  return out;
}

std::string json_report(const ReplayReport& report) {
  using nlohmann::ordered_json;
  ordered_json out;
  out["repeats"] = report.repeats;
  out["seed"] = report.seed;
  out["spaces"] = ordered_json::array();
  for (std::size_t i = 0; i < report.spaces.size(); ++i) {
    const ReplaySpace& space = report.spaces[i];
    ordered_json one{{"name", space.name},
                     {"unit", space.unit},
                     {"configurations", space.configurations},
                     {"valid", space.valid},
                     {"optimum", space.optimum},
                     {"random_draws", space.random_draws},
                     {"first_time_s", space.times.front()},
                     {"last_time_s", space.times.back()},
                     {"baseline", space.baseline},
                     {"results", ordered_json::array()}};
    for (const ReplayResult& result : report.results_of(i)) {
      one["results"].push_back({{"strategy", result.strategy},
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
    }
    out["spaces"].push_back(std::move(one));
  }
  out["aggregate"] = ordered_json::array();
  for (const ReplayAggregate& aggregate : report.aggregates)
    out["aggregate"].push_back({{"strategy", aggregate.strategy},
                                {"score", aggregate.score},
                                {"standard_error", aggregate.standard_error},
                                {"best_relative_to_optimum", aggregate.relative_to_optimum},
                                {"cpu_ms_per_proposal", aggregate.cpu_ms_per_proposal}});
  return out.dump(2) + '\n';
}

}  // namespace tuner::replay
