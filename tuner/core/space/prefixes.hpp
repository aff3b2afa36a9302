#pragma once
/// The order in which the parameters of a space get their values, and the predicates that rule out values on the way. A
/// predicate is checked when its last parameter is bound. Before that, interval arithmetic cuts off prefixes that
/// cannot be completed. Internal to the room.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tuner/core/expression/compiled_expression.hpp>
#include <tuner/core/space/search_space.hpp>

namespace tuner {

class Prefixes {
 public:
  struct Predicate {
    CompiledExpression compiled;
    bool failing_is_no;
  };
  /// A prefix: the digits of the parameters that are bound.
  struct State {
    explicit State(std::size_t parameters) : digits(parameters), bound(std::make_unique<bool[]>(parameters)) {}
    std::vector<std::uint16_t> digits;
    std::unique_ptr<bool[]> bound;
    std::vector<const Predicate*> pending;  ///< true or failing; another predicate may still rule out the prefix
  };

  Prefixes(std::vector<TuningParameter> parameters, const std::vector<Conjunct>& conjuncts, const Bindings& fixed);
  Prefixes(const Prefixes&) = delete;
  Prefixes& operator=(const Prefixes&) = delete;

  const std::vector<TuningParameter>& parameters() const { return parameters_; }
  const std::vector<Predicate>& predicates() const { return predicates_; }
  std::size_t depth() const { return order_.size(); }
  /// The parameter that is bound at \p depth.
  std::size_t parameter(std::size_t depth) const { return order_[depth]; }
  bool in_order() const;

  /// Whether the empty prefix may be completed.
  bool admits_any(State& state) const { return admits(complete_.front(), state) && promises(partial_.front(), state); }
  /// Binds the parameter at \p depth; false if such a prefix cannot be completed.
  bool bind(std::size_t depth, std::size_t digit, State& state) const {
    const std::size_t parameter = order_[depth];
    state.bound[parameter] = true;
    state.digits[parameter] = static_cast<std::uint16_t>(digit);
    return admits(complete_[depth + 1], state) && promises(partial_[depth + 1], state);
  }
  void release(std::size_t depth, State& state) const { state.bound[order_[depth]] = false; }

  /// Throws EvaluationError if a predicate of the whole configuration \p state could not be evaluated.
  static void require_answers(const State& state) {
    if (!state.pending.empty()) state.pending.front()->compiled.holds(state.digits);
  }

 private:
  using List = std::vector<const Predicate*>;
  void choose_order();
  void schedule();
  bool admits(const List& predicates, State& state) const;
  bool promises(const List& predicates, const State& state) const;

  std::vector<TuningParameter> parameters_;
  std::vector<Predicate> predicates_;
  std::vector<std::size_t> order_;
  std::vector<List> complete_, partial_;  // by depth
};

}  // namespace tuner
