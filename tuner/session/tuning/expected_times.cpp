#include <tuner/session/tuning/expected_times.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_set>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/values/elapsed.hpp>

namespace tuner {
namespace {

using search::Index;

constexpr std::size_t kMostJudged = 16'384;  // a tenth of a second
constexpr double kMostSeconds = 0.1;         // of draws from an open space, where a rare constraint fails most

/// The model does not see what most parameters do. The file's author chose their defaults, so each other value counts
/// as this part of the time.
constexpr double kFarther = 0.05;
/// The least estimate becomes this part of their range if it is not positive.
constexpr double kLeast = 0.1;
constexpr double kSpread = 1.05;  // times of the model that differ by less have no order

}  // namespace

ExpectedTimes::ExpectedTimes(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                             const EnumeratedSpace& space)
    : spec_(spec),
      space_(space),
      model_(spec, size, limits),
      values_(bindings(spec, size, limits)),
      digits_(space.parameters().size()) {
  for (const TuningParameter& parameter : space.parameters()) {
    const Value* const value = spec.default_configuration ? spec.default_configuration->find(parameter.name) : nullptr;
    const auto at = value ? std::ranges::find(parameter.values, *value) : parameter.values.end();
    std::optional<std::uint16_t>& digit = default_.emplace_back();
    if (at != parameter.values.end()) digit = static_cast<std::uint16_t>(at - parameter.values.begin());
  }
}

std::optional<ExpectedTimes::Judged> ExpectedTimes::judge(Index index, const Resources* compiled) {
  if (!spec_.work.estimate && !model_.applies()) return std::nullopt;
  Judged judged;
  space_.digits(index, digits_);
  for (std::size_t p = 0; p < digits_.size(); ++p) {
    const TuningParameter& parameter = space_.parameters()[p];
    values_.set(parameter.name, parameter.values[digits_[p]]);
    judged.distance += default_[p] && *default_[p] != digits_[p] ? 1 : 0;
  }
  try {
    const std::optional<double> time =
        spec_.work.estimate ? spec_.work.estimate->evaluate_number(values_) : model_.cycles(values_, compiled);
    if (!time || !std::isfinite(*time)) return std::nullopt;
    judged.time = *time;
    return judged;
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
}

double ExpectedTimes::told(const Judged& judged) const {
  return spec_.work.estimate ? judged.time : judged.time * (1 + kFarther * static_cast<double>(judged.distance));
}

std::optional<double> ExpectedTimes::of(Index index, const Resources* compiled) {
  const std::optional<Judged> judged = judge(index, compiled);
  return judged ? std::optional(told(*judged)) : std::nullopt;
}

std::vector<Index> ExpectedTimes::judged_part(std::uint64_t seed, const StopHook& stop) const {
  std::vector<Index> part;
  if (!space_.is_open() && space_.size() <= kMostJudged) {
    for (Index index = 0; index < space_.size(); ++index) part.push_back(index);
    return part;
  }
  std::unordered_set<Index> seen;
  const auto add = [&](Index index) {
    if (seen.insert(index).second) part.push_back(index);
  };
  if (const auto common = spec_.default_configuration ? space_.find(*spec_.default_configuration) : std::nullopt) {
    add(*common);
    for (const Index index : space_.neighbours(*common, Neighbourhood::hamming)) add(index);
  }
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  const Clock::time_point start = Clock::now();
  const auto is_late = [&] { return space_.is_open() && seconds_since(start) >= kMostSeconds; };
  for (std::size_t draws = 0; draws < kMostJudged && !is_late(); ++draws) {
    if (stop && stop()) break;
    if (const auto index = space_.draw(below)) add(*index);
  }
  return part;
}

std::vector<search::Observation> ExpectedTimes::all(std::uint64_t seed, const StopHook& stop) {
  if (!spec_.work.estimate && !model_.applies()) return {};
  struct Found {
    Index index = 0;
    Judged judged;
  };
  std::vector<Found> found;
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const Index index : judged_part(seed, stop)) {
    if (stop && stop()) return {};
    const std::optional<Judged> judged = judge(index, nullptr);
    if (!judged) continue;
    least = std::min(least, judged->time);
    most = std::max(most, judged->time);
    found.push_back({index, *judged});
  }
  if (found.empty() || (spec_.work.estimate ? least == most : most < kSpread * least)) return {};
  std::ranges::stable_sort(found, {}, [](const Found& one) { return one.judged.distance; });
  const double shift = least > 0 ? 0 : kLeast * (most - least) - least;  // the search compares ratios
  std::vector<search::Observation> expected;
  for (const Found& one : found) expected.push_back({one.index, told(one.judged) + shift});
  return expected;
}

}  // namespace tuner
