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
  for (const ReplaySpace& space : report.spaces) {
    out += fmt::format(
        "{}: {} configurations, {} valid, optimum {:.6g} {}; scored until {:.4g} s, {:.0f} random draws\n", space.name,
        space.configurations, space.valid, space.optimum, space.unit, space.times.back(), space.random_draws);
    out += fmt::format("  {:<{}}  {:>6} {:>8}  {:>9}  {:>7}  {:>8}  {:>12}\n", "strategy", width, "score", "",
                       "best/opt", "<= 1%", "trials", "CPU ms/trial");
    for (const ReplayResult& result : report.results) {
      if (result.space != space.name) continue;
      out +=
          fmt::format("  {:<{}}  {:>6.3f} +- {:<5.3f}  {:>8.2f}%  {:>6.0f}%  {:>8.0f}  {:>12.3f}\n", result.strategy,
                      width, result.score.value, result.score.standard_error, 100 * result.score.relative_to_optimum,
                      100.0 * static_cast<double>(result.repeats_within_percent) / static_cast<double>(report.repeats),
                      result.mean_trials, result.cpu_ms_per_proposal);
    }
    if (!report.results.empty())
      out += fmt::format("  {:<{}}  {:>6} {:>8}  {:>8.2f}%\n", "(random)", width, "0", "", [&] {
        for (const ReplayResult& result : report.results)
          if (result.space == space.name) return 100 * result.score.random_to_optimum;
        return 0.0;
      }());
    out += '\n';
  }
  out += fmt::format("mean of {} space{}, {} repeats, seed {}; score: 0 = random search, 1 = the optimum at once\n",
                     report.spaces.size(), report.spaces.size() == 1 ? "" : "s", report.repeats, report.seed);
  for (const ReplayAggregate& aggregate : report.aggregates)
    out += fmt::format("  {:<{}}  {:>6.3f} +- {:<5.3f}  {:.3f} CPU ms/trial\n", aggregate.strategy, width,
                       aggregate.score, aggregate.standard_error, aggregate.cpu_ms_per_proposal);
  return out;
}

}  // namespace tuner::replay
