#pragma once
/// Integer expressions over parameters, problem sizes, choices and device limits, as written in kernel files.
/// Grammar and functions: docs/kernel-files.md. Arithmetic is checked: overflow and division by zero are errors
/// with line and column, never wrapped numbers.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/error.hpp>
#include <tuner/core/value.hpp>

namespace tuner {

/// Names and the values they stand for while an expression is evaluated.
class Bindings {
 public:
  void set(std::string_view name, Value value);
  const Value* find(std::string_view name) const;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

/// Arithmetic that has no answer: overflow, division by zero, a string where a number is needed.
class EvaluationError : public SpecError {
 public:
  using SpecError::SpecError;
};

struct ExpressionNode;

/// An immutable parsed expression; copies share the tree.
class Expression {
 public:
  /// The constant 0.
  Expression();
  /// Parses \p text; \p origin is the place of its first character. Throws SpecError.
  static Expression parse(std::string_view text, const SourceLocation& origin);
  static Expression constant(std::int64_t value);

  /// Throws EvaluationError; an unbound name is an error that suggests the nearest bound one.
  Value evaluate(const Bindings& bindings) const;
  std::int64_t evaluate_integer(const Bindings& bindings) const;
  bool evaluate_boolean(const Bindings& bindings) const;

  /// Names used, sorted, without duplicates.
  const std::vector<std::string>& names() const;
  /// Throws SpecError with the place of the first name not in \p known, with a suggestion.
  void require_known(std::span<const std::string> known) const;
  /// As written.
  const std::string& text() const;
  const SourceLocation& location() const;

 private:
  friend class CompiledExpression;
  std::shared_ptr<const ExpressionNode> node_;
};

/// An expression whose names are resolved to slots once, for loops that evaluate it millions of times.
class CompiledExpression {
 public:
  /// Names in \p slots are read from that position; all other names must be in \p fixed.
  CompiledExpression(const Expression& expression, std::span<const std::string> slots, const Bindings& fixed);
  bool holds(std::span<const Value* const> values) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// The one of \p candidates nearest to \p name by edit distance, when it is near enough to be a misspelling.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace tuner
