#include <tuner/runtime/decided_plan.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tuner/core/error.hpp>

namespace tuner::runtime {
namespace {

/// The warning about \p configuration. Throws Error if this process may not use another.
std::string passed_over(const Serving::Terms& terms, const KernelSpec& spec, const Configuration& configuration,
                        const Error& error) {
  const std::string what = "kernel '" + spec.name + "': " + configuration.text(), why = error.what();
  if (terms.wisdom.frozen())
    throw Error(error.code(), "TUNER_FROZEN=" + terms.wisdom.user().path().string() + ": " + what +
                                  ", which it names, cannot be used here: " + why);
  return what + ", the best that is known, is passed over: " + why.substr(0, why.find('\n'));
}

}  // namespace

DecidedPlan decided_plan(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                         const BoundCall& bound) {
  std::set<Configuration> broken;
  std::vector<std::string> warnings;  // given only when another configuration works; otherwise its error says more
  for (;;) {
    DecidedPlan made{decide(terms, device, spec, bound.size, bound.lowest, /*may_tune=*/broken.empty(), broken), {}};
    const Configuration& configuration = made.decision.configuration;
    try {
      made.plan = make_plan(device, spec, bound, configuration);
      for (const std::string& warning : warnings) terms.serving.warn(warning);
      return made;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::compiler || !made.decision.measured) throw;
      warnings.push_back(passed_over(terms, spec, configuration, error));
      broken.insert(configuration);
    }
  }
}

Decision foreseen(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                  const ProblemSize& lowest) {
  std::set<Configuration> broken;
  for (;;) {
    Decision decision = decide(terms, device, spec, size, lowest, /*may_tune=*/false, broken);
    const bool works = !decision.measured || terms.wisdom.frozen() ||
                       !device.modules.is_broken(served_request(device, spec, size, decision.configuration));
    if (works) return decision;
    broken.insert(std::move(decision.configuration));
  }
}

}  // namespace tuner::runtime
