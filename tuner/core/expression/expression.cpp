#include <tuner/core/expression/expression.hpp>

#include <algorithm>
#include <set>

#include <tuner/core/expression/expression_program.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

/// Finds the first name that is unknown, or is a word where a number is needed, or the reverse.
class NameChecker {
 public:
  explicit NameChecker(const KnownNames& known) : known_(known) {}

  void number(const ExpressionNode& node) {
    if (!node.children.empty() && !seen_.insert(&node).second) return;
    if (node.op == Op::name) {
      if (kind(node).is_word)
        fail(node, in_quotes(node.name) + " is a word, which can only be compared with ==, != and in");
    } else if (node.op == Op::size_of) {
      if (!kind(node).is_word) fail(node, in_quotes(node.name) + " is not a type");
    } else if (node.op == Op::equal || node.op == Op::not_equal || node.op == Op::member) {
      for (std::size_t i = 1; i < node.children.size(); ++i) comparison(*node.children[0], *node.children[i]);
    } else {
      for (const auto& child : node.children) number(*child);
    }
  }

 private:
  void comparison(const ExpressionNode& a, const ExpressionNode& b) {
    const NameKind* words_a = words(a);
    const NameKind* words_b = words(b);
    if (words_a && words_b) return;
    if (words_a) return compared_with(a, *words_a, b);
    if (words_b) return compared_with(b, *words_b, a);
    number(a);
    number(b);
  }

  void compared_with(const ExpressionNode& name, const NameKind& kind, const ExpressionNode& other) {
    const auto& allowed = kind.words;
    if (other.op != Op::name) fail(other, in_quotes(name.name) + " is a word and cannot be compared with a number");
    if (contains(allowed, other.name)) return;
    if (known_.count(other.name)) {
      fail(other, in_quotes(name.name) + " is a word and cannot be compared with the number " + in_quotes(other.name));
    }
    fail(other, in_quotes(other.name) + " is not a value of " + in_quotes(name.name) + suggestion(other.name, allowed));
  }

  const NameKind* words(const ExpressionNode& node) const {
    const auto at = node.op == Op::name ? known_.find(node.name) : known_.end();
    return at != known_.end() && at->second.is_word ? &at->second : nullptr;
  }

  const NameKind& kind(const ExpressionNode& node) const {
    const auto at = known_.find(node.name);
    if (at != known_.end()) return at->second;
    std::vector<std::string> names;
    for (const auto& [name, ignored] : known_) names.push_back(name);
    fail(node, unknown_name(node.name, names));
  }

  [[noreturn]] static void fail(const ExpressionNode& node, const std::string& message) {
    throw SpecError(node.location, message);
  }

  const KnownNames& known_;
  std::set<const ExpressionNode*> seen_;
};

}  // namespace

Expression::Expression() : Expression(constant(0)) {}

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

void check_names(const Expression& expression, const KnownNames& known) {
  NameChecker(known).number(*ExpressionAccess::root(expression));
}

}  // namespace tuner
