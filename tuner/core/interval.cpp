#include <tuner/core/interval.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace tuner {
namespace {

__extension__ typedef __int128 Wide;
constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();

Interval clamped(Wide low, Wide high, bool may_fail) {
  const auto clamp = [](Wide value) { return static_cast<std::int64_t>(std::clamp<Wide>(value, kLow, kHigh)); };
  return {clamp(low), clamp(high), may_fail || low < kLow || high > kHigh};
}

Interval anything() { return {kLow, kHigh, true}; }

/// For an operation that is monotonic in each operand: its extremes lie in the corners.
Interval corners(std::initializer_list<Wide> as, std::initializer_list<Wide> bs, bool may_fail, auto operation) {
  Wide low = 0, high = 0;
  bool first = true;
  for (const Wide a : as) {
    for (const Wide b : bs) {
      const Wide value = operation(a, b);
      low = first ? value : std::min(low, value);
      high = first ? value : std::max(high, value);
      first = false;
    }
  }
  return clamped(low, high, may_fail);
}

Interval product(Interval a, Interval b, bool may_fail) {
  return corners({a.low, a.high}, {b.low, b.high}, may_fail, [](Wide x, Wide y) { return x * y; });
}

Interval quotient(Op op, Interval a, Interval b, bool may_fail) {
  const auto divide = [op](Wide x, Wide y) {
    const Wide q = x / y;
    return op == Op::ceil_div && x % y != 0 && (x % y > 0) == (y > 0) ? q + 1 : q;
  };
  const bool negative = b.low < 0;
  const bool positive = b.high > 0;
  if (!negative && !positive) return anything();
  may_fail = may_fail || (b.low <= 0 && b.high >= 0);
  const Wide least = std::max<Wide>(b.low, 1);       // of the positive divisors
  const Wide greatest = std::min<Wide>(b.high, -1);  // of the negative ones
  const Interval up = positive ? corners({a.low, a.high}, {least, b.high}, may_fail, divide) : Interval{};
  const Interval down = negative ? corners({a.low, a.high}, {b.low, greatest}, may_fail, divide) : Interval{};
  return !negative ? up : !positive ? down : hull(up, down);
}

Interval remainder(Interval a, Interval b, bool may_fail) {
  const Wide largest = std::max<Wide>(b.high, -static_cast<Wide>(b.low)) - 1;
  if (largest < 0) return anything();
  const Wide low = a.low < 0 ? std::max<Wide>(a.low, -largest) : 0;
  const Wide high = a.high > 0 ? std::min<Wide>(a.high, largest) : 0;
  return clamped(low, high, may_fail || (b.low <= 0 && b.high >= 0));
}

Interval shifted(Op op, Interval a, Interval b, bool may_fail) {
  if (b.low < 0 || b.high > 62) return anything();
  if (op == Op::shift_left) return product(a, {std::int64_t{1} << b.low, std::int64_t{1} << b.high}, may_fail);
  return corners({a.low, a.high}, {b.low, b.high}, may_fail, [](Wide x, Wide y) { return x >> static_cast<int>(y); });
}

}  // namespace

Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.may_fail || b.may_fail};
}

Interval apply_unary(Op op, Interval a) {
  if (a.is_single() && !a.may_fail) {
    ArithmeticProblem problem;
    const std::int64_t value = apply_unary(op, a.low, problem);
    return problem.message ? anything() : Interval{value, value, false};
  }
  if (op == Op::negate) return clamped(-static_cast<Wide>(a.high), -static_cast<Wide>(a.low), a.may_fail);
  if (op == Op::logical_not) return {a.surely_zero(), !a.surely_nonzero(), a.may_fail};
  if (op == Op::is_pow2) return {0, 1, a.may_fail};
  if (op != Op::absolute) return {0, 62, true};  // log2
  const Wide most = std::max<Wide>(a.high, -static_cast<Wide>(a.low));
  const Wide least = a.low > 0 ? Wide{a.low} : a.high < 0 ? -static_cast<Wide>(a.high) : 0;
  return clamped(least, most, a.may_fail);
}

Interval apply_binary(Op op, Interval a, Interval b) {
  const bool may_fail = a.may_fail || b.may_fail;
  if (a.is_single() && b.is_single() && !may_fail) {
    ArithmeticProblem problem;
    const std::int64_t value = apply_binary(op, a.low, b.low, problem);
    if (!problem.message) return {value, value, false};
  }
  if (op == Op::add) return clamped(Wide{a.low} + b.low, Wide{a.high} + b.high, may_fail);
  if (op == Op::subtract) return clamped(Wide{a.low} - b.high, Wide{a.high} - b.low, may_fail);
  if (op == Op::multiply) return product(a, b, may_fail);
  if (op == Op::divide || op == Op::ceil_div) return quotient(op, a, b, may_fail);
  if (op == Op::modulo) return remainder(a, b, may_fail);
  if (op == Op::shift_left || op == Op::shift_right) return shifted(op, a, b, may_fail);
  if (op == Op::equal)
    return {a.is_single() && b.is_single() && a.low == b.low, a.low <= b.high && b.low <= a.high, may_fail};
  if (op == Op::not_equal) return apply_unary(Op::logical_not, apply_binary(Op::equal, a, b));
  if (op == Op::less) return {a.high < b.low, a.low < b.high, may_fail};
  if (op == Op::less_equal) return {a.high <= b.low, a.low <= b.high, may_fail};
  if (op == Op::greater) return apply_binary(Op::less, b, a);
  if (op == Op::greater_equal) return apply_binary(Op::less_equal, b, a);
  if (op == Op::minimum) return {std::min(a.low, b.low), std::min(a.high, b.high), may_fail};
  return {std::max(a.low, b.low), std::max(a.high, b.high), may_fail};  // maximum
}

}  // namespace tuner
