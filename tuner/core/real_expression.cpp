#include <tuner/core/real_expression.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <tuner/core/expression_tree.hpp>

namespace tuner {
namespace {

bool any_node(const ExpressionNode& node, const auto& is_it) {
  if (is_it(node)) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const auto& child) { return any_node(*child, is_it); });
}

bool any_reals(const ExpressionNode& node) {
  return any_node(node, [](const ExpressionNode& one) { return one.op >= Op::square_root; });
}

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

}  // namespace

bool is_real(const ExpressionNode& node) {
  const auto child_is_real = [&](std::size_t i) { return is_real(*node.children[i]); };
  switch (node.op) {
    case Op::real:
      return true;
    case Op::square_root:
    case Op::exponential:
    case Op::logarithm:
    case Op::sine:
    case Op::cosine:
    case Op::tangent:
      (void)child_is_real(0);  // looked at for what is wrong in it
      return true;
    case Op::negate:
    case Op::absolute:
      return child_is_real(0);
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::minimum:
    case Op::maximum: {
      const bool first = child_is_real(0);  // both are looked at for what is wrong in them
      return child_is_real(1) || first;
    }
    default:
      break;
  }
  bool result = false;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (!child_is_real(i) || is_comparison(node.op)) continue;
    if (node.op != Op::conditional || i == 0)
      throw SpecError(node.location, "an integer is needed here, and " +
                                         std::string(node.op == Op::conditional ? "the condition" : "an operand") +
                                         " has a number with a point");
    result = true;
  }
  return result;
}

bool has_reals(const Expression& expression) { return any_reals(*ExpressionAccess::root(expression)); }

struct RealExpression::Part {
  Op op = Op::constant;      ///< name: the open one
  bool is_real = false;      ///< of its value
  std::int64_t integer = 0;  ///< of a constant
  double number = 0;         ///< of a real
  std::vector<Part> children = {};
  SourceLocation location = {};

  static Part made(const ExpressionNode::Pointer& node, const std::string& open, const Bindings& fixed) {
    Part part{node->op, tuner::is_real(*node), 0, node->real, {}, node->location};
    if (node->op == Op::real || (node->op == Op::name && node->name == open)) return part;
    const bool is_open = any_node(*node, [&](const ExpressionNode& one) { return one.name == open; });
    if (!is_open && !any_reals(*node)) {
      part.op = Op::constant;
      part.integer = ExpressionAccess::make(node, "", node->location).evaluate_integer(fixed);
      return part;
    }
    for (std::size_t i = 0; i < node->children.size(); ++i)
      part.children.push_back(part.needs(i) ? made(node->children[i], open, fixed) : Part{});
    return part;
  }

  /// Whether child \p i can ever be evaluated: not where the first one, which is known, decides against it.
  bool needs(std::size_t i) const {
    if (i == 0 || children[0].op != Op::constant) return true;
    const bool truth = children[0].integer != 0;
    if (op == Op::conditional) return truth == (i == 1);
    return op == Op::logical_and ? truth : op == Op::logical_or ? !truth : true;
  }

  std::int64_t whole(std::int64_t value) const {
    switch (op) {
      case Op::constant:
        return integer;
      case Op::name:
        return value;
      case Op::conditional:
        return children[children[0].whole(value) != 0 ? 1 : 2].whole(value);
      case Op::logical_and:
        return children[0].whole(value) != 0 && children[1].whole(value) != 0;
      case Op::logical_or:
        return children[0].whole(value) != 0 || children[1].whole(value) != 0;
      case Op::member: {
        const std::int64_t searched = children[0].whole(value);
        return std::any_of(children.begin() + 1, children.end(),
                           [&](const Part& one) { return one.whole(value) == searched; });
      }
      default:
        break;
    }
    if (is_comparison(op) && (children[0].is_real || children[1].is_real))
      return compared(children[0].evaluated(value), children[1].evaluated(value));
    ArithmeticProblem problem;
    const std::int64_t a = children[0].whole(value);
    const std::int64_t result =
        children.size() == 1 ? apply_unary(op, a, problem) : apply_binary(op, a, children[1].whole(value), problem);
    if (problem.message != nullptr) throw EvaluationError(location, problem.message);
    return result;
  }

  bool compared(double a, double b) const {
    switch (op) {
      case Op::equal:
        return a == b;
      case Op::not_equal:
        return a != b;
      case Op::less:
        return a < b;
      case Op::less_equal:
        return a <= b;
      case Op::greater:
        return a > b;
      default:
        return a >= b;
    }
  }

  double evaluated(std::int64_t value) const {
    if (!is_real) return static_cast<double>(whole(value));
    if (op == Op::real) return number;
    if (op == Op::conditional) return children[children[0].whole(value) != 0 ? 1 : 2].evaluated(value);
    const double a = children[0].evaluated(value);
    const double b = children.size() > 1 ? children[1].evaluated(value) : 0;
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
};

RealExpression::RealExpression(const Expression& expression, const std::string& open, const Bindings& fixed)
    : root_(std::make_shared<const Part>(Part::made(ExpressionAccess::root(expression), open, fixed))) {}

double RealExpression::evaluate(std::int64_t value) const { return root_->evaluated(value); }

}  // namespace tuner
