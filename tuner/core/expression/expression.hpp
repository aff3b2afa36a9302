#pragma once
/// Expressions over parameters, problem sizes, choices and device limits, as written in kernel files. Grammar and
/// functions: docs/kernel-files.md. Integer arithmetic is checked: overflow and division by zero are errors with line
/// and column, never wrapped numbers. Numbers with a point are allowed in fills only. An operation on such a number is
/// computed in double. Each operation is rounded separately, so that results are the same everywhere.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/values/configuration.hpp>
#include <tuner/error.hpp>

namespace tuner {

/// An evaluation that has no result: overflow, division by zero, a string where a number is needed.
class EvaluationError : public SpecError {
 public:
  using SpecError::SpecError;
};

/// An immutable parsed expression; copies share the tree.
class Expression {
 public:
  /// The constant 0.
  Expression();
  /// Parses \p text; \p origin is the place of its first character ({} when it comes from no file). Throws SpecError.
  static Expression parse(std::string_view text, const SourceLocation& origin);
  static Expression constant(std::int64_t value);

  /// Throws EvaluationError; an unbound name is an error that suggests the nearest bound one. Only an expression that
  /// is one name can be a word.
  Value evaluate(const Bindings& bindings) const;
  std::int64_t evaluate_integer(const Bindings& bindings) const;
  bool evaluate_boolean(const Bindings& bindings) const;
  /// In double where numbers with a point are involved; the result may be infinite or NaN.
  double evaluate_number(const Bindings& bindings) const;

  /// Names used, sorted, without duplicates.
  const std::vector<std::string>& names() const;
  /// As written.
  const std::string& text() const;
  const SourceLocation& location() const;
  /// Whether it contains a number with a point.
  bool has_reals() const;

 private:
  friend struct ExpressionAccess;
  struct Tree;
  explicit Expression(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}
  std::shared_ptr<const Tree> tree_;
};

/// A predicate over tuning parameters for loops that evaluate it millions of times. Names are resolved once, words are
/// numbers, and an evaluation neither allocates nor looks anything up. Configurations are given as digits: the position
/// of each parameter's value in its list.
class CompiledExpression {
 public:
  enum class Verdict { no, yes, error };

  /// Names of \p parameters, which must outlive this, are read from the digits; all others are taken from \p fixed.
  CompiledExpression(const Expression& expression, std::span<const TuningParameter> parameters, const Bindings& fixed);
  /// \p digits: one for each parameter; those of parameters that the predicate does not name are ignored.
  Verdict check(std::span<const std::uint16_t> digits) const;
  /// Like check(), but throws EvaluationError instead of returning Verdict::error.
  bool holds(std::span<const std::uint16_t> digits) const;
  /// True if interval arithmetic shows that the predicate is false for every completion of \p digits. \p bound: the
  /// digits that are decided. \p failing_is_no: completions for which evaluation fails count as false.
  bool cannot_hold(std::span<const std::uint16_t> digits, std::span<const bool> bound, bool failing_is_no) const;
  /// Positions of the parameters it names, ascending.
  const std::vector<std::size_t>& parameters() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// An expression with open names, for callers that evaluate it for many values. Evaluation does not allocate.
class OpenExpression {
 public:
  struct Range {
    std::int64_t low = 0, high = 0;  ///< both included
  };

  /// The constant 0.
  OpenExpression() = default;
  /// \p open: names whose values are given at each evaluation, in this order; all others are taken from \p fixed.
  /// Throws EvaluationError if one is missing or is a word where a number is needed.
  OpenExpression(const Expression& expression, std::span<const std::string> open, const Bindings& fixed);
  /// Nothing if evaluation fails (overflow, division by zero).
  std::optional<std::int64_t> evaluate(const std::int64_t* values) const;
  /// The same for an expression that may have numbers with a point; the result may be infinite or NaN.
  std::optional<double> evaluate_number(const std::int64_t* values) const;
  /// An interval that contains every result for values between \p low and \p high; nothing if an evaluation may fail.
  /// Precondition: no numbers with a point.
  std::optional<Range> range(const std::int64_t* low, const std::int64_t* high) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace tuner
