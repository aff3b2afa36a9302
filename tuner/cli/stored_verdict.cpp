#include <tuner/cli/stored_verdict.hpp>

#include <algorithm>
#include <stdexcept>

#include <tuner/explain/explain_trial.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {

namespace {

/// The latest measurement of the best, or else what is known of a shipped one.
Trial trial_of_best(const report::Tuning& tuning) {
  const cache::BestRecord& best = *tuning.best;
  const auto at = std::find_if(tuning.trials.rbegin(), tuning.trials.rend(), [&](const report::PlacedTrial& placed) {
    return placed.trial.kind == "ok" && placed.trial.configuration == best.configuration;
  });
  if (at != tuning.trials.rend()) return from_record(at->trial);
  Trial trial;
  trial.configuration = Configuration::parse(best.configuration);
  Measurement measurement;
  measurement.median_ns = best.median_ns;
  measurement.cold = best.kernel.objective != "time_hot";
  trial.outcome = measurement;
  return trial;
}

}  // namespace

std::optional<Verdict> stored_verdict(const KernelSpec& spec, const report::Tuning& tuning, const Device& device) {
  if (!tuning.best) return std::nullopt;
  try {
    return explain(spec, from_record(tuning.key.problem), device, trial_of_best(tuning));
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // a configuration of a version to come
  }
}

}  // namespace tuner::cli
