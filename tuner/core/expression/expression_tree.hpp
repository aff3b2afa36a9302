#pragma once
/// The syntax tree of an Expression, and the arithmetic of its operators. Private to this room.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/expression/expression.hpp>

namespace tuner {

// clang-format off
enum class Op : std::uint8_t {
  constant, boolean, name, failure,  // a failure is in programs only
  negate, logical_not,
  add, subtract, multiply, divide, modulo, shift_left, shift_right,
  equal, not_equal, less, less_equal, greater, greater_equal,
  logical_and, logical_or, conditional, member,
  ceil_div, minimum, maximum, log2, is_pow2, size_of, absolute,
  // These give numbers with a point: only with Numbers::any. A `real` is written with one.
  square_root, exponential, logarithm, sine, cosine, tangent, real,
};
// clang-format on

struct ExpressionNode {
  using Pointer = std::shared_ptr<const ExpressionNode>;

  Op op = Op::constant;
  std::int64_t value = 0;  ///< of a constant or boolean
  double real = 0;         ///< of a real
  bool is_real = false;    ///< its value is double
  bool has_reals = false;  ///< its value, or one in the tree below, is double

  std::string name = {};  ///< of a name, or of the argument of size_of
  std::vector<Pointer> children = {};
  SourceLocation location = {};  ///< of the operator, or of the value itself
  std::size_t depth = 1;         ///< of the tree below
  std::size_t count = 1;         ///< of nodes, shared ones counted each time they occur
};

inline bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }
inline bool gives_boolean(Op op) {
  return is_comparison(op) || op == Op::logical_not || op == Op::logical_and || op == Op::logical_or ||
         op == Op::member || op == Op::is_pow2;
}
/// Whether \p node compares doubles.
inline bool compares_reals(const ExpressionNode& node) {
  return is_comparison(node.op) && (node.children[0]->is_real || node.children[1]->is_real);
}

struct Expression::Tree {
  ExpressionNode::Pointer root;
  std::string text;
  SourceLocation location;
  std::vector<std::string> names;  // sorted, unique
};

inline ExpressionNode::Pointer make_leaf(ExpressionNode node) {
  return std::make_shared<const ExpressionNode>(std::move(node));
}
/// \p op applied to \p children. Operators of constants are computed at once, so that `1 / 0` is found when the file is
/// read. Throws EvaluationError if such a computation fails. Throws SpecError if the tree grows too large, or if an
/// operator that takes only integers is given a number with a point.
ExpressionNode::Pointer make_node(Op op, std::vector<ExpressionNode::Pointer> children, const SourceLocation& location);

/// Gives this room access to the trees of expressions.
struct ExpressionAccess {
  static const ExpressionNode::Pointer& root(const Expression& expression) { return expression.tree_->root; }
  static Expression make(ExpressionNode::Pointer root, std::string text, const SourceLocation& location);
};

/// Whether \p expression is one name and nothing else.
inline bool is_name(const Expression& expression) { return ExpressionAccess::root(expression)->op == Op::name; }

/// The operands of top-level `and`s, in order.
std::vector<Expression> split_conjunction(const Expression& expression);
/// Whether one of these operands is false, even if the evaluation of others fails. enumerate() does the same. Stores
/// the first failure in \p problem.
bool is_false(const Expression& predicate, const Bindings& bindings, std::optional<EvaluationError>& problem);
/// \p op applied to \p operands, for expressions that are not written in a kernel file.
Expression combine(Op op, const std::vector<Expression>& operands, const std::string& text = {});

/// Arithmetic that all evaluators share. If an operation fails, \p problem is set and 0 is returned.
struct ArithmeticProblem {
  const char* message = nullptr;
  const EvaluationError* error = nullptr;  ///< set for a part of a program that always fails
};
std::int64_t apply_unary(Op op, std::int64_t a, ArithmeticProblem& problem);
std::int64_t apply_binary(Op op, std::int64_t a, std::int64_t b, ArithmeticProblem& problem);
/// The same for doubles, which cannot fail. \p b is ignored if \p op has one operand.
double apply_real(Op op, double a, double b);
bool compare(Op op, auto a, auto b) {
  return op == Op::equal        ? a == b
         : op == Op::not_equal  ? a != b
         : op == Op::less       ? a < b
         : op == Op::less_equal ? a <= b
         : op == Op::greater    ? a > b
                                : a >= b;
}

/// Interval arithmetic bounds the results that are possible while some parameters are not decided yet.
struct Interval {
  std::int64_t low = 0, high = 0;  ///< both included
  bool may_fail = false;           ///< evaluation may fail for some values of the inputs

  static Interval anything() { return {INT64_MIN, INT64_MAX, true}; }
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
