#include <tuner/core/cpp/definitions.hpp>

#include <algorithm>
#include <optional>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

/// The declaration `[static] constexpr TYPE name = VALUE;` of the word at \p at that ends before \p after_name. It may
/// have other names, too.
std::optional<DefinedValue> constant_at(std::string_view code, std::size_t at, std::size_t after_name) {
  const std::size_t sign = skip_space(code, after_name);
  if (sign >= code.size() || (code[sign] != '=' && code[sign] != '{') || code.substr(sign, 2) == "==")
    return std::nullopt;
  const std::size_t begin = skip_space(code, at - statement_before(code, at).size());
  if (begin >= at) return std::nullopt;
  const std::string_view before = trimmed(code.substr(begin, at - begin));
  const std::string_view head = before.substr(0, before.find_first_of("={"));  // `const int a = 1, name`: of a
  if (head.size() < before.size() && !before.ends_with(',')) return std::nullopt;
  const auto belongs = [](char c) { return is_word(c) || is_blank(c) || c == '\n' || c == ':'; };
  const auto words = words_of(head);
  if (!std::ranges::all_of(head, belongs) || words.size() < 2 ||
      !(contains(words, "const") || contains(words, "constexpr")))
    return std::nullopt;
  const std::size_t end = code.find(';', sign);
  if (end == npos) return std::nullopt;
  const auto values = at_commas(code.substr(sign + 1, end - sign - 1), true);
  std::string_view value = trimmed(values.front());
  if (code[sign] == '{') {
    if (!value.ends_with('}')) return std::nullopt;
    value = trimmed(value.substr(0, value.size() - 1));
  }
  // Each thread computes a value that has members or elements: `const int first = blockIdx.x * 64;`
  const auto is_member = [&](std::size_t dot) {
    const std::string_view of = word_before(value, dot);  // a digit: `1.f`
    return dot + 1 < value.size() && is_word_start(value[dot + 1]) && (of.empty() || is_word_start(of.front()));
  };
  for (std::size_t dot = value.find('.'); dot != npos; dot = value.find('.', dot + 1))
    if (is_member(dot)) return std::nullopt;
  if (value.empty() || value.find_first_of("{}#[") != npos) return std::nullopt;
  return DefinedValue{begin, end + 1, std::string(value), values.size() == 1 && head.size() == before.size()};
}

}  // namespace

std::vector<DefinedValue> definitions_of(std::string_view code, std::string_view name) {
  std::vector<DefinedValue> found = values_of(code, name);
  std::erase_if(found, [](const DefinedValue& one) { return !one.is_only; });
  return found;
}

std::vector<DefinedValue> values_of(std::string_view code, std::string_view name) {
  std::vector<DefinedValue> found;
  for (std::size_t at = find_word(code, name); at != npos; at = find_word(code, name, at + 1)) {
    if (const auto line = directive_around(code, at)) {
      if (defined_name(*line) == name)
        found.push_back({line->begin, line->end, std::string(trimmed(line->rest().substr(name.size())))});
      at = line->end;
    } else if (auto constant = constant_at(code, at, at + name.size())) {
      found.push_back(std::move(*constant));
    }
  }
  return found;
}

std::string without_definitions(std::string text, const std::vector<std::string_view>& names) {
  if (std::ranges::none_of(names, [&](std::string_view name) { return has_word(text, name); })) return text;
  const std::string code = code_of(text);
  for (const std::string_view name : names)
    for (const DefinedValue& one : definitions_of(code, name))
      std::replace_if(
          text.begin() + static_cast<std::ptrdiff_t>(one.begin), text.begin() + static_cast<std::ptrdiff_t>(one.end),
          [](char c) { return c != '\n'; }, ' ');
  return text;
}

}  // namespace tuner
