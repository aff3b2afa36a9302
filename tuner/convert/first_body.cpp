#include <tuner/convert/first_body.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <tuner/core/cpp/declared_types.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::convert {
namespace {

/// Of an index. Without a limit, long products would cost quadratic time.
constexpr std::size_t kMostFactors = 8;

/// Removes `2*`, `(`, `size_t(` or `(int)` from the end of \p before, and adds the factor. False if there is none.
bool take_before(std::string_view& before, std::vector<std::string>& factors) {
  if (before.ends_with('(')) {
    before.remove_suffix(1);
    if (const std::string_view type = path_before(before); numbers_of(type)) before.remove_suffix(type.size());
    return true;
  }
  if (before.ends_with(')')) {
    const std::size_t open = before.rfind('(');
    if (open == npos || before.find_first_of("*+-/", open) != npos) return false;
    before = before.substr(0, open);
    return true;
  }
  if (!before.ends_with('*')) return false;
  const std::string_view factor = path_before(before.substr(0, before.size() - 1));
  if (factor.empty()) return false;
  factors.emplace_back(factor);
  before.remove_suffix(factor.size() + 1);
  return true;
}

}  // namespace

std::string_view path_before(std::string_view code) {
  std::size_t begin = code.size();
  while (begin > 0 && (is_word(code[begin - 1]) || code[begin - 1] == '.')) --begin;
  return code.substr(begin);
}

std::vector<std::string> index_factors(std::string_view body, std::size_t axis) {
  std::string code(body);
  std::erase_if(code, is_space);
  const std::string block = fmt::format("blockIdx.{}", "xyz"[axis]), thread = fmt::format("threadIdx.{}", "xyz"[axis]);
  for (std::size_t at = 0; (at = code.find(block, at)) != npos; at += block.size()) {
    std::vector<std::string> factors;
    std::string_view before = std::string_view(code).substr(0, at),
                     after = std::string_view(code).substr(at + block.size());
    while (factors.size() < kMostFactors && take_before(before, factors)) {
    }
    for (;;) {
      while (after.starts_with(')')) after.remove_prefix(1);
      if (!after.starts_with('*') || factors.size() > kMostFactors) break;
      std::size_t end = 1;
      while (end < after.size() && (is_word(after[end]) || after[end] == '.')) ++end;
      if (end == 1) break;
      factors.emplace_back(after.substr(1, end - 1));
      after.remove_prefix(end);
    }
    if (!factors.empty() && (after.starts_with('+' + thread) || before.ends_with(thread + '+'))) return factors;
  }
  return {};
}

std::string most_threads(std::string_view body) {
  const std::size_t at = find_word(body, "__launch_bounds__"), open = at == npos ? npos : body.find('(', at);
  const std::size_t after = open == npos ? npos : after_brackets(body, open);
  if (after == npos) return "";
  return std::string(at_commas(body.substr(open + 1, after - open - 2)).front());
}

std::string dynamic_shared_type(std::string_view body) {
  for (std::size_t at = 0; (at = find_word(body, "extern", at)) != npos; ++at) {
    const std::string_view line = body.substr(at, body.find(';', at) - at);
    const std::size_t shared = find_word(line, "__shared__");
    if (shared == npos) continue;
    const std::string type = plain_type(named_type(line.substr(shared + 10)).type);
    return type.empty() ? "float" : type;
  }
  return "";
}

std::vector<std::string> words_in_indices(std::string_view body, const std::vector<NamedType>& arguments) {
  constexpr std::size_t longest = 4'096;  // characters of an index
  std::vector<std::string> words;
  for (const NamedType& one : arguments)
    for (std::size_t at = 0; one.is_pointer() && (at = find_word(body, one.name, at)) != npos; ++at) {
      const std::size_t open = skip_space(body, at + one.name.size());
      const std::size_t end = body.substr(open, 1) == "[" ? after_brackets(body, open, longest) : npos;
      if (end == npos) continue;
      for (const std::string_view word : words_of(body.substr(open, end - open)))
        if (!contains(words, word)) words.emplace_back(word);
    }
  return words;
}

std::string elements(std::string_view brackets) {
  std::string product;
  for (std::size_t at = 0; at < brackets.size() && brackets[at] == '[';) {
    const std::size_t end = std::min(after_brackets(brackets, at), brackets.size() + 1);
    const std::string_view one = trimmed(brackets.substr(at + 1, end - at - 2));
    product = product.empty() ? std::string(one) : fmt::format("({}) * ({})", product, one);
    at = skip_space(brackets, end);
  }
  return product;
}

}  // namespace tuner::convert
