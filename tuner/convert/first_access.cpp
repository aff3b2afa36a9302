#include <tuner/convert/first_access.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/words.hpp>
#include <tuner/core/values/characters.hpp>

namespace tuner::convert {
namespace {

/// The longest index, in characters. Without a limit, many brackets that nothing closes would cost quadratic time.
constexpr std::size_t kLongestIndex = 4'096;

/// Whether the operator at \p at updates the value before it: `+=`, `++`.
bool is_update(std::string_view code, std::size_t at) {
  const std::string_view two = code.substr(at, 2), three = code.substr(at, 3);
  if (two == "++" || two == "--" || three == "<<=" || three == ">>=") return true;
  return two.size() == 2 && two[1] == '=' && std::string_view("+-*/%&|^").find(two[0]) != npos;
}

bool is_assignment(std::string_view code, std::size_t at) {
  return code.substr(at, 1) == "=" && code.substr(at, 2) != "==";
}

/// Whether \p code defines a function or macro \p name, which may change an element that it gets.
bool is_defined(std::string_view code, std::string_view name) {
  for (std::size_t at = 0; (at = find_word(code, name, at)) != npos; at += name.size()) {
    const std::size_t open = skip_space(code, at + name.size());
    if (open >= code.size() || code[open] != '(') continue;
    if (word_before(code, before_space(code, at).size()) == "define") return true;
    const std::size_t after = after_brackets(code, open, kLongestIndex);
    if (after != npos && code.substr(skip_space(code, after), 1) == "{") return true;
  }
  return false;
}

/// The word before the bracket of which an expression is an argument alone, `f` of `f(a, p[i])`. \p before and \p after
/// are around the expression. Empty if it is not such an argument.
std::string_view called_with(std::string_view before, std::string_view after) {
  const bool begins = before.ends_with('(') || before.ends_with(',');
  if (!begins || !(after.starts_with(')') || after.starts_with(','))) return {};
  constexpr std::size_t longest = 1'024;
  int depth = 0;
  for (std::size_t at = before.size(); at > 0 && before.size() - at < longest; --at) {
    const char c = before[at - 1];
    if (c == ';' || c == '{' || c == '}') break;
    if (c == ')' || c == ']') ++depth;
    if (c != '(' && c != '[') continue;
    if (--depth < 0) {
      const std::string_view head = before_space(before, at - 1);
      return word_before(head, head.size());
    }
  }
  return {};
}

/// Whether the `&` at the end of \p before has a value on its left side.
bool is_operator(std::string_view before) {
  const std::string_view left = before_space(before, before.size() - 1);
  return !left.empty() && (is_word(left.back()) || left.back() == ']' || left.back() == '&');
}

/// Whether \p before ends in `threadIdx.` or the like, so that `x` after it is an index.
bool is_index(std::string_view before) {
  const std::string_view object = word_before(before, before_space(before, before.size() - 1).size());
  return object == "threadIdx" || object == "blockIdx" || object == "blockDim" || object == "gridDim";
}

/// The access of the pointer from \p begin to \p end of \p body. \p harmless: functions of other texts, once known.
Access access_at(std::string_view code, std::string_view body, std::size_t begin, std::size_t end,
                 std::set<std::string_view>& harmless) {
  std::string_view before = before_space(body, begin);
  while (before.ends_with('.') || before.ends_with("->")) {  // a pointer of a struct: fields.x[i]
    const std::string_view object = before_space(before, before.size() - (before.back() == '.' ? 1 : 2));
    before = before_space(object, object.size() - word_before(object, object.size()).size());
  }
  std::size_t at = skip_space(body, end);
  const bool has_index = body.substr(at, 1) == "[";
  while (body.substr(at, 1) == "[" || (has_index && body.substr(at, 1) == ".")) {  // y[i].x
    if (body[at] == '[') {
      at = skip_space(body, std::min(after_brackets(body, at, kLongestIndex), body.size()));
      continue;
    }
    const std::size_t member = skip_space(body, at + 1);
    at = skip_space(body, member + word_at(body, member).size());
    if (body.substr(at, 1) == "(") return Access::both;
  }
  if (!has_index) {
    if (!before.ends_with('*') || body.substr(at, 1) == ")") return Access::both;
    before = before_space(before, before.size() - 1);
  }
  const bool is_address = before.ends_with('&') && !is_operator(before);
  if (is_address || before.ends_with("++") || before.ends_with("--") || is_update(body, at)) return Access::both;
  if (is_assignment(body, at)) return Access::writes;
  if (has_word(statement_before(body, begin), "asm")) return Access::both;
  const std::string_view called = called_with(before, body.substr(at));
  if (!called.empty() && !harmless.contains(called)) {
    if (called == "swap" || (!is_word_of_cpp(called) && is_defined(code, called))) return Access::both;
    harmless.insert(called);
  }
  if (before.ends_with('=')) {  // `float& to = y[i]`
    const std::string_view left = before_space(before, before.size() - 1), name = word_before(left, left.size());
    if (before_space(left, left.size() - name.size()).ends_with('&')) return Access::both;
  }
  return Access::reads;
}

}  // namespace

Access access_of(std::string_view code, std::string_view body, std::string_view pointer, PointerPlace place) {
  for (const DirectiveLine& line : directives_of(code))
    if (line.name() == "define" && has_word(line.rest(), pointer)) return Access::both;
  std::optional<Access> all;
  std::set<std::string_view> harmless;
  for (std::size_t at = 0; (at = find_word(body, pointer, at)) != npos; at += pointer.size()) {
    const std::string_view before = before_space(body, at);
    const bool is_member = before.ends_with('.') || before.ends_with("->");
    if (is_member && (place == PointerPlace::argument || is_index(before))) continue;
    const Access one = access_at(code, body, at, at + pointer.size(), harmless);
    if (one == Access::both || all.value_or(one) != one) return Access::both;
    all = one;
  }
  return all.value_or(Access::both);
}

}  // namespace tuner::convert
