#include <tuner/core/expression/expression_names.hpp>

#include <set>

#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>
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

void check_names(const Expression& expression, const KnownNames& known) {
  NameChecker(known).number(*ExpressionAccess::root(expression));
}

std::string unknown_name(const std::string& name, const std::vector<std::string>& names) {
  if (!is_identifier(name)) return in_quotes(name) + " is not a decimal integer";
  return "unknown name " + in_quotes(name) + suggestion(name, names);
}

}  // namespace tuner
