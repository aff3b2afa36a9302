#include <tuner/core/expression_tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <tuner/core/named.hpp>

namespace tuner {
namespace {

using Pointer = ExpressionNode::Pointer;

// Far more than anybody writes, far less than a thread's stack holds, even one of a sanitizer build.
constexpr std::size_t kMostDepth = 1000;
constexpr std::size_t kMostNodes = 20000;

bool is_constant(const ExpressionNode& node) { return node.op == Op::constant || node.op == Op::boolean; }

bool is_boolean_result(Op op) { return op == Op::logical_not || op == Op::is_pow2 || is_comparison(op); }

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
    return make_leaf({.op = is_boolean_result(op) ? Op::boolean : Op::constant, .value = value, .location = location});
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
