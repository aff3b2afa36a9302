#include <algorithm>
#include <optional>

#include <tuner/core/expression/expression_program.hpp>
#include <tuner/core/values/message_text.hpp>

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

struct OpenExpression::Impl : Program {};

OpenExpression::OpenExpression(const Expression& expression, std::span<const std::string> open, const Bindings& fixed) {
  // Open names become parameters. Their lists of values are never read.
  std::vector<TuningParameter> parameters;
  for (const std::string& name : open) parameters.push_back({name, {Value(std::int64_t{0})}});
  auto program = translated(*ExpressionAccess::root(expression), parameters, fixed);
  if (!program || program->misuses_names)
    throw EvaluationError(expression.location(), in_quotes(expression.text()) + " has no value");
  impl_ = std::make_shared<const Impl>(Impl{std::move(*program)});
}

std::optional<std::int64_t> OpenExpression::evaluate(const std::int64_t* values) const {
  if (!impl_) return 0;
  ArithmeticProblem problem;
  const auto read = [&](const Slot& slot) { return values[slot.parameter]; };
  const std::int64_t value = impl_->run(impl_->root, read, problem);
  return problem.message ? std::nullopt : std::optional(value);
}

std::optional<double> OpenExpression::evaluate_number(const std::int64_t* values) const {
  if (!impl_) return 0;
  ArithmeticProblem problem;
  const auto read = [&](const Slot& slot) { return values[slot.parameter]; };
  const double value = impl_->run_real(impl_->root, read, problem);
  return problem.message ? std::nullopt : std::optional(value);
}

std::optional<OpenExpression::Range> OpenExpression::range(const std::int64_t* low, const std::int64_t* high) const {
  if (!impl_) return Range{};
  const auto range = [&](const Slot& slot) { return Interval{low[slot.parameter], high[slot.parameter], false}; };
  const Interval result = impl_->bound(impl_->root, range);
  if (result.may_fail) return std::nullopt;
  return Range{result.low, result.high};
}

}  // namespace tuner
