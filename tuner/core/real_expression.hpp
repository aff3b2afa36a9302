#pragma once
/// Expressions that have numbers with a point in them, for what floating elements are filled with. What is made of
/// integers alone stays integer arithmetic, checked as everywhere; whatever a number with a point meets is double.

#include <cstdint>
#include <memory>
#include <string>

#include <tuner/core/expression.hpp>

namespace tuner {

/// Whether \p expression has such a number. One that has is for RealExpression alone.
bool has_reals(const Expression& expression);

/// Such an expression, ready to be evaluated for ever new values of one name. Each operation is rounded by itself, so
/// that the numbers are the same everywhere.
class RealExpression {
 public:
  /// All names but \p open are taken from \p fixed. Throws EvaluationError where what follows from these alone has no
  /// answer, and SpecError for a number with a point where an integer is needed.
  RealExpression(const Expression& expression, const std::string& open, const Bindings& fixed);
  /// Infinite or NaN where double arithmetic says so. Throws EvaluationError where integers have no answer.
  double evaluate(std::int64_t value) const;

 private:
  struct Part;
  std::shared_ptr<const Part> root_;
};

}  // namespace tuner
