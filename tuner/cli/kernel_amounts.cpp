#include <tuner/cli/kernel_amounts.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>

#include <tuner/core/error.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/throughput.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {
namespace {

/// The latest measurement of the best configuration. A shipped result has no trials: it gives its median alone.
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

void add_amounts(std::span<report::Tuning> tunings, const std::string& file) {
  const KernelLibrary library;
  std::map<std::string, std::optional<KernelSpec>> specs;
  const auto find = [&](const std::string& name) -> const std::optional<KernelSpec>& {
    const auto [at, is_new] = specs.try_emplace(name);
    if (is_new) try {
        at->second = library.find(name);
      } catch (const Error&) {
        // Nobody has to keep the file of a kernel that was tuned once.
      }
    return at->second;
  };
  for (report::Tuning& tuning : tunings) {
    const cache::KernelRecord& kernel = tuning.key.kernel;
    // A stored name is data: it is looked up as a name, never opened as a path.
    if (file.empty() && KernelLibrary::is_path(kernel.name)) continue;
    const std::optional<KernelSpec>& spec = find(file.empty() ? kernel.name : file);
    if (!spec || to_record(*spec, {kernel.objective}).source_hash != kernel.source_hash) continue;
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
