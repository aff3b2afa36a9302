#include <tuner/runtime/decide.hpp>

#include <algorithm>
#include <optional>

#include <tuner/core/elapsed.hpp>
#include <tuner/core/error.hpp>
#include <tuner/runtime/call.hpp>
#include <tuner/session/empty_space.hpp>
#include <tuner/session/tuning.hpp>

namespace tuner::runtime {
namespace {

/// Exact, stale or of the nearest size.
bool good_enough(const cache::WisdomMatch& match) { return match && match.tier <= cache::Tier::nearest_size; }

Decision known(const cache::WisdomMatch& match) {
  return {Configuration::parse(match.best->configuration), match.reason};
}

/// Whether what was measured is of the size class that begins with \p lowest.
bool of_class(const KernelSpec& spec, const cache::WisdomMatch& match, const ProblemSize& lowest) {
  Sizes sizes, low;
  for (const SizeSpec& size : spec.sizes) {
    sizes.push_back(match.best->problem.sizes.at(size.name));
    low.push_back(lowest.sizes.at(size.name));
  }
  return size_classes(sizes) == low;
}

/// Any valid configuration; looks for one no longer than \p patience.
Configuration fallback(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                       std::chrono::duration<double> patience) {
  if (spec.default_configuration && !why_invalid(spec, size, limits, *spec.default_configuration)) {
    return *spec.default_configuration;
  }
  const auto start = Clock::now();
  try {
    const EnumeratedSpace space =
        enumerate(spec, size, limits, [&] { return seconds_since(start) >= patience.count(); });
    if (space.empty()) throw Error(explain_empty_space(spec, size, limits));
    return space.configuration(0);
  } catch (const EnumerationStopped& stopped) {
    throw Error("kernel '" + spec.name + "' names no default that is valid for " + size.text() +
                ", and looking for another configuration takes too long (" + stopped.what() +
                "): name one, #pragma tuner default");
  }
}

/// Tunes within the settings' time and stores the result. Nothing when nothing worked.
std::optional<Configuration> tune_now(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec,
                                      const ProblemSize& size) {
  TuningOptions options;
  options.session.budget.wall_time = terms.settings.tuning_time;
  options.isolation = Isolation::none;  // the caller's context is here, and the kernel is about to run in it anyway
  options.origin = "first use";
  const TuningHere here;
  try {
    const SessionResult result =
        tune_kernel(spec, size, device.device(), terms.wisdom, options, nullptr, device.backend.get());
    if (result.best) return result.best->configuration;
    terms.serving.warn("kernel '" + spec.name + "': no configuration worked for " + size.text());
  } catch (const Error& error) {
    if (!device.backend->usable()) throw;
    terms.serving.warn("kernel '" + spec.name + "' was not tuned for " + size.text() + ": " + error.what());
  }
  return std::nullopt;
}

}  // namespace

Decision decide(const Serving::Terms& terms, ServedDevice& device, const KernelSpec& spec, const ProblemSize& size,
                const ProblemSize& lowest, bool may_tune) {
  using Turn = FirstUse::Turn;
  cache::WisdomMatch match = terms.wisdom.lookup(spec, size, device.device(), {}, lowest.sizes);
  if (good_enough(match)) {
    Decision decision = known(match);
    if (match.tier == cache::Tier::nearest_size && !of_class(spec, match, lowest)) decision.missed = name(match.tier);
    return decision;
  }
  const bool empty = std::any_of(size.sizes.begin(), size.sizes.end(), [](const auto& s) { return s.second == 0; });
  bool for_now = TuningHere::active();
  if (may_tune && !empty && !for_now && terms.settings.tune == TuneOnMiss::on_first_use) {
    const FirstUse first(device.first_use, spec.name + ' ' + lowest.text());
    if (first.turn() == Turn::mine) {
      if (auto tuned = tune_now(terms, device, spec, size))
        return {std::move(*tuned), "tuned on first use in this process"};
    }
    for_now = first.turn() == Turn::later;
    if (first.turn() == Turn::over) match = terms.wisdom.lookup(spec, size, device.device(), {}, lowest.sizes);
  }
  Decision decision = match ? known(match)
                            : Decision{fallback(spec, size, device.device().limits, terms.settings.tuning_time),
                                       "default: " + match.reason};
  decision.for_now = for_now;
  if (!empty) decision.missed = name(match.tier);
  return decision;
}

}  // namespace tuner::runtime
