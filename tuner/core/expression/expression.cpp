#include <tuner/core/expression/expression.hpp>

#include <tuner/core/expression/expression_names.hpp>
#include <tuner/core/expression/expression_parser.hpp>
#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/expression/token.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

[[noreturn]] void fail(const ExpressionNode& node, const std::string& message) {
  throw EvaluationError(node.location, message);
}

/// Evaluates a tree by walking over it.
class TreeEvaluator {
 public:
  explicit TreeEvaluator(const Bindings& bindings) : bindings_(bindings) {}

  Value value(const ExpressionNode& node) const {
    if (node.is_real) fail(node, "a number with a point stands where an integer is needed");
    switch (node.op) {
      case Op::constant:
        return node.value;
      case Op::boolean:
        return node.value != 0;
      case Op::name:
        return bound(node);
      case Op::conditional:
        return value(*node.children[holds(*node.children[0]) ? 1 : 2]);
      case Op::logical_and:
        return holds(*node.children[0]) && holds(*node.children[1]);
      case Op::logical_or:
        return holds(*node.children[0]) || holds(*node.children[1]);
      case Op::member:
        return is_member(node);
      case Op::equal:
      case Op::not_equal:
        if (compares_reals(node)) return arithmetic(node);
        return equal(*node.children[0], *node.children[1]) == (node.op == Op::equal);
      case Op::size_of:
        return size_of(node);
      default:
        return arithmetic(node);
    }
  }

  std::int64_t number(const ExpressionNode& node) const {
    const Value result = value(node);
    if (result.is_string()) fail(node, "the word " + in_quotes(result.string()) + " stands where a number is needed");
    return result.integer();
  }

  bool holds(const ExpressionNode& node) const { return number(node) != 0; }

  double real(const ExpressionNode& node) const {
    if (!node.is_real) return static_cast<double>(number(node));
    if (node.op == Op::real) return node.real;
    if (node.op == Op::conditional) return real(*node.children[holds(*node.children[0]) ? 1 : 2]);
    return apply_real(node.op, real(*node.children[0]), node.children.size() > 1 ? real(*node.children[1]) : 0);
  }

 private:
  const Value& bound(const ExpressionNode& node) const {
    const Value* found = bindings_.find(node.name);
    if (!found) fail(node, unknown_name(node.name, bindings_.names()));
    return *found;
  }

  Value arithmetic(const ExpressionNode& node) const {
    if (compares_reals(node)) return compare(node.op, real(*node.children[0]), real(*node.children[1]));
    ArithmeticProblem problem;
    const std::int64_t a = number(*node.children[0]);
    const bool one = node.children.size() == 1;
    const std::int64_t b = one ? 0 : number(*node.children[1]);
    const std::int64_t result = one ? apply_unary(node.op, a, problem) : apply_binary(node.op, a, b, problem);
    if (problem.message) {
      const std::string operands = one ? std::to_string(a) : std::to_string(a) + " and " + std::to_string(b);
      fail(node, std::string(problem.message) + " (of " + operands + ")");
    }
    const bool logical = node.op == Op::logical_not || node.op == Op::is_pow2 || is_comparison(node.op);
    return logical ? Value(result != 0) : Value(result);
  }

  /// A name that is not bound is a word if the other side is one.
  bool equal(const ExpressionNode& a, const ExpressionNode& b) const {
    const bool a_free = is_free(a);
    const bool b_free = is_free(b);
    if (a_free && b_free) bound(a);
    if (a_free) return equals_word(value(b), a);
    if (b_free) return equals_word(value(a), b);
    const Value left = value(a);
    const Value right = value(b);
    if (left.is_string() != right.is_string()) {
      fail(b, "the word " + in_quotes(left.is_string() ? left.string() : right.string()) +
                  " is compared with the number " + (left.is_string() ? right : left).text());
    }
    return left.is_string() ? left.string() == right.string() : left.integer() == right.integer();
  }

  bool is_free(const ExpressionNode& node) const { return node.op == Op::name && !bindings_.find(node.name); }

  bool equals_word(const Value& known, const ExpressionNode& word) const {
    if (!known.is_string()) bound(word);  // throws
    return known.string() == word.name;
  }

  bool is_member(const ExpressionNode& node) const {
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      if (equal(*node.children[0], *node.children[i])) return true;
    }
    return false;
  }

  Value size_of(const ExpressionNode& node) const {
    const Value& type = bound(node);
    const auto element = type.is_string() ? element_type(type.string()) : std::nullopt;
    if (!element) fail(node, in_quotes(node.name) + " is not an element type");
    return static_cast<std::int64_t>(info(*element).bytes);
  }

  const Bindings& bindings_;
};

}  // namespace

Expression::Expression() : Expression(constant(0)) {}

Expression Expression::parse(std::string_view text, const SourceLocation& origin) {
  const LogicalLine line = LogicalLine::from(text, origin);
  TokenCursor cursor(line);
  Expression result = parse_expression(cursor, {});
  if (!cursor.at_end()) cursor.fail("expected an operator or the end of the expression, not " + cursor.described());
  return result;
}

Expression Expression::constant(std::int64_t value) {
  return ExpressionAccess::make(make_leaf({.value = value}), std::to_string(value), {});
}

Value Expression::evaluate(const Bindings& bindings) const { return TreeEvaluator(bindings).value(*tree_->root); }

std::int64_t Expression::evaluate_integer(const Bindings& bindings) const {
  return TreeEvaluator(bindings).number(*tree_->root);
}

bool Expression::evaluate_boolean(const Bindings& bindings) const {
  return TreeEvaluator(bindings).holds(*tree_->root);
}

double Expression::evaluate_number(const Bindings& bindings) const {
  return TreeEvaluator(bindings).real(*tree_->root);
}

const std::vector<std::string>& Expression::names() const { return tree_->names; }
const std::string& Expression::text() const { return tree_->text; }
const SourceLocation& Expression::location() const { return tree_->location; }
bool Expression::has_reals() const { return tree_->root->has_reals; }

}  // namespace tuner
