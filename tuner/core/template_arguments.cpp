#include <tuner/core/template_arguments.hpp>

#include <algorithm>
#include <optional>

#include <tuner/core/characters.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

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

struct Declaration {
  std::vector<std::string_view> parameters;
  std::string_view rest;  // the text after the list of parameters
};

/// Each template kernel called \p name: `template <…> … __global__ … name(`.
std::vector<Declaration> declarations(std::string_view code, std::string_view name) {
  std::vector<Declaration> found;
  for (std::size_t at = 0; (at = find_word(code, "template", at)) != std::string_view::npos; ++at) {
    const std::size_t open = skip_space(code, at + std::string_view("template").size());
    const std::size_t end = code.substr(open, 1) == "<" ? after_angles(code, open) : std::string_view::npos;
    if (end == std::string_view::npos) continue;
    const std::string_view rest = code.substr(end, code.find_first_of(";{}", end) - end);
    const std::size_t called = find_word(rest, name);
    if (called == std::string_view::npos || find_word(rest, "__global__") > called) continue;
    if (rest.substr(skip_space(rest, called + name.size()), 1) == "(")
      found.push_back({at_commas(code.substr(open + 1, end - open - 2)), code.substr(end)});
  }
  return found;
}

struct Instantiation {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

/// The parts of `space::f<T, block>`: f, T and block.
std::optional<Instantiation> parse_instantiation(std::string_view text) {
  const std::size_t open = text.find('<');
  const std::size_t end = open == std::string_view::npos ? open : after_angles(text, open);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view head = trimmed(text.substr(0, open)), name = word_before(head, head.size());
  if (name.empty()) return std::nullopt;
  return Instantiation{name, at_commas(text.substr(open + 1, end - open - 2))};
}

/// \p text up to the end of its first block; nothing if it begins with a declaration without a body.
std::optional<std::string_view> signature_and_body(std::string_view text) {
  const std::size_t open = text.find_first_of(";{");
  if (open == std::string_view::npos || text[open] == ';') return std::nullopt;
  const std::size_t end = after_brackets(text, open);
  return end == std::string_view::npos ? std::nullopt : std::optional(text.substr(0, end));
}

/// The name in `unsigned block = 32`; empty for a pack.
std::string_view name_of(std::string_view parameter) {
  if (parameter.find("...") != std::string_view::npos) return {};
  parameter = parameter.substr(0, parameter.find('='));
  while (!parameter.empty() && !is_word(parameter.back())) parameter.remove_suffix(1);
  return word_before(parameter, parameter.size());
}

/// Whether the text of a macro of \p code has \p word.
bool named_by_macro(std::string_view code, std::string_view word) {
  const std::vector<DirectiveLine> lines = directives_of(code);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const DirectiveLine& line) { return line.name() == "define" && has_word(line.rest(), word); });
}

}  // namespace

std::vector<std::string_view> ignored_template_arguments(std::string_view source, std::string_view instantiation) {
  const auto called = parse_instantiation(instantiation);
  if (!called) return {};
  const std::string code = code_of(source);
  const std::vector<Declaration> all = declarations(code, called->name);
  if (all.size() != 1 || called->arguments.size() > all.front().parameters.size()) return {};
  const auto used = signature_and_body(all.front().rest);
  if (!used || used->find("#include") != std::string_view::npos) return {};
  std::vector<std::string_view> ignored;
  for (std::size_t i = 0; i < called->arguments.size(); ++i) {
    const std::string_view name = name_of(all.front().parameters[i]);
    const auto named_by = [&](std::string_view text) { return has_word(text, name); };
    // The default of a later parameter may name this one.
    const bool in_list = std::count_if(all.front().parameters.begin(), all.front().parameters.end(), named_by) > 1;
    if (!name.empty() && !in_list && !named_by(*used) && !named_by_macro(code, name))
      ignored.push_back(called->arguments[i]);
  }
  return ignored;
}

int unguarded_definition(std::string_view source, std::string_view macro, std::set<std::string> defined) {
  struct Conditional {
    bool is_left_out;    // the current branch
    bool leaves_others;  // the branches of `#else` and `#elif`
  };
  std::vector<Conditional> conditionals;
  const std::string code = code_of(source);
  for (const DirectiveLine& line : directives_of(code)) {
    const std::string_view directive = line.name();
    const std::string name(word_at(line.rest(), 0));
    if (directive == "if" || directive == "ifdef" || directive == "ifndef") {
      // Other conditions are unknown.
      std::string asked;
      for (const char c : line.text)
        if (!is_blank(c)) asked += c;
      const std::vector<std::string_view> words = words_of(line.rest());
      const std::string of = words.empty() ? std::string() : std::string(words.back());
      const bool is_negated = asked == "ifndef" + of || asked == "if!defined(" + of + ')' || asked == "if!defined" + of;
      const bool is_asked =
          is_negated || asked == "ifdef" + of || asked == "ifdefined(" + of + ')' || asked == "ifdefined" + of;
      const bool is_known = is_asked && defined.contains(of);
      conditionals.push_back({is_known && is_negated, is_known && !is_negated});
    } else if ((directive == "else" || directive == "elif") && !conditionals.empty()) {
      conditionals.back().is_left_out = conditionals.back().leaves_others;
    } else if (directive == "endif" && !conditionals.empty()) {
      conditionals.pop_back();
    } else if ((directive == "define" || directive == "undef") && name == macro) {
      const auto is_left_out = [](const Conditional& one) { return one.is_left_out; };
      if (std::none_of(conditionals.begin(), conditionals.end(), is_left_out))
        return static_cast<int>(
                   std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(line.begin), '\n')) +
               1;
    } else if (directive == "define" && conditionals.empty()) {
      defined.insert(name);
    } else if (directive == "undef") {
      defined.erase(name);
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
