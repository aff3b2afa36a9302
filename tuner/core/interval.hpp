#pragma once
/// Interval arithmetic over the operators of expressions. It bounds the results that are possible while some parameters
/// are not decided yet. Private to this room.

#include <cstdint>

#include <tuner/core/expression_tree.hpp>

namespace tuner {

struct Interval {
  std::int64_t low = 0, high = 0;  ///< both included
  bool may_fail = false;           ///< evaluation may fail for some values of the inputs

  bool is_single() const { return low == high; }
  bool surely_zero() const { return low == 0 && high == 0; }
  bool surely_nonzero() const { return low > 0 || high < 0; }
  /// As a truth value: 0 or 1.
  Interval truth() const { return {surely_nonzero(), !surely_zero(), may_fail}; }
};

/// An interval that contains every result of \p op for values in the operands. It is cut off at 64 bits, and marked, if
/// results may overflow.
Interval apply_unary(Op op, Interval a);
Interval apply_binary(Op op, Interval a, Interval b);
/// The smallest interval around both.
Interval hull(Interval a, Interval b);

}  // namespace tuner
