#include <tuner/core/space/search_space.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/space/drawn_space.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/space/prefixes.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

// Steps between two calls of the stop hook: some hundred microseconds.
constexpr std::uint64_t kStepsBetweenLooks = 1024;
constexpr double kMuchLarger = 4.0 * static_cast<double>(kMostListed);

/// Walks over prefixes, depth first.
class Walk {
 public:
  Walk(const Prefixes& prefixes, const StopHook& stop, std::size_t at_most, double most_seconds)
      : prefixes_(prefixes),
        stop_(stop),
        at_most_(at_most),
        most_seconds_(most_seconds),
        radix_(prefixes.parameters()),
        state_(prefixes.parameters().size()) {}

  std::vector<std::uint64_t> run() {
    if (prefixes_.admits_any(state_)) visit(0, 0);
    if (!prefixes_.in_order()) std::ranges::sort(codes_);
    return std::move(codes_);
  }
  /// After an exception.
  std::size_t found_so_far() const { return codes_.size(); }

 private:
  void visit(std::size_t depth, std::uint64_t code) {
    if (depth == prefixes_.depth()) return found(code);
    const std::size_t parameter = prefixes_.parameter(depth);
    const std::size_t pending = state_.pending.size();
    for (std::size_t digit = 0; digit < prefixes_.parameters()[parameter].values.size(); ++digit) {
      count_step();
      if (prefixes_.bind(depth, digit, state_)) {
        visit(depth + 1, code + digit * radix_.weight(parameter));
        if (codes_.size() >= at_most_) return;
      }
      state_.pending.resize(pending);
    }
    prefixes_.release(depth, state_);
  }

  void count_step() {
    if (++steps_ % kStepsBetweenLooks != 0) return;
    if (stop_ && stop_()) throw EnumerationStopped(progress());
    if (seconds_since(start_) > most_seconds_)
      throw std::length_error("the constraints exclude too many configurations too late: " + progress() + " after " +
                              std::to_string(std::lround(most_seconds_)) +
                              " s; split them into constraints on fewer parameters each, or leave values out");
  }

  std::string progress() const {
    return std::to_string(codes_.size()) + " valid configurations found in " + std::to_string(steps_) +
           " steps, and the search is not finished";
  }

  void found(std::uint64_t code) {
    Prefixes::require_answers(state_);
    if (codes_.size() == kMostListed) throw std::length_error("more than 2^26 valid configurations");
    codes_.push_back(code);
  }

  const Prefixes& prefixes_;
  const StopHook& stop_;
  const std::size_t at_most_;
  const double most_seconds_;
  const Clock::time_point start_ = Clock::now();
  MixedRadix radix_;
  std::uint64_t steps_ = 0;
  Prefixes::State state_;
  std::vector<std::uint64_t> codes_;
};

}  // namespace

const TuningParameter* SearchSpace::find(std::string_view name) const { return find_named(parameters_, name); }

double SearchSpace::product() const {
  double result = 1;
  for (const TuningParameter& parameter : parameters_) result *= static_cast<double>(parameter.values.size());
  return result;
}

std::optional<std::string> SearchSpace::violation(const Configuration& configuration, const Bindings& fixed) const {
  Bindings all = fixed;
  for (const TuningParameter& parameter : parameters_) {
    const Value* value = configuration.find(parameter.name);
    if (!value) return "parameter '" + parameter.name + "' has no value";
    if (!contains(parameter.values, *value))
      return parameter.name + "=" + value->text() + " is not one of: " + listed(texts_of(parameter.values));
    all.set(parameter.name, *value);
  }
  for (const auto& [name, value] : configuration.entries()) {
    if (!find(name)) return "unknown parameter '" + name + "'" + suggestion(name, names_of(parameters_));
  }
  std::optional<EvaluationError> problem;
  for (const Constraint& constraint : constraints_) {
    if (!is_false(constraint.predicate, all, problem)) continue;
    std::string reason = constraint.name + ": " + constraint.predicate.text();
    const char* separator = " with ";
    for (const std::string& name : constraint.predicate.names()) {
      if (!find(name)) continue;
      reason += separator + name + "=" + configuration.find(name)->text();
      separator = " ";
    }
    return reason;
  }
  if (problem) throw EvaluationError(*problem);
  return std::nullopt;
}

EnumeratedSpace enumerate_conjuncts(const std::vector<TuningParameter>& parameters,
                                    const std::vector<Conjunct>& conjuncts, const Bindings& fixed, const StopHook& stop,
                                    std::size_t at_most, double most_seconds) {
  const Prefixes prefixes(parameters, conjuncts, fixed);
  return EnumeratedSpace::from_codes(parameters, Walk(prefixes, stop, at_most, most_seconds).run());
}

EnumeratedSpace listed_or_drawn(const std::vector<TuningParameter>& parameters, const std::vector<Conjunct>& conjuncts,
                                const Bindings& fixed, const StopHook& stop, double most_seconds) {
  const auto drawn = std::make_shared<const DrawnSpace>(parameters, conjuncts, fixed);
  // A space that is much larger is not listed in vain.
  const auto product = static_cast<double>(MixedRadix(parameters).product());
  const double least = drawn->prefixes().predicates().empty() ? static_cast<double>(kMostListed) : kMuchLarger;
  if (product > least)
    if (const SpaceCount count = drawn->estimate(); count.number > least)
      if (const auto any = drawn->any()) return EnumeratedSpace::open(parameters, drawn, *any, count);
  Walk walk(drawn->prefixes(), stop, ~std::size_t{0}, most_seconds);
  try {
    return EnumeratedSpace::from_codes(parameters, walk.run());
  } catch (const std::length_error&) {
    const auto any = drawn->any();
    if (!any) throw;
    const auto found = static_cast<double>(walk.found_so_far());
    SpaceCount count = drawn->estimate();
    if (count.number < found) count = {found, SpaceCount::Kind::more_than};
    return EnumeratedSpace::open(parameters, drawn, *any, count);
  }
}

}  // namespace tuner
