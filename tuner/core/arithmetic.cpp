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
  switch (op) {
    case Op::negate:
      return a == Limits::min() ? no_answer(problem, kOverflow) : -a;
    case Op::absolute:
      return a == Limits::min() ? no_answer(problem, kOverflow) : a < 0 ? -a : a;
    case Op::logical_not:
      return a == 0;
    case Op::is_pow2:
      return a > 0 && (a & (a - 1)) == 0;
    default:  // log2
      if (a <= 0 || (a & (a - 1)) != 0) return no_answer(problem, "log2 of a number that is no power of two");
      return __builtin_ctzll(static_cast<unsigned long long>(a));
  }
}

std::int64_t apply_binary(Op op, std::int64_t a, std::int64_t b, ArithmeticProblem& problem) {
  if (is_comparison(op)) return compare(op, a, b);
  std::int64_t result = 0;
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &result) ? no_answer(problem, kOverflow) : result;
    case Op::subtract:
      return __builtin_sub_overflow(a, b, &result) ? no_answer(problem, kOverflow) : result;
    case Op::multiply:
      return __builtin_mul_overflow(a, b, &result) ? no_answer(problem, kOverflow) : result;
    case Op::divide:
      return division_fails(a, b, problem) ? 0 : a / b;
    case Op::modulo:
      if (b == -1) return 0;  // the quotient of the smallest number would overflow, the remainder does not
      return division_fails(a, b, problem) ? 0 : a % b;
    case Op::ceil_div:
      if (division_fails(a, b, problem)) return 0;
      return a / b + (a % b != 0 && (a % b > 0) == (b > 0) ? 1 : 0);
    case Op::shift_left:
      return shift_left(a, b, problem);
    case Op::shift_right:
      return b < 0 || b > 63 ? no_answer(problem, kShift) : a >> b;
    case Op::minimum:
      return a < b ? a : b;
    default:  // maximum
      return a > b ? a : b;
  }
}

double apply_real(Op op, double a, double b) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::absolute:
      return std::fabs(a);
    case Op::square_root:
      return std::sqrt(a);
    case Op::exponential:
      return std::exp(a);
    case Op::logarithm:
      return std::log(a);
    case Op::sine:
      return std::sin(a);
    case Op::cosine:
      return std::cos(a);
    case Op::tangent:
      return std::tan(a);
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::minimum:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

}  // namespace tuner
