#include <tuner/cli/print/stored_verdict.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <tuner/error.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/numbers/throughput.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner::cli {
namespace {

/// The latest measurement of the best configuration. A shipped result has no trials: it gives its median alone.
Trial trial_of_best(const report::Tuning& tuning) {
  const cache::BestRecord& best = *tuning.best;
  const auto at = std::find_if(tuning.trials.rbegin(), tuning.trials.rend(), [&](const report::PlacedTrial& placed) {
    return placed.trial.kind == "ok" && placed.trial.configuration == best.configuration;
  });
  if (at != tuning.trials.rend())
    if (auto trial = from_record(at->trial)) return *std::move(trial);
  Trial trial;
  trial.configuration = Configuration::parse(best.configuration);
  Measurement measurement;
  measurement.median_ns = best.median_ns;
  measurement.cold = Objective{best.kernel.objective}.use().value_or(Use::single) == Use::single;
  trial.outcome = measurement;
  return trial;
}

report::Amounts amounts_of(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  constexpr double second = 1e9;
  const Throughput rate = throughput(spec, size, device, second);
  report::Amounts amounts;
  amounts.arithmetic_ceiling = arithmetic_peak(spec, size, device);
  amounts.bytes = rate.bytes_per_second;
  amounts.flops = rate.flops_per_second;
  amounts.written = rate.written;
  if (spec.default_configuration) amounts.default_configuration = spec.default_configuration->text();
  return amounts;
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

void add_amounts(std::span<report::Tuning> tunings, KernelsByName kernels) {
  for (report::Tuning& tuning : tunings) {
    const cache::KernelRecord& kernel = tuning.key.kernel;
    const KernelSpec* const spec = kernels.find(kernel.name);
    if (spec == nullptr || to_record(*spec, {kernel.objective}).source_hash != kernel.source_hash) continue;
    try {
      const Device device = from_record(tuning.key.device);
      tuning.amounts = amounts_of(*spec, from_record(tuning.key.problem), device);
      tuning.verdict = stored_verdict(*spec, tuning, device);
    } catch (const Error&) {
      // Sizes that this source does not take: a stranger's database.
    }
  }
}

}  // namespace tuner::cli
