#include <tuner/core/space/prefixes.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <tuner/core/expression/expression_tree.hpp>

namespace tuner {

Prefixes::Prefixes(std::vector<TuningParameter> parameters, const std::vector<Conjunct>& conjuncts,
                   const Bindings& fixed)
    : parameters_(std::move(parameters)) {
  for (const Conjunct& conjunct : conjuncts)
    for (const Expression& part : split_conjunction(conjunct.predicate))
      predicates_.push_back({CompiledExpression(part, parameters_, fixed), conjunct.failing_is_no});
  choose_order();
  schedule();
}

bool Prefixes::in_order() const { return std::ranges::is_sorted(order_); }

/// Binds parameters in an order that decides predicates early: each time those of the predicate with the fewest
/// combinations left.
void Prefixes::choose_order() {
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
}

/// Assigns each predicate to depths. At depth d the first d parameters of the order are bound.
void Prefixes::schedule() {
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

/// False if one of \p predicates is false. Stores a predicate that cannot be evaluated in State::pending.
bool Prefixes::admits(const List& predicates, State& state) const {
  for (const Predicate* predicate : predicates) {
    const auto verdict = predicate->compiled.check(state.digits);
    if (verdict == CompiledExpression::Verdict::yes) continue;
    if (verdict == CompiledExpression::Verdict::no || predicate->failing_is_no) return false;
    state.pending.push_back(predicate);
  }
  return true;
}

bool Prefixes::promises(const List& predicates, const State& state) const {
  return std::ranges::none_of(predicates, [&](const Predicate* predicate) {
    return predicate->compiled.cannot_hold(state.digits, {state.bound.get(), parameters_.size()},
                                           predicate->failing_is_no);
  });
}

}  // namespace tuner
