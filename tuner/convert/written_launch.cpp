#include <tuner/convert/written_launch.hpp>

#include <algorithm>
#include <set>

#include <tuner/core/characters.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>

namespace tuner::convert {
namespace {

/// The place after three characters \p c from \p at on; blanks may stand between them. npos if they are not there.
std::size_t after_three(std::string_view code, std::size_t at, char c) {
  for (int i = 0; i < 3; ++i) {
    at = skip_space(code, at);
    if (at >= code.size() || code[at] != c) return npos;
    ++at;
  }
  return at;
}

/// Reads the function around one launch.
class Reader {
 public:
  Reader(const ScopedCode& code, std::size_t at) : code_(code), end_(at), begin_(at) {
    while (begin_ > 0 && !code.is_in_namespace(begin_ - 1)) --begin_;
  }

  /// The extents that \p expression stands for: a `dim3`, a variable of that type, or a number.
  std::vector<std::string> extents(std::string_view expression) {
    std::string text(trimmed(expression));
    if (is_name(text))
      if (const std::string value = value_of(text); !in_dim3(value).empty()) text = value;
    std::vector<std::string> all;
    const std::string_view inside = in_dim3(text);
    for (const std::string_view part : at_commas(inside.empty() ? text : inside, true)) all.emplace_back(part);
    while (all.size() > 1 && all.back() == "1") all.pop_back();
    for (const std::string& one : all) read_locals(one, kDeepest);
    return all;
  }

  /// \p expression with the values of its variables read.
  std::string number(std::string_view expression) {
    read_locals(std::string(expression), kDeepest);
    return expression == "0" ? "" : std::string(expression);
  }

  std::map<std::string, std::string, std::less<>> locals() && { return std::move(locals_); }

 private:
  static constexpr int kDeepest = 4;             // values that are computed from others
  static constexpr std::size_t kLongest = 1024;  // characters of a value

  static bool is_name(std::string_view text) {
    return !text.empty() && is_word_start(text.front()) && word_at(text, 0) == text;
  }

  /// `a, b` of `dim3(a, b)` and `{a, b}`; empty for anything else.
  static std::string_view in_dim3(std::string_view text) {
    if (word_at(text, 0) == "dim3")
      text = trimmed(text.substr(4));
    else if (text.substr(0, 1) != "{")
      return {};
    if (text.empty() || (text[0] != '(' && text[0] != '{') || after_brackets(text, 0) != text.size()) return {};
    return trimmed(text.substr(1, text.size() - 2));
  }

  /// The last value of the function's variable \p name before the launch. Empty if it has none.
  std::string value_of(std::string_view name) const {
    const std::string_view code = std::string_view(code_.text()).substr(0, end_);
    std::string value;
    for (std::size_t at = begin_; (at = find_word(code, name, at)) != npos; ++at) {
      const std::string_view before = code.substr(0, before_space(code, at).size());
      if (before.ends_with('.') || before.ends_with("->")) continue;  // a member
      const std::size_t sign = skip_space(code, at + name.size());
      if (sign >= code.size()) break;
      if (code[sign] == '=' && code.substr(sign, 2) != "==") {
        const auto parts = at_commas(code.substr(sign + 1, code.find(';', sign) - sign - 1), true);
        value = parts.empty() ? "" : parts.front();
      } else if ((code[sign] == '(' || code[sign] == '{') && has_word(statement_before(code, at), "dim3")) {
        const std::size_t after = after_brackets(code, sign);
        if (after != npos) value = "dim3" + std::string(code.substr(sign, after - sign));
      }
    }
    return value.size() <= kLongest && !has_word(value, name) ? value : "";
  }

  void read_locals(const std::string& text, int depth) {
    for (const std::string_view word : words_of(text)) {
      if (depth == 0 || locals_.find(word) != locals_.end() || others_.find(word) != others_.end()) continue;
      const std::string value = value_of(word);
      if (value.empty()) {
        others_.emplace(word);
        continue;
      }
      locals_.emplace(word, value);
      read_locals(value, depth - 1);
    }
  }

  const ScopedCode& code_;
  std::size_t end_, begin_;  ///< of the function, up to the launch
  std::map<std::string, std::string, std::less<>> locals_;
  std::set<std::string, std::less<>> others_;  ///< words that are no variables with a value
};

/// The launch whose kernel's name stands from \p at to \p end of \p code.
std::optional<WrittenLaunch> launch_at(const ScopedCode& scoped, std::size_t at, std::size_t end) {
  const std::string_view code = scoped.text();
  constexpr std::size_t longest = 4'096;  // characters, for brackets that nothing closes
  WrittenLaunch launch;
  end = skip_space(code, end);
  if (end < code.size() && code[end] == '<' && after_three(code, end, '<') == npos) {
    const std::size_t after = after_angles(code.substr(0, end + longest), end);
    if (after == npos) return std::nullopt;
    for (const std::string_view one : template_arguments(code.substr(at, after - at)))
      launch.template_arguments.emplace_back(one);
    end = after;
  }
  const std::size_t begin = after_three(code, end, '<');
  if (begin == npos) return std::nullopt;
  std::size_t close = begin;
  while (close < std::min(code.size(), begin + longest) && after_three(code, close, '>') == npos) ++close;
  if (after_three(code, close, '>') == npos) return std::nullopt;
  const auto shape = at_commas(code.substr(begin, close - begin), true);
  const std::size_t open = skip_space(code, after_three(code, close, '>'));
  if (shape.size() < 2 || code.substr(open, 1) != "(") return std::nullopt;
  Reader reader(scoped, at);
  launch.grid = reader.extents(shape[0]);
  launch.block = reader.extents(shape[1]);
  if (shape.size() > 2) launch.shared = reader.number(shape[2]);
  launch.locals = std::move(reader).locals();
  if (const std::size_t after = after_brackets(code, open, longest); after != npos)
    for (const std::string_view one : at_commas(code.substr(open + 1, after - open - 2), true))
      launch.arguments.emplace_back(one);
  return launch;
}

}  // namespace

std::optional<WrittenLaunch> launch_of(const ScopedCode& code, std::string_view kernel) {
  int left = 32;  // places that look like a launch
  for (std::size_t at = 0; left > 0 && (at = find_word(code.text(), kernel, at)) != npos; at += kernel.size(), --left)
    if (auto launch = launch_at(code, at, at + kernel.size());
        launch && launch->grid.size() <= 3 && launch->block.size() <= 3 && !launch->block.empty())
      return launch;
  return std::nullopt;
}

}  // namespace tuner::convert
