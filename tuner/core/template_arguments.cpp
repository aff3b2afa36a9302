#include <tuner/core/template_arguments.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <tuner/core/characters.hpp>
#include <tuner/core/token.hpp>

namespace tuner {
namespace {

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

/// \p code with its `#pragma tuner` lines as blanks.
std::string without_directives(std::string code) {
  for (std::size_t at = 0; (at = code.find('#', at)) != std::string::npos; ++at) {
    const auto word = [&](std::size_t from, std::string_view wanted) {
      from = code.find_first_not_of(" \t", from);
      return from != std::string::npos && code.compare(from, wanted.size(), wanted) == 0 ? from + wanted.size() : 0;
    };
    const std::size_t pragma = word(at + 1, "pragma");
    if (pragma == 0 || word(pragma, "tuner") == 0) continue;
    for (std::size_t i = at; i < code.size() && (code[i] != '\n' || code[i - 1] == '\\'); ++i)
      if (code[i] != '\n') code[i] = code[i] == '\\' ? '\\' : ' ';
  }
  return code;
}

struct Declaration {
  std::vector<std::string_view> parameters;
  std::string_view behind;  // the list of parameters, up to the end of the text
};

/// Each template kernel called \p name: `template <…> … __global__ … name(`.
std::vector<Declaration> declarations(std::string_view code, std::string_view name) {
  std::vector<Declaration> found;
  for (std::size_t at = 0; (at = find_word(code, "template", at)) != std::string_view::npos; ++at) {
    const std::size_t open = code.find_first_not_of(" \t\r\n", at + 8);
    std::size_t end = 0;
    if (open == std::string_view::npos || code[open] != '<') continue;
    auto parameters = parts_of_list(code, open + 1, end);
    if (!parameters) continue;
    const std::string_view rest = code.substr(end, code.find_first_of(";{}", end) - end);
    const std::size_t called = find_word(rest, name, 0);
    if (called == std::string_view::npos || find_word(rest, "__global__", 0) > called) continue;
    const std::size_t bracket = rest.find_first_not_of(" \t\r\n", called + name.size());
    if (bracket != std::string_view::npos && rest[bracket] == '(')
      found.push_back({std::move(*parameters), code.substr(end)});
  }
  return found;
}

struct Instantiation {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

/// Of `space::f<T, block>`: f, T and block.
std::optional<Instantiation> parse_instantiation(std::string_view text) {
  const std::size_t open = text.find('<');
  if (open == std::string_view::npos) return std::nullopt;
  std::string_view name = text.substr(0, open);
  while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
  std::size_t begin = name.size();
  while (begin > 0 && is_word(name[begin - 1])) --begin;
  name.remove_prefix(begin);
  std::size_t end = 0;
  auto arguments = parts_of_list(text, open + 1, end);
  if (name.empty() || !arguments) return std::nullopt;
  return Instantiation{name, std::move(*arguments)};
}

/// From the start of \p text to the brace that ends its first block; nothing where there is a declaration only.
std::optional<std::string_view> signature_and_body(std::string_view text) {
  const std::size_t open = text.find_first_of(";{");
  if (open == std::string_view::npos || text[open] == ';') return std::nullopt;
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0) return text.substr(0, at + 1);
  }
  return std::nullopt;
}

/// The last word of `unsigned block = 32` before the default; empty for a pack.
std::string_view name_of(std::string_view parameter) {
  if (parameter.find("...") != std::string_view::npos) return {};
  parameter = parameter.substr(0, parameter.find('='));
  while (!parameter.empty() && !is_word(parameter.back())) parameter.remove_suffix(1);
  std::size_t begin = parameter.size();
  while (begin > 0 && is_word(parameter[begin - 1])) --begin;
  return parameter.substr(begin);
}

/// Whether a macro of \p code may name \p word where it is used.
bool named_by_macro(std::string_view code, std::string_view word) {
  for (std::size_t at = 0; (at = code.find("#define", at)) != std::string_view::npos; ++at) {
    std::size_t end = code.find('\n', at);
    while (end != std::string_view::npos && code[end - 1] == '\\') end = code.find('\n', end + 1);
    if (find_word(code.substr(at, end - at), word, 0) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string code_of(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin)
      if (code[begin] != '\n') code[begin] = ' ';
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (text[at] == '/' && next == '/') {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '/' && next == '*') {
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    } else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_word(text[at - 1])))) {  // else it parts digits
      for (++at; at < text.size() && text[at] != text[begin] && text[at] != '\n'; ++at) at += text[at] == '\\';
      at = std::min(at + 1, text.size());
    } else {
      continue;
    }
    blank(begin, at);
    --at;
  }
  return code;
}

std::vector<std::string_view> ignored_template_arguments(std::string_view source, std::string_view instantiation) {
  const auto called = parse_instantiation(instantiation);
  if (!called) return {};
  const std::string code = code_of(source);
  const std::vector<Declaration> all = declarations(code, called->name);
  if (all.size() != 1 || called->arguments.size() > all.front().parameters.size()) return {};
  const auto used = signature_and_body(all.front().behind);
  if (!used || used->find("#include") != std::string_view::npos) return {};
  std::vector<std::string_view> ignored;
  for (std::size_t i = 0; i < called->arguments.size(); ++i) {
    const std::string_view name = name_of(all.front().parameters[i]);
    const auto named_by = [&](std::string_view text) { return find_word(text, name, 0) != std::string_view::npos; };
    // A later parameter may have a default that is made of this one.
    const bool in_list = std::count_if(all.front().parameters.begin(), all.front().parameters.end(), named_by) > 1;
    if (!name.empty() && !in_list && !named_by(*used) && !named_by_macro(code, name))
      ignored.push_back(called->arguments[i]);
  }
  return ignored;
}

bool occurs_in_code(std::string_view source, std::string_view word) {
  return find_word(without_directives(code_of(source)), word, 0) != std::string_view::npos;
}

int unguarded_definition(std::string_view source, std::string_view macro, std::set<std::string> defined) {
  struct Conditional {
    bool is_left_out;    // what is read now
    bool leaves_others;  // whether `#else` and `#elif` are
  };
  std::vector<Conditional> conditionals;
  const std::string code = without_directives(code_of(source));
  const auto name_of_word = [](const std::vector<std::string_view>& words, std::size_t i) {
    return i < words.size() ? std::string(words[i]) : std::string();
  };
  int number = 0;
  for (std::size_t begin = 0; begin < code.size(); ++number) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    std::string_view line = std::string_view(code).substr(begin, end - begin);
    begin = end + 1;
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (!line.starts_with('#')) continue;
    const std::vector<std::string_view> words = words_of(line);
    const std::string directive = name_of_word(words, 0);
    if (directive == "if" || directive == "ifdef" || directive == "ifndef") {
      // Of other conditions nothing is known.
      std::string asked;
      for (const char c : line)
        if (!is_blank(c)) asked += c;
      const std::string name = words.size() > 1 ? std::string(words.back()) : std::string();
      const bool is_negated =
          asked == "#ifndef" + name || asked == "#if!defined(" + name + ')' || asked == "#if!defined" + name;
      const bool is_asked =
          is_negated || asked == "#ifdef" + name || asked == "#ifdefined(" + name + ')' || asked == "#ifdefined" + name;
      const bool is_known = is_asked && defined.contains(name);
      conditionals.push_back({is_known && is_negated, is_known && !is_negated});
    } else if ((directive == "else" || directive == "elif") && !conditionals.empty()) {
      conditionals.back().is_left_out = conditionals.back().leaves_others;
    } else if (directive == "endif" && !conditionals.empty()) {
      conditionals.pop_back();
    } else if ((directive == "define" || directive == "undef") && name_of_word(words, 1) == macro) {
      const auto is_left_out = [](const Conditional& one) { return one.is_left_out; };
      if (std::none_of(conditionals.begin(), conditionals.end(), is_left_out)) return number + 1;
    } else if (directive == "define" && conditionals.empty()) {
      defined.insert(name_of_word(words, 1));
    } else if (directive == "undef") {
      defined.erase(name_of_word(words, 1));
    }
  }
  return 0;
}

std::string template_argument_problem(std::string_view code, std::string_view instantiation) {
  const auto called = parse_instantiation(instantiation);
  if (!called) return {};
  std::vector<Arity> all;
  for (const Declaration& one : declarations(code, called->name)) all.push_back(arity_of(one.parameters));
  for (const Arity& one : all)
    if (called->arguments.size() >= one.least && called->arguments.size() <= one.most) return {};
  if (all.empty()) return {};
  const Arity& one = all.front();
  const auto counted = [](std::size_t n) { return std::to_string(n) + " template argument" + (n == 1 ? "" : "s"); };
  return in_quotes(called->name) + " takes " +
         (one.most == static_cast<std::size_t>(-1) ? "at least " + counted(one.least)
          : one.least == one.most                  ? counted(one.most)
                                                   : std::to_string(one.least) + " to " + counted(one.most)) +
         ", but " + in_quotes(instantiation) + " gives it " + std::to_string(called->arguments.size());
}

}  // namespace tuner
