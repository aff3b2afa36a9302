#include <tuner/core/expression/compiled_expression.hpp>

#include <algorithm>
#include <optional>

#include <tuner/core/expression/expression_program.hpp>

namespace tuner {

struct CompiledExpression::Impl {
  Expression expression;
  std::span<const TuningParameter> parameters;
  Bindings fixed;
  std::vector<std::size_t> used;
  std::optional<Program> program;  // absent: names are bound anew for each evaluation

  Bindings with(std::span<const std::uint16_t> digits) const {
    Bindings bindings = fixed;
    for (const std::size_t i : used) bindings.set(parameters[i].name, parameters[i].values[digits[i]]);
    return bindings;
  }
};

CompiledExpression::CompiledExpression(const Expression& expression, std::span<const TuningParameter> parameters,
                                       const Bindings& fixed) {
  auto impl = std::make_shared<Impl>();
  impl->expression = expression;
  impl->fixed = fixed;
  impl->parameters = parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (std::ranges::binary_search(expression.names(), parameters[i].name)) impl->used.push_back(i);
  }
  impl->program = translated(*ExpressionAccess::root(expression), parameters, fixed);
  impl_ = std::move(impl);
}

CompiledExpression::Verdict CompiledExpression::check(std::span<const std::uint16_t> digits) const {
  if (impl_->program) {
    ArithmeticProblem problem;
    const auto read = [&](const Slot& slot) { return slot.values[digits[slot.parameter]]; };
    const std::int64_t value = impl_->program->run(impl_->program->root, read, problem);
    return problem.message ? Verdict::error : value != 0 ? Verdict::yes : Verdict::no;
  }
  try {
    return impl_->expression.evaluate_boolean(impl_->with(digits)) ? Verdict::yes : Verdict::no;
  } catch (const EvaluationError&) {
    return Verdict::error;
  }
}

bool CompiledExpression::holds(std::span<const std::uint16_t> digits) const {
  const Verdict verdict = check(digits);
  // Programs do not keep the places of their parts.
  return verdict == Verdict::error ? impl_->expression.evaluate_boolean(impl_->with(digits)) : verdict == Verdict::yes;
}

bool CompiledExpression::cannot_hold(std::span<const std::uint16_t> digits, std::span<const bool> bound,
                                     bool failing_is_no) const {
  if (!impl_->program) return false;
  const auto range = [&](const Slot& slot) {
    if (!bound[slot.parameter]) return slot.all;
    const std::int64_t value = slot.values[digits[slot.parameter]];
    return Interval{value, value, false};
  };
  const Interval result = impl_->program->bound(impl_->program->root, range);
  return result.surely_zero() && (failing_is_no || !result.may_fail);
}

const std::vector<std::size_t>& CompiledExpression::parameters() const { return impl_->used; }

}  // namespace tuner
