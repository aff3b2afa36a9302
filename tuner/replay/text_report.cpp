#include <algorithm>

#include <fmt/format.h>

#include <tuner/replay/replay_run.hpp>

namespace tuner::replay {

namespace {

std::size_t widest(const ReplayReport& report, std::size_t least) {
  std::size_t width = least;
  for (const ReplayResult& result : report.results) width = std::max(width, result.strategy.size());
  return width;
}

}  // namespace

std::string text_report(const ReplayReport& report) {
  const std::size_t width = widest(report, 8);
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
      out +=
          fmt::format("  {:<{}}  {:>6.3f} +- {:<5.3f}  {:>8.2f}%  {:>6.0f}%  {:>8.0f}  {:>12.3f}\n", result.strategy,
                      width, result.score.value, result.score.standard_error, 100 * result.score.relative_to_optimum,
                      100.0 * static_cast<double>(result.repeats_within_percent) / static_cast<double>(report.repeats),
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

}  // namespace tuner::replay
