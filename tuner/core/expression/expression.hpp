#pragma once
/// Expressions over parameters, problem sizes, choices and device limits, as written in kernel files. Grammar and
/// functions: docs/kernel-files.md. Integer arithmetic is checked: overflow and division by zero are errors with line
/// and column, never wrapped numbers. Numbers with a point are allowed in fills and estimates only. An operation on
/// such a number is computed in double. Each operation is rounded separately, so that results are the same everywhere.

#include <cstdint>
#include <memory>
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

}  // namespace tuner
