#include <tuner/core/expression/expression.hpp>

#include <tuner/core/expression/expression_parser.hpp>
#include <tuner/core/expression/expression_program.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {

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

Value Expression::evaluate(const Bindings& bindings) const {
  const ExpressionNode& root = *tree_->root;
  const Value* const bound = root.op == Op::name ? bindings.find(root.name) : nullptr;
  return bound ? *bound : evaluated_number(root, bindings);
}

std::int64_t Expression::evaluate_integer(const Bindings& bindings) const {
  return evaluated_number(*tree_->root, bindings).integer();
}

bool Expression::evaluate_boolean(const Bindings& bindings) const { return evaluate_integer(bindings) != 0; }

double Expression::evaluate_number(const Bindings& bindings) const { return evaluated_real(*tree_->root, bindings); }

const std::vector<std::string>& Expression::names() const { return tree_->names; }
const std::string& Expression::text() const { return tree_->text; }
const SourceLocation& Expression::location() const { return tree_->location; }
bool Expression::has_reals() const { return tree_->root->has_reals; }

}  // namespace tuner
