#include <tuner/core/cpp/signature.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner {
namespace {

/// The place of the `template <…>` of the `__global__` at \p end; npos if there is none. Words such as `static`,
/// directives and attributes may be between them.
std::size_t template_before(std::string_view text, std::size_t end, std::string_view& list) {
  std::size_t found = npos;
  for (std::size_t at = text.substr(0, end).rfind("template"); at != npos;
       at = at == 0 ? npos : text.substr(0, at).rfind("template")) {
    const std::size_t open = skip_space(text, at + std::string_view("template").size());
    const std::size_t close = text[std::min(open, end)] == '<' ? after_angles(text, open) : open;
    if (close == npos || close > end || close == open) break;
    // A template may be a parameter of another.
    if (found != npos && close < found) break;
    if (text.substr(close, end - close).find_first_of(";{}") != npos) break;
    found = at;
    list = text.substr(open + 1, close - open - 2);
  }
  return found;
}

constexpr std::string_view kGlobal = "__global__";

bool is_called_like_a_macro(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// Whether other words and a bracket follow the brackets at \p open: they are a macro's, as in `BOUNDS(128, 2) void
/// f(`.
bool is_before_function(std::string_view text, std::size_t open) {
  const std::size_t end = after_brackets(text, open);
  if (end == npos) return false;
  const std::string_view next = word_at(text, skip_space(text, end));
  if (next.empty() || next == "noexcept" || next == "requires") return false;
  const std::size_t then = text.find_first_of("(;{", end);
  return then != npos && text[then] == '(';
}

/// The function of the `__global__` at \p global, if that is the head of one with the name \p kernel or if that is
/// empty. Looks no further than the next `__global__` on either side, so that all heads together cost linear time.
std::optional<Signature> signature_at(std::string_view text, std::size_t global, std::string_view kernel) {
  const std::string_view head_text = text.substr(0, text.find(kGlobal, global + kGlobal.size()));
  // The name is the word before the first bracket. Brackets of attributes and macros are skipped:
  // `__launch_bounds__(…)`.
  std::size_t open = global;
  std::string_view name;
  for (;;) {
    open = head_text.find_first_of("(;{", open);
    if (open == npos || text[open] != '(') return std::nullopt;
    const std::string_view head = trimmed(text.substr(global, open - global));
    name = word_before(head, head.size());
    const bool is_attribute = name.starts_with("__") && name.ends_with("__");
    const bool is_another = kernel.empty() ? is_called_like_a_macro(name) : name != kernel;
    if (!is_attribute && !(is_another && is_before_function(head_text, open))) break;
    open = after_brackets(head_text, open);
    if (open == npos) return std::nullopt;
  }
  if (name.empty() || (!kernel.empty() && name != kernel)) return std::nullopt;
  const std::size_t end = after_brackets(head_text, open);
  if (end == npos) return std::nullopt;
  Signature found;
  found.begin = global;
  found.end = end;
  found.is_definition = !trimmed(text.substr(end)).starts_with(';');
  found.name = std::string(name);
  for (const std::string_view part : at_commas(text.substr(open + 1, end - open - 2)))
    if (part != "void") found.arguments.push_back(named_type(part));
  std::string_view list;
  const std::size_t before = global == 0 ? npos : text.rfind(kGlobal, global - 1);
  const std::size_t from = before == npos ? 0 : before + kGlobal.size();
  if (const std::size_t begin = template_before(text.substr(from), global - from, list); begin != npos) {
    found.begin = from + begin;
    for (const std::string_view part : at_commas(list)) found.template_parameters.push_back(named_type(part));
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
  const std::size_t end = open == npos ? open : after_angles(text, open);
  if (end == npos) return std::nullopt;
  const std::string_view head = trimmed(text.substr(0, open)), name = word_before(head, head.size());
  if (name.empty()) return std::nullopt;
  return Instantiation{name, at_commas(text.substr(open + 1, end - open - 2))};
}

/// The templates that \p called may name.
std::vector<Signature> templates(std::string_view code, const Instantiation& called) {
  std::vector<Signature> all = find_signatures(code, called.name);
  std::erase_if(all, [](const Signature& one) { return one.template_parameters.empty(); });
  return all;
}

/// Whether the text of a macro of \p code has \p word.
bool named_by_macro(std::string_view code, std::string_view word) {
  const std::vector<DirectiveLine> lines = directives_of(code);
  return std::ranges::any_of(
      lines, [&](const DirectiveLine& line) { return line.name() == "define" && has_word(line.rest(), word); });
}

}  // namespace

NamedType named_type(std::string_view part) {
  const bool has_default = part.find('=') != npos;
  const std::string default_value(has_default ? trimmed(part.substr(part.find('=') + 1)) : std::string_view());
  part = trimmed(part.substr(0, part.find('=')));
  std::string brackets;
  while (part.ends_with(']') && part.rfind('[') != npos) {
    brackets = "*";
    part = trimmed(part.substr(0, part.rfind('[')));
  }
  if (!brackets.empty() && part.ends_with(')')) {  // `float (&x)[3]`
    part.remove_suffix(1);
    const std::size_t open = part.rfind('(');
    const std::string_view name = word_before(part, part.size());
    if (open != npos && !name.empty()) return {std::string(trimmed(part.substr(0, open))) + '*', std::string(name)};
  }
  std::string name(word_before(part, part.size()));
  std::string type(trimmed(part.substr(0, part.size() - name.size())));
  constexpr std::array<std::string_view, 6> kFirstWords = {"int", "float", "double", "char", "typename", "class"};
  if (type.empty() || std::ranges::find(kFirstWords, name) != kFirstWords.end())
    return {std::string(part) + brackets, "", has_default, default_value};
  return {type + brackets, name, has_default, default_value};
}

bool NamedType::is_to_const() const {
  const std::size_t star = type.find('*');
  return star != std::string::npos && type.substr(0, star).find("const") != std::string::npos;
}

bool returns_before_a_barrier(std::string_view code) {
  const std::vector<Signature> kernels = find_signatures(code);
  return std::ranges::any_of(kernels, [&](const Signature& kernel) {
    const std::string_view body = in_braces(code, kernel.end);
    const std::size_t barrier = body.rfind("__syncthreads");
    return barrier != npos && find_word(body, "return") < barrier;
  });
}

std::vector<Signature> find_signatures(std::string_view code, std::string_view kernel) {
  std::vector<Signature> found;
  for (std::size_t at = 0; (at = code.find(kGlobal, at)) != npos; at += kGlobal.size())
    if (auto one = signature_at(code, at, kernel)) found.push_back(std::move(*one));
  std::set<std::string> defined;
  for (const Signature& one : found)
    if (one.is_definition) defined.insert(one.name);
  std::erase_if(found, [&](const Signature& one) { return !one.is_definition && defined.contains(one.name); });
  return found;
}

std::vector<Signature> find_signatures(const ScopedCode& code, std::string_view kernel) {
  std::vector<Signature> all = find_signatures(code.text(), kernel);
  for (Signature& one : all) one.namespaces = code.namespaces_at(one.begin);
  return all;
}

std::optional<Signature> find_signature(std::string_view code, std::string_view kernel) {
  if (!kernel.empty()) {
    std::vector<Signature> all = find_signatures(code, kernel);
    return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
  }
  for (std::size_t at = 0; (at = code.find(kGlobal, at)) != npos; at += kGlobal.size())
    if (auto one = signature_at(code, at, {})) return one;
  return std::nullopt;
}

std::vector<std::string_view> template_arguments(std::string_view instantiation) {
  const auto called = parse_instantiation(instantiation);
  return called ? called->arguments : std::vector<std::string_view>();
}

std::vector<std::string_view> ignored_template_arguments(std::string_view code, std::string_view instantiation) {
  const auto called = parse_instantiation(instantiation);
  if (!called) return {};
  const std::vector<Signature> all = templates(code, *called);
  if (all.size() != 1 || !all.front().is_definition) return {};
  const Signature& kernel = all.front();
  const std::string_view body = in_braces(code, kernel.end);
  if (body.empty() || called->arguments.size() > kernel.template_parameters.size()) return {};
  const std::string_view whole(code.data() + kernel.begin, body.data() + body.size() - code.data() - kernel.begin);
  if (whole.find("#include") != npos) return {};
  std::vector<std::string_view> ignored;
  for (std::size_t i = 0; i < called->arguments.size(); ++i) {
    const NamedType& parameter = kernel.template_parameters[i];
    if (!parameter.name.empty() && !parameter.is_pack() && count_word(whole, parameter.name) == 1 &&
        !named_by_macro(code, parameter.name))
      ignored.push_back(called->arguments[i]);
  }
  return ignored;
}

std::string template_argument_problem(std::string_view code, std::string_view instantiation) {
  const auto called = parse_instantiation(instantiation);
  if (!called) return {};
  const std::vector<Signature> all = templates(code, *called);
  if (all.empty()) return {};
  const std::size_t given = called->arguments.size();
  std::size_t least = 0, most = 0;
  bool is_open = false;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {  // a message is about the first
    const std::vector<NamedType>& parameters = one->template_parameters;
    is_open = std::ranges::any_of(parameters, &NamedType::is_pack);
    most = parameters.size();
    least = static_cast<std::size_t>(
        std::ranges::count_if(parameters, [](const NamedType& p) { return !p.has_default && !p.is_pack(); }));
    if (given >= least && (is_open || given <= most)) return {};
  }
  const auto counted = [](std::size_t n) { return std::to_string(n) + " template argument" + (n == 1 ? "" : "s"); };
  return in_quotes(called->name) + " takes " +
         (is_open ? "at least " + counted(least)
                  : (least == most ? "" : std::to_string(least) + " to ") + counted(most)) +
         ", but " + in_quotes(instantiation) + " gives it " + std::to_string(given);
}

}  // namespace tuner
