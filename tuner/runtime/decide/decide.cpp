#include <tuner/runtime/decide/decide.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>

#include <cache/file/disk.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/passing.hpp>
#include <tuner/error.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/decide/first_tuning.hpp>
#include <tuner/runtime/decide/make_plan.hpp>
#include <tuner/runtime/decide/size_class.hpp>
#include <tuner/session/tuning/unmeasured.hpp>

namespace tuner::runtime {
namespace {

/// After this part of the tuning time, nobody takes over from a process that died; the next call does.
constexpr double kLatestTakeOver = 0.75;

/// If more sizes of a class were measured than this, each size of a call gets its own decision.
constexpr std::size_t kMostApart = 512;

/// Exact, stale, by a rule or nearest size.
bool good_enough(const cache::WisdomMatch& match) { return match && match.tier <= cache::Tier::nearest_size; }

Decision decision_from(const cache::WisdomMatch& match) {
  return {.configuration = Configuration::parse(match.best->configuration),
          .reason = match.reason,
          .measured = true,
          .from_user = !match.shipped};
}

/// The decision, if the result is good enough to be used without tuning; otherwise nullopt. The choice of a rule is
/// not a miss.
std::optional<Decision> answer(const cache::WisdomMatch& match, const ProblemSize& lowest) {
  if (!good_enough(match)) return std::nullopt;
  Decision decision = decision_from(match);
  if (match.tier == cache::Tier::nearest_size && !is_of_class(match.best->problem.sizes, lowest.sizes))
    decision.missed = name(match.tier);
  return decision;
}

Decision known_or_default(const Question& asked, const cache::WisdomMatch& match) {
  if (match) return decision_from(match);
  return {unmeasured_configuration(asked.spec, asked.size, asked.device.limits, asked.patience),
          "default: " + match.reason};
}

/// Stands for a lookup whose answer cannot be used.
cache::WisdomMatch no_match(const std::string& reason) {
  cache::WisdomMatch nothing;
  nothing.reason = reason;
  return nothing;
}

/// The best stored result, without \p broken.
cache::WisdomMatch stored_match(const Question& asked, const std::set<Configuration>& broken) {
  if (broken.size() == kMostBroken) return no_match("the best that are known do not compile or load here");
  auto match = asked.wisdom.lookup_in_use(asked.use, asked.spec, asked.size, asked.device, asked.lowest.sizes, broken);
  if (!match.unavailable.empty() && match.reason != match.unavailable)
    match.reason += " (for now: " + match.unavailable + ')';
  return match;
}

/// Whether other sizes of the class may need another answer, because results are for some sizes alone.
bool is_for_one_size(const Question& asked, const cache::WisdomMatch& match) {
  return (match || !match.rejected.empty()) && !fixed_sizes(asked.spec, asked.size, asked.device.limits).empty();
}

/// Whether other sizes of the class may be able to use a better configuration, which these could not. Without a
/// default, each size has its own first valid configuration.
bool is_second_choice(const KernelSpec& spec, const cache::WisdomMatch& match, const Decision& decision) {
  return !match.rejected.empty() || (!match && decision.configuration != spec.default_configuration);
}

Decision decide_frozen(const Question& asked, const cache::WisdomMatch& match) {
  const KernelSpec& spec = asked.spec;
  Decision decision = known_or_default(asked, match);
  const bool of_its_own = match && match.tier <= cache::Tier::stale && asked.size.sizes != asked.lowest.sizes;
  // A configuration may be quarantined for only some sizes of the class.
  const bool in_quarantine = asked.wisdom.has_quarantine(spec, asked.device);
  decision.only_here =
      of_its_own || is_second_choice(spec, match, decision) || in_quarantine || is_for_one_size(asked, match);
  if (decision.only_here) return decision;
  const Sizes ends = class_ends(*sizes_in_order(spec, asked.lowest.sizes));
  cache::Sizes highest;
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) highest[spec.sizes[i].name] = ends[i];
  for (const Use use : std::set<Use>{Use::single, asked.use}) {
    const auto known = asked.wisdom.measured_sizes(spec, asked.lowest, highest, kMostApart, asked.device, use);
    decision.only_here = !known;
    if (!known) return decision;
    for (const cache::Sizes& measured : *known)
      if (measured != asked.lowest.sizes) decision.apart.push_back(*sizes_in_order(spec, measured));
  }
  return decision;
}

bool is_empty(const ProblemSize& size) {
  return std::any_of(size.sizes.begin(), size.sizes.end(), [](const auto& one) { return one.second == 0; });
}

/// Whether a tuning could find something that later processes are served with.
bool is_worth_tuning(const KernelSpec& spec, const ProblemSize& size) {
  const auto& parameters = spec.space.parameters();
  return !is_empty(size) && unknown_headers(spec) == nullptr &&
         std::any_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.values.size() > 1; });
}

/// The decision that needs no tuning, from \p match.
Decision decide_untuned(const Question& asked, const cache::WisdomMatch& match) {
  if (asked.wisdom.frozen()) return decide_frozen(asked, match);
  auto good = answer(match, asked.lowest);
  Decision decision = good ? std::move(*good) : known_or_default(asked, match);
  decision.for_now = !match.unavailable.empty();
  decision.only_here = is_for_one_size(asked, match);
  if (!good && is_worth_tuning(asked.spec, asked.size)) decision.missed = name(match.tier);
  return decision;
}

/// The result of a first use.
struct FirstResult {
  std::optional<Decision> decision = {};  ///< none: use what was known before, or the default
  bool for_now = false;                   ///< a result may still come
};

/// Tunes, or waits for a thread or process that is tuning this and uses its result.
FirstResult use_first(FirstUse& first, const Serving::Terms& terms, ServedDevice& device, const Question& asked) {
  using Turn = FirstUse::Turn;
  const KernelSpec& spec = asked.spec;
  const ProblemSize& lowest = asked.lowest;
  if (first.turn() == Turn::later) return {std::nullopt, true};
  const auto known_by_now = [&] { return answer(stored_match(asked, {}), lowest); };
  if (first.turn() == Turn::over) return {known_by_now(), first.in_vain()};
  if (first.tried()) return {};

  const auto start = Clock::now();
  const std::chrono::duration<double> time = terms.settings.tuning_time;
  const Device with_compiler = device.tuned_device();
  const auto claim = claim_on(terms.wisdom, spec, lowest, with_compiler);
  const bool at_once = !claim || claim->take();
  const bool mine = at_once || (!first.in_vain() && take_after_others(*claim, time));
  if (!mine) first.set_in_vain();
  if (claim)
    if (auto decision = known_by_now()) return {std::move(decision)};
  // The other process died or found nothing. Its trials are reused, unless hardly any time is left.
  if (!mine || (!at_once && seconds_since(start) > kLatestTakeOver * time.count())) return {std::nullopt, true};
  try {
    if (at_once && tried_lately(terms.wisdom, spec, lowest, with_compiler)) return {};
  } catch (const cache::Unavailable&) {
    return {std::nullopt, true};
  }
  const auto without_tuning = [&] {
    const Decision decision = known_or_default(asked, stored_match(asked, {}));
    device.modules.prepare(served_request(device, spec, asked.size, decision.configuration));
  };
  // The call needs it at once if nothing is measured in time, so it is compiled meanwhile.
  const std::future<void> meanwhile = in_a_thread(without_tuning);
  auto tuned = tune_now(terms, with_compiler, spec, asked.size, start);
  if (!tuned) {
    first.set_tried();
    return {std::nullopt, !at_once};
  }
  return {Decision{.configuration = std::move(*tuned),
                   .reason = "tuned on first use in this process",
                   .only_here = !fixed_sizes(spec, asked.size, asked.device.limits).empty(),
                   .measured = true}};
}

/// The warning about \p configuration. Throws Error if this process may not use another.
std::string passed_over(const Serving::Terms& terms, const KernelSpec& spec, const Configuration& configuration,
                        const Error& error) {
  const std::string what = "kernel '" + spec.name + "': " + configuration.text(), why = error.what();
  if (terms.wisdom.frozen())
    throw Error(error.code(), "TUNER_FROZEN=" + terms.wisdom.user().path().string() + ": " + what +
                                  ", which it names, cannot be used here: " + why);
  return what + ", the best known configuration, cannot be used here: " + why.substr(0, why.find('\n'));
}

}  // namespace

Decision decide(const Serving::Terms& terms, ServedDevice& device, const Question& asked, bool may_tune,
                const std::set<Configuration>& broken) {
  const cache::WisdomMatch match = stored_match(asked, broken);
  const bool can_tune = !asked.wisdom.frozen() && is_worth_tuning(asked.spec, asked.size);
  bool for_now = TuningHere::active();
  if (!can_tune || answer(match, asked.lowest)) {
    for_now = false;
  } else if (may_tune && !has_other_scalars(asked.spec, asked.size) && !for_now && match.unavailable.empty() &&
             tunes_on_first_use(terms.settings, device.device())) {
    FirstUse first(device.first_use, problem_name(asked.spec, asked.lowest, device.device()));
    FirstResult result = use_first(first, terms, device, asked);
    if (result.decision) return std::move(*result.decision);
    for_now = result.for_now;
  }
  Decision decision = decide_untuned(asked, match);
  decision.for_now = decision.for_now || for_now;
  // A configuration that does not compile for these sizes compiles for no other sizes of the class.
  if (broken.empty() && is_second_choice(asked.spec, match, decision)) decision.only_here = true;
  return decision;
}

DecidedPlan decided_plan(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                         const BoundCall& bound, Use use) {
  const Question asked{terms.wisdom, device.device(), spec, bound.size, bound.lowest, terms.settings.tuning_time, use};
  std::set<Configuration> broken;
  std::vector<std::string> warnings;  // given only when another configuration works; otherwise its error says more
  for (;;) {
    DecidedPlan made{bound.key.scalars == kOtherScalars
                         ? known_or_default(asked, no_match("a struct has other numbers than those that results are "
                                                            "for, or a scalar has had too many values"))
                         : decide(terms, device, asked, /*may_tune=*/broken.empty(), broken),
                     {}};
    const Configuration configuration = made.decision.configuration;
    try {
      try {
        made.plan = make_plan(device, spec, bound, configuration);
      } catch (const Passing& error) {
        if (!made.decision.measured) throw;
        warnings.push_back(passed_over(terms, spec, configuration, error));
        made.decision =
            known_or_default(asked, no_match("for now, because the best that is known does not compile now"));
        made.decision.for_now = true;
        made.plan = make_plan(device, spec, bound, made.decision.configuration);
      }
      for (const std::string& warning : warnings) terms.serving.warn(warning);
      return made;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::compiler || !made.decision.measured) throw;
      warnings.push_back(passed_over(terms, spec, configuration, error));
      broken.insert(configuration);
    }
  }
}

std::optional<DecidedPlan> plan_in_graphs(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                                          const BoundCall& bound) {
  if (!traits(device.device().key).is_gpu || bound.key.scalars == kOtherScalars) return std::nullopt;
  const cache::WisdomMatch known =
      terms.wisdom.lookup(spec, bound.size, device.device(), Objective::time_of(Use::graph), bound.lowest.sizes);
  if (!known && known.rejected.empty()) return std::nullopt;
  return decided_plan(terms, device, spec, bound, Use::graph);
}

Forecast forecast(const Question& asked, const std::function<bool(const Configuration&)>& is_broken) {
  require_servable(asked.spec);
  std::set<Configuration> broken;
  for (;;) {
    Forecast seen{{}, stored_match(asked, broken)};
    seen.decision = decide_untuned(asked, seen.match);
    if (!seen.decision.measured || asked.wisdom.frozen() || !is_broken || !is_broken(seen.decision.configuration))
      return seen;
    broken.insert(seen.decision.configuration);
  }
}

}  // namespace tuner::runtime
