#include <tuner/session/tuning/expected_times.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <unordered_set>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/space/enumerated_space.hpp>

namespace tuner {
namespace {

using search::Index;

constexpr std::size_t kMostJudged = 16'384;  // a tenth of a second

/// The default as digits of \p space; nothing for a value that no configuration of the space has.
std::vector<std::optional<std::uint16_t>> digits_of_default(const KernelSpec& spec, const EnumeratedSpace& space) {
  std::vector<std::optional<std::uint16_t>> digits;
  for (const TuningParameter& parameter : space.parameters()) {
    const Value* const value = spec.default_configuration ? spec.default_configuration->find(parameter.name) : nullptr;
    const auto at = value ? std::ranges::find(parameter.values, *value) : parameter.values.end();
    digits.push_back(at == parameter.values.end()
                         ? std::nullopt
                         : std::optional(static_cast<std::uint16_t>(at - parameter.values.begin())));
  }
  return digits;
}

std::vector<Index> judged_part(const KernelSpec& spec, const EnumeratedSpace& space, std::uint64_t seed) {
  std::vector<Index> part;
  if (!space.is_open() && space.size() <= kMostJudged) {
    for (Index index = 0; index < space.size(); ++index) part.push_back(index);
    return part;
  }
  std::unordered_set<Index> seen;
  const auto add = [&](Index index) {
    if (seen.insert(index).second) part.push_back(index);
  };
  if (const auto common = spec.default_configuration ? space.find(*spec.default_configuration) : std::nullopt) {
    add(*common);
    for (const Index index : space.neighbours(*common, Neighbourhood::hamming)) add(index);
  }
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  for (std::size_t draws = 0; draws < kMostJudged; ++draws)
    if (const auto index = space.draw(below)) add(*index);
  return part;
}

}  // namespace

std::vector<search::Observation> expected_times(const KernelSpec& spec, const ProblemSize& size,
                                                const DeviceLimits& limits, const EnumeratedSpace& space,
                                                std::uint64_t seed, const StopHook& stop) {
  if (!spec.work.estimate || space.empty()) return {};
  const auto common = digits_of_default(spec, space);
  struct Judged {
    std::size_t distance = 0;  // from the default
    search::Observation expected;
  };
  std::vector<Judged> all;
  Bindings values = bindings(spec, size, limits);
  EnumeratedSpace::Digits digits(space.parameters().size());
  for (const Index index : judged_part(spec, space, seed)) {
    if (stop && stop()) return {};
    space.digits(index, digits);
    std::size_t distance = 0;
    for (std::size_t p = 0; p < digits.size(); ++p) {
      const TuningParameter& parameter = space.parameters()[p];
      values.set(parameter.name, parameter.values[digits[p]]);
      distance += common[p] != digits[p] ? 1 : 0;
    }
    try {
      const double expected = spec.work.estimate->evaluate_number(values);
      if (std::isfinite(expected)) all.push_back({distance, {index, expected}});
    } catch (const EvaluationError&) {
    }
  }
  std::ranges::stable_sort(all, {}, &Judged::distance);
  std::vector<search::Observation> expected;
  for (const Judged& one : all) expected.push_back(one.expected);
  const auto objective = [](const search::Observation& one) { return *one.objective; };
  if (expected.empty() ||
      std::ranges::min(expected, {}, objective).objective == std::ranges::max(expected, {}, objective).objective)
    return {};
  return expected;
}

}  // namespace tuner
