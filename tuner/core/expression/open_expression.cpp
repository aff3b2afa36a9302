#include <tuner/core/expression/open_expression.hpp>

#include <tuner/core/expression/expression_program.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner {

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
