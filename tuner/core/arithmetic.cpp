#include <tuner/core/expression_tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

std::int64_t no_answer(ArithmeticProblem& problem, const char* message) {
  problem.message = message;
  return 0;
}

constexpr const char* kOverflow = "overflow: the result does not fit 64 bits";
constexpr const char* kDivision = "division by zero";
constexpr const char* kShift = "a shift must be by 0 to 63 bits";

bool division_fails(std::int64_t a, std::int64_t b, ArithmeticProblem& problem) {
  if (b == 0) return no_answer(problem, kDivision), true;
  if (a == Limits::min() && b == -1) return no_answer(problem, kOverflow), true;
  return false;
}

std::int64_t shift_left(std::int64_t a, std::int64_t b, ArithmeticProblem& problem) {
  if (b < 0 || b > 63) return no_answer(problem, kShift);
  std::int64_t result = 0;
  if (b == 63) return a == 0 ? 0 : a == -1 ? Limits::min() : no_answer(problem, kOverflow);
  if (__builtin_mul_overflow(a, std::int64_t{1} << b, &result)) return no_answer(problem, kOverflow);
  return result;
}

}  // namespace

std::int64_t apply_unary(Op op, std::int64_t a, ArithmeticProblem& problem) {
  const bool is_power = a > 0 && (a & (a - 1)) == 0;
  if (op == Op::logical_not) return a == 0;
  if (op == Op::is_pow2) return is_power;
  if (op == Op::log2 && !is_power) return no_answer(problem, "log2 of a number that is no power of two");
  if (op == Op::log2) return __builtin_ctzll(static_cast<unsigned long long>(a));
  if (a == Limits::min()) return no_answer(problem, kOverflow);
  return op == Op::negate || a < 0 ? -a : a;  // else absolute
}

std::int64_t apply_binary(Op op, std::int64_t a, std::int64_t b, ArithmeticProblem& problem) {
  if (is_comparison(op)) return compare(op, a, b);
  std::int64_t result = 0;
  const auto checked = [&](bool overflows) { return overflows ? no_answer(problem, kOverflow) : result; };
  if (op == Op::add) return checked(__builtin_add_overflow(a, b, &result));
  if (op == Op::subtract) return checked(__builtin_sub_overflow(a, b, &result));
  if (op == Op::multiply) return checked(__builtin_mul_overflow(a, b, &result));
  if (op == Op::shift_left) return shift_left(a, b, problem);
  if (op == Op::shift_right) return b < 0 || b > 63 ? no_answer(problem, kShift) : a >> b;
  if (op == Op::minimum) return std::min(a, b);
  if (op == Op::maximum) return std::max(a, b);
  if (op == Op::modulo && b == -1) return 0;  // only the quotient of the smallest number would overflow
  if (division_fails(a, b, problem)) return 0;
  if (op == Op::divide) return a / b;
  if (op == Op::modulo) return a % b;
  return a / b + (a % b != 0 && (a % b > 0) == (b > 0) ? 1 : 0);  // ceil_div
}

double apply_real(Op op, double a, double b) {
  if (op == Op::negate) return -a;
  if (op == Op::absolute) return std::fabs(a);
  if (op == Op::square_root) return std::sqrt(a);
  if (op == Op::exponential) return std::exp(a);
  if (op == Op::logarithm) return std::log(a);
  if (op == Op::sine) return std::sin(a);
  if (op == Op::cosine) return std::cos(a);
  if (op == Op::tangent) return std::tan(a);
  if (op == Op::add) return a + b;
  if (op == Op::subtract) return a - b;
  if (op == Op::multiply) return a * b;
  if (op == Op::divide) return a / b;
  return op == Op::minimum ? std::min(a, b) : std::max(a, b);
}

}  // namespace tuner
