#include <nlohmann/json.hpp>

#include <tuner/replay/replay_run.hpp>

namespace tuner::replay {

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
                                {"repeats_within_1_percent", result.repeats_within_percent},
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
