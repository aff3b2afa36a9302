#include <tuner/core/expression_tree.hpp>

#include <algorithm>
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

}  // namespace tuner
