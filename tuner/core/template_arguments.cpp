#include <tuner/core/template_arguments.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include <tuner/core/characters.hpp>
#include <tuner/core/token.hpp>

namespace tuner {
namespace {

/// \p text with its comments and literals as blanks.
std::string code_of(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) code[begin] = ' ';
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    } else if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) at += text[at] == '\\';
      at = std::min(at + 1, text.size());
    } else {
      continue;
    }
    blank(begin, at);
    --at;
  }
  return code;
}

/// The parts between the commas of a list in angle brackets, of which \p at is the position behind the first;
/// nothing when it has no end. \p end: behind the last bracket.
std::optional<std::vector<std::string_view>> parts_of_list(std::string_view code, std::size_t at, std::size_t& end) {
  std::vector<std::string_view> parts;
  std::size_t begin = at;
  int angles = 1;
  int others = 0;
  for (; at < code.size() && code[at] != ';'; ++at) {
    const char c = code[at];
    if (c == '(' || c == '[' || c == '{') ++others;
    if (c == ')' || c == ']' || c == '}') --others;
    if (others != 0) continue;
    if (c == '<') ++angles;
    if (c == '>') --angles;
    if (angles == 0 || (angles == 1 && c == ',')) {
      parts.push_back(code.substr(begin, at - begin));
      begin = at + 1;
    }
    if (angles > 0) continue;
    end = at + 1;
    if (parts.size() == 1 && parts.front().find_first_not_of(" \t\n") == std::string_view::npos) parts.clear();
    return parts;
  }
  return std::nullopt;
}

struct Arity {
  std::size_t least = 0;
  std::size_t most = 0;
};

Arity arity_of(const std::vector<std::string_view>& parameters) {
  Arity arity;
  for (const std::string_view parameter : parameters) {
    if (parameter.find("...") != std::string_view::npos) return {arity.least, static_cast<std::size_t>(-1)};
    ++arity.most;
    if (parameter.find('=') == std::string_view::npos) ++arity.least;
  }
  return arity;
}

std::size_t find_word(std::string_view code, std::string_view word, std::size_t from) {
  for (; (from = code.find(word, from)) != std::string_view::npos; ++from) {
    const std::size_t end = from + word.size();
    if ((from == 0 || !is_word(code[from - 1])) && (end == code.size() || !is_word(code[end]))) return from;
  }
  return from;
}

/// Of each template kernel called \p name: `template <…> … __global__ … name(`.
std::vector<Arity> declarations(std::string_view code, std::string_view name) {
  std::vector<Arity> found;
  for (std::size_t at = 0; (at = find_word(code, "template", at)) != std::string_view::npos; ++at) {
    const std::size_t open = code.find_first_not_of(" \t\r\n", at + 8);
    std::size_t end = 0;
    if (open == std::string_view::npos || code[open] != '<') continue;
    const auto parameters = parts_of_list(code, open + 1, end);
    if (!parameters) continue;
    const std::string_view rest = code.substr(end, code.find_first_of(";{}", end) - end);
    const std::size_t called = find_word(rest, name, 0);
    if (called == std::string_view::npos || find_word(rest, "__global__", 0) > called) continue;
    const std::size_t bracket = rest.find_first_not_of(" \t\r\n", called + name.size());
    if (bracket != std::string_view::npos && rest[bracket] == '(') found.push_back(arity_of(*parameters));
  }
  return found;
}

}  // namespace

std::string template_argument_problem(std::string_view source, std::string_view instantiation) {
  const std::size_t open = instantiation.find('<');
  if (open == std::string_view::npos) return {};
  std::string_view name = instantiation.substr(0, open);
  while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
  std::size_t begin = name.size();
  while (begin > 0 && is_word(name[begin - 1])) --begin;
  name.remove_prefix(begin);
  std::size_t end = 0;
  const auto arguments = parts_of_list(instantiation, open + 1, end);
  if (name.empty() || !arguments) return {};
  const std::vector<Arity> all = declarations(code_of(source), name);
  for (const Arity& one : all)
    if (arguments->size() >= one.least && arguments->size() <= one.most) return {};
  if (all.empty()) return {};
  const Arity& one = all.front();
  const auto counted = [](std::size_t n) { return std::to_string(n) + " template argument" + (n == 1 ? "" : "s"); };
  return in_quotes(name) + " takes " +
         (one.most == static_cast<std::size_t>(-1) ? "at least " + counted(one.least)
          : one.least == one.most                  ? counted(one.most)
                                                   : std::to_string(one.least) + " to " + counted(one.most)) +
         ", but " + in_quotes(instantiation) + " gives it " + std::to_string(arguments->size());
}

}  // namespace tuner
