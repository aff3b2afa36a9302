#include <tuner/core/type_alias.hpp>

#include <algorithm>
#include <optional>

#include <tuner/core/characters.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>

namespace tuner {
namespace {

/// The meaning that one occurrence of a word in \p code gives it.
struct Said {
  std::string_view type;        ///< empty: this occurrence defines nothing
  bool is_conditional = false;  ///< the preprocessor decides
};

/// Of the word from \p begin to \p end.
Said said_at(std::string_view code, std::size_t begin, std::size_t end) {
  const std::string_view before = code.substr(0, begin), after = code.substr(end);
  const std::string_view line = trimmed(before.substr(before.rfind('\n') + 1));  // npos + 1: the first line
  if (line.starts_with('#')) {
    const std::string_view directive = trimmed(line.substr(1));
    if (directive == "define") return {trimmed(after.substr(0, after.find('\n')))};
    const auto begins = [&](std::string_view word) { return directive.starts_with(word); };
    return {{}, begins("if") || begins("elif") || begins("undef")};
  }
  const std::string_view next = trimmed(after.substr(0, after.find(';')));
  const std::string_view left = before_space(code, begin);
  if (next.starts_with('=') && word_before(left, left.size()) == "using") return {trimmed(next.substr(1))};
  const std::string_view statement = trimmed(before.substr(before.find_last_of(";{}\n") + 1));
  constexpr std::string_view word = "typedef";
  if (!next.empty() || word_at(statement, 0) != word) return {};
  return {trimmed(statement.substr(word.size()))};
}

/// Whether at \p at of \p code only braces of namespaces and of `extern "C"` are open.
bool is_in_namespaces_alone(std::string_view code, std::size_t at) {
  std::size_t closed = 0;
  while (at > 0) {
    const char c = code[--at];
    if (c == '}') ++closed;
    if (c != '{' || (closed > 0 && closed-- > 0)) continue;
    const std::string_view before = code.substr(0, at);
    const std::string_view opens = before.substr(before.find_last_of(";{}") + 1);
    const std::vector<std::string_view> words = words_of(opens);
    const bool is_namespace =
        std::find(words.begin(), words.end(), "namespace") != words.end() && opens.find('(') == std::string_view::npos;
    if (!is_namespace && (words.empty() || words.back() != "extern")) return false;
  }
  return true;
}

/// Whether \p at is outside of every `#if` and of all braces except those of namespaces.
bool is_always_there(std::string_view code, std::size_t at) {
  int open = 0;
  for (const DirectiveLine& line : directives_of(code.substr(0, at)))
    open += line.name().starts_with("if") ? 1 : line.name() == "endif" ? -1 : 0;
  return open <= 0 && is_in_namespaces_alone(code, at);
}

std::optional<std::string_view> meaning(std::string_view code, std::string_view name) {
  std::optional<std::string_view> only;
  for (std::size_t at = 0; (at = find_word(code, name, at)) != std::string_view::npos; ++at) {
    Said said = said_at(code, at, at + name.size());
    if (!said.type.empty() && !is_always_there(code, at)) said.is_conditional = true;
    if (said.is_conditional || (!said.type.empty() && only && *only != said.type)) return std::nullopt;
    if (!said.type.empty()) only = said.type;
  }
  return only;
}

/// `Body` of `struct Body`.
std::string without_class_key(std::string type) {
  for (const std::string_view key : {"struct ", "class "})
    if (type.starts_with(key)) return type.substr(key.size());
  return type;
}

}  // namespace

std::string without_aliases(std::string_view code, std::string type) {
  constexpr int kMostAliases = 8;  // in a chain
  constexpr std::size_t kLongest = 64;
  type = without_class_key(std::move(type));
  for (int i = 0; i < kMostAliases; ++i) {
    const bool is_name = !type.empty() && std::all_of(type.begin(), type.end(), is_word);
    const auto means = is_name ? meaning(code, type) : std::nullopt;
    if (!means || means->size() > kLongest || means->find_first_of("*&[(<\\") != std::string_view::npos) break;
    type = without_class_key(plain_type(std::string(*means)));
  }
  return type;
}

}  // namespace tuner
