#include <tuner/core/search_space.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include <tuner/core/elapsed.hpp>
#include <tuner/core/expression_tree.hpp>
#include <tuner/core/named.hpp>

namespace tuner {
namespace {

constexpr std::size_t kMostConfigurations = std::size_t{1} << 26;
// Steps between two calls of the stop hook: some hundred microseconds.
constexpr std::uint64_t kStepsBetweenLooks = 1024;

struct Predicate {
  CompiledExpression compiled;
  bool failing_is_no;
};

/// Walks over prefixes, depth first. A predicate is checked when its last parameter is bound. Before that, interval
/// arithmetic cuts off prefixes that cannot be completed.
class Walk {
 public:
  Walk(const std::vector<TuningParameter>& parameters, const std::vector<Conjunct>& conjuncts, const Bindings& fixed,
       const StopHook& stop, std::size_t at_most, double most_seconds)
      : parameters_(parameters),
        stop_(stop),
        at_most_(at_most),
        most_seconds_(most_seconds),
        radix_(parameters),
        digits_(parameters.size()),
        bound_(std::make_unique<bool[]>(parameters.size())) {
    for (const Conjunct& conjunct : conjuncts) {
      for (const Expression& part : split_conjunction(conjunct.predicate)) {
        predicates_.push_back({CompiledExpression(part, parameters, fixed), conjunct.failing_is_no});
      }
    }
    choose_order();
  }

  std::vector<std::uint64_t> run() {
    if (admits(complete_.front()) && promises(partial_.front())) visit(0, 0);
    if (!std::ranges::is_sorted(order_)) std::ranges::sort(codes_);
    return std::move(codes_);
  }

 private:
  using List = std::vector<const Predicate*>;

  /// Binds parameters in an order that decides predicates early: each time those of the predicate with the fewest
  /// combinations left.
  void choose_order() {
    std::vector<char> placed(parameters_.size(), 0);
    const auto place = [&](std::size_t parameter) {
      if (placed[parameter]) return;
      placed[parameter] = 1;
      order_.push_back(parameter);
    };
    for (;;) {
      const Predicate* next = nullptr;
      double fewest = std::numeric_limits<double>::infinity();
      for (const Predicate& predicate : predicates_) {
        double combinations = 1;
        bool open = false;
        for (const std::size_t i : predicate.compiled.parameters()) {
          if (placed[i]) continue;
          combinations *= static_cast<double>(parameters_[i].values.size());
          open = true;
        }
        if (open && combinations < fewest) {
          fewest = combinations;
          next = &predicate;
        }
      }
      if (!next) break;
      for (const std::size_t i : next->compiled.parameters()) place(i);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) place(i);
    schedule();
  }

  /// Assigns each predicate to depths. At depth d the first d parameters of the order are bound.
  void schedule() {
    complete_.resize(parameters_.size() + 1);
    partial_.resize(parameters_.size() + 1);
    std::vector<std::size_t> depth_of(parameters_.size());
    for (std::size_t d = 0; d < order_.size(); ++d) depth_of[order_[d]] = d + 1;
    for (const Predicate& predicate : predicates_) {
      std::size_t last = 0;
      for (const std::size_t i : predicate.compiled.parameters()) last = std::max(last, depth_of[i]);
      complete_[last].push_back(&predicate);
      if (last > 0) partial_[0].push_back(&predicate);
      for (const std::size_t i : predicate.compiled.parameters()) {
        if (depth_of[i] < last) partial_[depth_of[i]].push_back(&predicate);
      }
    }
  }

  void visit(std::size_t depth, std::uint64_t code) {
    if (depth == order_.size()) return found(code);
    const std::size_t parameter = order_[depth];
    const std::size_t pending = pending_.size();
    bound_[parameter] = true;
    for (std::size_t digit = 0; digit < parameters_[parameter].values.size(); ++digit) {
      digits_[parameter] = static_cast<std::uint16_t>(digit);
      count_step();
      if (admits(complete_[depth + 1]) && promises(partial_[depth + 1])) {
        visit(depth + 1, code + digit * radix_.weight(parameter));
        if (codes_.size() >= at_most_) return;
      }
      pending_.resize(pending);
    }
    bound_[parameter] = false;
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

  /// False if one of \p predicates is false. One that cannot be evaluated is kept in pending_: another predicate may
  /// still rule out the prefix.
  bool admits(const List& predicates) {
    for (const Predicate* predicate : predicates) {
      const auto verdict = predicate->compiled.check(digits_);
      if (verdict == CompiledExpression::Verdict::yes) continue;
      if (verdict == CompiledExpression::Verdict::no || predicate->failing_is_no) return false;
      pending_.push_back(predicate);
    }
    return true;
  }

  bool promises(const List& predicates) const {
    return std::ranges::none_of(predicates, [&](const Predicate* predicate) {
      return predicate->compiled.cannot_hold(digits_, {bound_.get(), parameters_.size()}, predicate->failing_is_no);
    });
  }

  void found(std::uint64_t code) {
    if (!pending_.empty()) pending_.front()->compiled.holds(digits_);  // throws
    if (codes_.size() == kMostConfigurations) {
      throw std::length_error("more than 2^26 valid configurations; add constraints or leave values out");
    }
    codes_.push_back(code);
  }

  const std::vector<TuningParameter>& parameters_;
  const StopHook& stop_;
  const std::size_t at_most_;
  const double most_seconds_;
  const Clock::time_point start_ = Clock::now();
  MixedRadix radix_;
  std::uint64_t steps_ = 0;
  std::vector<Predicate> predicates_;
  std::vector<std::size_t> order_;
  std::vector<List> complete_, partial_;  // by depth
  std::vector<std::uint16_t> digits_;
  std::unique_ptr<bool[]> bound_;
  List pending_;
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
  return EnumeratedSpace::from_codes(parameters, Walk(parameters, conjuncts, fixed, stop, at_most, most_seconds).run());
}

}  // namespace tuner
