#pragma once
/// Predicates over tuning parameters, for loops that evaluate them millions of times.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tuner/core/expression/expression.hpp>

namespace tuner {

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

}  // namespace tuner
