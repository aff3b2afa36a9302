#pragma once
/// Expressions of problem sizes, scalars and indices, for callers that evaluate them for many values.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <tuner/core/expression/expression.hpp>

namespace tuner {

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
