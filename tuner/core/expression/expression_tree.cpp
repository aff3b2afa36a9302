#include <tuner/core/expression/expression_tree.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>

#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

using Pointer = ExpressionNode::Pointer;

// Far more than anybody writes, far less than a thread's stack holds, even one of a sanitizer build.
constexpr std::size_t kMostDepth = 1000;
constexpr std::size_t kMostNodes = 20000;

bool is_constant(const ExpressionNode& node) { return node.op == Op::constant || node.op == Op::boolean; }

/// Whether \p op applied to \p children is double.
bool gives_real(Op op, const std::vector<Pointer>& children, const SourceLocation& location) {
  const auto is_real = [](const Pointer& child) { return child->is_real; };
  if (op >= Op::square_root) return true;
  if (std::ranges::none_of(children, is_real) || is_comparison(op)) return false;
  constexpr Op with_reals[] = {Op::negate,   Op::absolute, Op::add,     Op::subtract,
                               Op::multiply, Op::divide,   Op::minimum, Op::maximum};
  if (contains(with_reals, op)) return true;
  const bool is_conditional = op == Op::conditional;
  if (is_conditional && !is_real(children[0])) return true;
  throw SpecError(location, "an integer is needed here, but " +
                                std::string(is_conditional ? "the condition" : "an operand") +
                                " has a number with a point");
}

std::shared_ptr<ExpressionNode> make_parent(Op op, std::vector<Pointer> children, const SourceLocation& location) {
  auto node = std::make_shared<ExpressionNode>();
  node->op = op;
  node->location = location;
  for (const Pointer& child : children) {
    node->depth = std::max(node->depth, child->depth + 1);
    node->count += child->count;
    node->has_reals = node->has_reals || child->has_reals;
  }
  node->children = std::move(children);
  return node;
}

// Shared subtrees (from `let`) are visited once.
void collect_names(const ExpressionNode& node, std::set<const ExpressionNode*>& seen, std::vector<std::string>& names) {
  if (!node.name.empty()) names.push_back(node.name);
  if (!node.children.empty() && !seen.insert(&node).second) return;
  for (const Pointer& child : node.children) collect_names(*child, seen, names);
}

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

__extension__ typedef __int128 Wide;
constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();

Interval clamped(Wide low, Wide high, bool may_fail) {
  const auto clamp = [](Wide value) { return static_cast<std::int64_t>(std::clamp<Wide>(value, kLow, kHigh)); };
  return {clamp(low), clamp(high), may_fail || low < kLow || high > kHigh};
}

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
  if (!negative && !positive) return Interval::anything();
  may_fail = may_fail || (b.low <= 0 && b.high >= 0);
  const Wide least = std::max<Wide>(b.low, 1);       // of the positive divisors
  const Wide greatest = std::min<Wide>(b.high, -1);  // of the negative ones
  const Interval up = positive ? corners({a.low, a.high}, {least, b.high}, may_fail, divide) : Interval{};
  const Interval down = negative ? corners({a.low, a.high}, {b.low, greatest}, may_fail, divide) : Interval{};
  return !negative ? up : !positive ? down : hull(up, down);
}

Interval remainder(Interval a, Interval b, bool may_fail) {
  const Wide largest = std::max<Wide>(b.high, -static_cast<Wide>(b.low)) - 1;
  if (largest < 0) return Interval::anything();
  const Wide low = a.low < 0 ? std::max<Wide>(a.low, -largest) : 0;
  const Wide high = a.high > 0 ? std::min<Wide>(a.high, largest) : 0;
  return clamped(low, high, may_fail || (b.low <= 0 && b.high >= 0));
}

Interval shifted(Op op, Interval a, Interval b, bool may_fail) {
  if (b.low < 0 || b.high > 62) return Interval::anything();
  if (op == Op::shift_left) return product(a, {std::int64_t{1} << b.low, std::int64_t{1} << b.high}, may_fail);
  return corners({a.low, a.high}, {b.low, b.high}, may_fail, [](Wide x, Wide y) { return x >> static_cast<int>(y); });
}

}  // namespace

Pointer make_node(Op op, std::vector<Pointer> children, const SourceLocation& location) {
  if (op == Op::minimum || op == Op::maximum) {
    while (children.size() > 2) {
      Pointer first = make_node(op, {children[0], children[1]}, location);
      children.erase(children.begin());
      children.front() = std::move(first);
    }
    if (children.size() == 1) return children.front();
  }
  ArithmeticProblem problem;
  const bool arithmetic = op != Op::logical_and && op != Op::logical_or && op != Op::conditional && op != Op::member &&
                          op < Op::square_root;
  if (arithmetic && std::ranges::all_of(children, [](const Pointer& child) { return is_constant(*child); })) {
    const std::int64_t value = children.size() == 1 ? apply_unary(op, children[0]->value, problem)
                                                    : apply_binary(op, children[0]->value, children[1]->value, problem);
    if (problem.message) throw EvaluationError(location, problem.message);
    return make_leaf({.op = gives_boolean(op) ? Op::boolean : Op::constant, .value = value, .location = location});
  }
  if ((op == Op::divide || op == Op::modulo || op == Op::ceil_div) && is_constant(*children[1]) &&
      children[1]->value == 0) {
    throw EvaluationError(location, "division by zero");
  }
  const bool is_real = gives_real(op, children, location);
  auto node = make_parent(op, std::move(children), location);
  node->is_real = is_real;
  node->has_reals = node->has_reals || is_real;
  if (node->depth > kMostDepth || node->count > kMostNodes) {
    throw SpecError(location, "the expression is too large (at most " + std::to_string(kMostNodes) + " operations, " +
                                  std::to_string(kMostDepth) + " within each other); simplify it");
  }
  return node;
}

Expression ExpressionAccess::make(ExpressionNode::Pointer root, std::string text, const SourceLocation& location) {
  auto tree = std::make_shared<Expression::Tree>();
  std::set<const ExpressionNode*> seen;
  collect_names(*root, seen, tree->names);
  std::ranges::sort(tree->names);
  tree->names.erase(std::unique(tree->names.begin(), tree->names.end()), tree->names.end());
  tree->root = std::move(root);
  tree->text = std::move(text);
  tree->location = location;
  return Expression(std::move(tree));
}

Expression combine(Op op, const std::vector<Expression>& operands, const std::string& text) {
  std::vector<Pointer> children;
  for (const Expression& operand : operands) children.push_back(ExpressionAccess::root(operand));
  // Not make_node(): a constant expression that fails must throw when it is evaluated, not here.
  auto node = make_parent(op, std::move(children), operands.front().location());
  return ExpressionAccess::make(std::move(node), text, operands.front().location());
}

std::vector<Expression> split_conjunction(const Expression& expression) {
  std::vector<Pointer> open{ExpressionAccess::root(expression)};
  std::vector<Expression> parts;
  while (!open.empty()) {
    const Pointer node = open.back();
    open.pop_back();
    if (node->op == Op::logical_and) {
      open.push_back(node->children[1]);
      open.push_back(node->children[0]);
    } else {
      parts.push_back(ExpressionAccess::make(node, expression.text(), expression.location()));
    }
  }
  return parts;
}

bool is_false(const Expression& predicate, const Bindings& bindings, std::optional<EvaluationError>& problem) {
  try {
    return !predicate.evaluate_boolean(bindings);
  } catch (const EvaluationError& error) {
    if (!problem) problem = error;
    const std::vector<Expression> parts = split_conjunction(predicate);
    return parts.size() > 1 &&
           std::ranges::any_of(parts, [&](const Expression& part) { return is_false(part, bindings, problem); });
  }
}

std::int64_t apply_unary(Op op, std::int64_t a, ArithmeticProblem& problem) {
  const bool is_power = a > 0 && (a & (a - 1)) == 0;
  if (op == Op::logical_not) return a == 0;
  if (op == Op::is_pow2) return is_power;
  if (op == Op::log2 && !is_power) return no_answer(problem, "log2 of a number that is not a power of two");
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

Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.may_fail || b.may_fail};
}

Interval apply_unary(Op op, Interval a) {
  if (a.is_single() && !a.may_fail) {
    ArithmeticProblem problem;
    const std::int64_t value = apply_unary(op, a.low, problem);
    return problem.message ? Interval::anything() : Interval{value, value, false};
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
