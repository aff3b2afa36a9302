#include <tuner/core/signature.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>

#include <tuner/core/characters.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

/// The longest index, in characters. Without a limit, many brackets that nothing closes would cost quadratic time.
constexpr std::size_t kLongestIndex = 4'096;

/// The type and the name in `const float *__restrict__ x[] = 0`.
Declared declared(std::string_view part) {
  const bool may_be_left_out = part.find('=') != std::string_view::npos;
  const std::string otherwise(may_be_left_out ? trimmed(part.substr(part.find('=') + 1)) : std::string_view());
  part = trimmed(part.substr(0, part.find('=')));
  std::string brackets;
  while (part.ends_with(']') && part.rfind('[') != std::string_view::npos) {
    brackets = "*";
    part = trimmed(part.substr(0, part.rfind('[')));
  }
  std::string name(word_before(part, part.size()));
  std::string type(trimmed(part.substr(0, part.size() - name.size())));
  constexpr std::array<std::string_view, 6> kTypes = {"int", "float", "double", "char", "typename", "class"};
  if (type.empty() || std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end())
    return {std::string(part) + brackets, "", may_be_left_out, otherwise};
  return {type + brackets, name, may_be_left_out, otherwise};
}

/// The place of the `template <…>` of the `__global__` at \p end; npos if there is none. Words such as `static`,
/// directives and attributes may be between them.
std::size_t template_before(std::string_view text, std::size_t end, std::string_view& list) {
  std::size_t found = std::string_view::npos;
  for (std::size_t at = text.substr(0, end).rfind("template"); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.substr(0, at).rfind("template")) {
    const std::size_t open = skip_space(text, at + std::string_view("template").size());
    const std::size_t close = text[std::min(open, end)] == '<' ? after_angles(text, open) : open;
    if (close == std::string_view::npos || close > end || close == open) break;
    // A template may be a parameter of another.
    if (found != std::string_view::npos && close < found) break;
    if (text.substr(close, end - close).find_first_of(";{}") != std::string_view::npos) break;
    found = at;
    list = text.substr(open + 1, close - open - 2);
  }
  return found;
}

}  // namespace

std::string plain_type(std::string type) {
  const std::map<std::string, std::string, std::less<>> nothing = {
      {"const", ""}, {"volatile", ""}, {"__restrict__", ""}, {"__restrict", ""}, {"restrict", ""}};
  type = substitute_words(type, nothing);
  std::erase(type, '*');
  std::string plain;
  std::istringstream words(type);
  for (std::string word; words >> word;) plain += (plain.empty() ? "" : " ") + word;
  return plain;
}

bool Declared::is_to_const() const {
  const std::size_t star = type.find('*');
  return star != std::string::npos && type.substr(0, star).find("const") != std::string::npos;
}

namespace {

/// Whether the operator at \p at updates the value before it: `+=`, `++`.
bool is_update(std::string_view code, std::size_t at) {
  const std::string_view two = code.substr(at, 2), three = code.substr(at, 3);
  if (two == "++" || two == "--" || three == "<<=" || three == ">>=") return true;
  return two.size() == 2 && two[1] == '=' && std::string_view("+-*/%&|^").find(two[0]) != std::string_view::npos;
}

/// Whether the operator at \p at is `=`.
bool is_assignment(std::string_view code, std::size_t at) {
  return code.substr(at, 1) == "=" && code.substr(at, 2) != "==";
}

/// Whether the statement updates elements of the pointer from \p begin to \p end, or with \p assigned assigns to them.
bool is_changed(std::string_view code, std::size_t begin, std::size_t end, bool assigned) {
  constexpr std::size_t kNear = 200;  // characters of the statement before it
  const std::string_view before = trimmed(code.substr(begin - std::min(begin, kNear), std::min(begin, kNear)));
  bool through = before.ends_with('*');
  std::size_t at = skip_space(code, end);
  if (code.substr(at, 1) == "[") {
    at = std::min(after_brackets(code, at, kLongestIndex), code.size());
    through = true;
    if (code.substr(at, 1) == ".") at += 1 + word_at(code, at + 1).size();  // y[i].x
    at = skip_space(code, at);
  }
  if (through && (before.ends_with("++") || before.ends_with("--"))) return true;
  if (through && (is_update(code, at) || (assigned && is_assignment(code, at)))) return true;
  // atomicAdd(y, 1), atomicMax(&y[i], 1), atomicAdd((unsigned*)y, 1)
  const std::size_t open = before.rfind("atomic");
  return open != std::string_view::npos && before.substr(open).find_first_of(",;{}") == std::string_view::npos &&
         before.substr(open).find('(') != std::string_view::npos;
}

/// For each brace that is open at \p end, the text between the statement before it and the brace.
std::vector<std::string_view> open_scopes(std::string_view code, std::size_t end) {
  std::vector<std::string_view> open;
  code = code.substr(0, end);
  for (std::size_t begin = 0, at = 0; (at = code.find_first_of(";{}", begin)) != std::string_view::npos;
       begin = at + 1) {
    if (code[at] == '{') open.push_back(code.substr(begin, at - begin));
    if (code[at] == '}' && !open.empty()) open.pop_back();
  }
  return open;
}

constexpr std::string_view kNamespace = "namespace";

/// `a::b` of `namespace a::b`; nothing if \p scope is no namespace.
std::optional<std::string_view> namespace_name(std::string_view scope) {
  const std::size_t at = find_word(scope, kNamespace);
  if (at == std::string_view::npos || scope.find('(', at) != std::string_view::npos) return std::nullopt;
  return trimmed(scope.substr(at + kNamespace.size()));
}

}  // namespace

std::string namespaces_at(std::string_view code, std::size_t end) {
  std::string result;
  for (const std::string_view scope : open_scopes(code, end))
    if (const auto name = namespace_name(scope); name && !name->empty()) result.append(*name).append("::");
  return result;
}

bool returns_before_a_barrier(std::string_view code) {
  const std::vector<Signature> kernels = find_signatures(code);
  return std::any_of(kernels.begin(), kernels.end(), [&](const Signature& kernel) {
    const std::size_t body = code.find('{', kernel.end);
    const std::size_t end = body == std::string_view::npos ? body : after_brackets(code, body);
    if (end == std::string_view::npos) return false;
    const std::string_view inside = code.substr(body, end - body);
    const std::size_t barrier = inside.rfind("__syncthreads");
    return barrier != std::string_view::npos && find_word(inside, "return") < barrier;
  });
}

namespace {

/// Leaves out what stands between \p open and \p close, with both.
void erase_between(std::string& text, char open, char close) {
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    const std::size_t end = text.find(close, at + 1);
    text.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
}

/// The type of \p declaration, which ends with the name of a variable: `__constant__ float a[4], b`. Empty if that is
/// no variable of the device.
std::string type_declared(std::string declaration) {
  if (!has_word(declaration, "__constant__") && !has_word(declaration, "__device__")) return {};
  if (std::count(declaration.begin(), declaration.end(), '(') !=
      std::count(declaration.begin(), declaration.end(), ')'))
    return {};  // an argument of a function
  const std::map<std::string, std::string, std::less<>> nothing = {
      {"__constant__", ""}, {"__device__", ""}, {"static", ""},  {"extern", ""},
      {"constexpr", ""},    {"inline", ""},     {"alignas", ""}, {"__align__", ""}};
  declaration = substitute_words(declaration, nothing);
  erase_between(declaration, '(', ')');
  erase_between(declaration, '"', '"');
  return plain_type(declared(at_commas(declaration).front()).type);
}

}  // namespace

std::string device_variable_type(std::string_view code, std::string_view scope, std::string_view name) {
  std::string only;
  for (std::size_t at = 0; (at = find_word(code, name, at)) != std::string_view::npos; at += name.size()) {
    std::string_view declaration = code.substr(0, at + name.size());
    declaration.remove_prefix(declaration.find_last_of(";{}") + 1);  // npos + 1: the whole
    const std::size_t directive = declaration.rfind('#');
    if (directive != std::string_view::npos)
      declaration.remove_prefix(std::min(declaration.find('\n', directive), declaration.size()));
    std::string type = type_declared(std::string(declaration));
    if (type.empty() || !namespaces_at(code, at).ends_with(scope)) continue;
    if (!only.empty() && only != type) return {};
    only = std::move(type);
  }
  return only;
}

namespace {

bool changes(std::string_view code, std::string_view pointer, bool assigned) {
  const std::size_t body = code.find('{');
  const std::size_t end = body == std::string_view::npos ? body : after_brackets(code, body);
  if (end == std::string_view::npos || pointer.empty()) return false;
  const std::string_view inside = code.substr(body, end - body);
  for (std::size_t at = 0; (at = find_word(inside, pointer, at)) != std::string_view::npos; ++at)
    if (is_changed(inside, at, at + pointer.size(), assigned)) return true;
  return false;
}

}  // namespace

bool adds_to(std::string_view code, std::string_view pointer) { return changes(code, pointer, false); }

bool writes_to(std::string_view code, std::string_view pointer) { return changes(code, pointer, true); }

namespace {

constexpr std::string_view kGlobal = "__global__";

/// The function of the `__global__` at \p global, if that is the head of one with the name \p kernel or if that is
/// empty. Looks no further than the next `__global__` on either side, so that all heads together cost linear time.
std::optional<Signature> signature_at(std::string_view text, std::size_t global, std::string_view kernel) {
  const std::string_view head_text = text.substr(0, text.find(kGlobal, global + kGlobal.size()));
  // The name is the word before the first bracket. Brackets of attributes are skipped: `__launch_bounds__(…)`.
  std::size_t open = global;
  std::string_view name;
  for (;;) {
    open = head_text.find_first_of("(;{", open);
    if (open == std::string_view::npos || text[open] != '(') return std::nullopt;
    const std::string_view head = trimmed(text.substr(global, open - global));
    name = word_before(head, head.size());
    if (!name.starts_with("__") || !name.ends_with("__")) break;
    open = after_brackets(head_text, open);
    if (open == std::string_view::npos) return std::nullopt;
  }
  if (name.empty() || (!kernel.empty() && name != kernel)) return std::nullopt;
  const std::size_t end = after_brackets(head_text, open);
  if (end == std::string_view::npos) return std::nullopt;
  Signature found;
  found.begin = global;
  found.end = end;
  found.is_definition = !trimmed(text.substr(end)).starts_with(';');
  found.name = std::string(name);
  for (const std::string_view part : at_commas(text.substr(open + 1, end - open - 2)))
    if (part != "void") found.arguments.push_back(declared(part));
  std::string_view list;
  const std::size_t before = global == 0 ? std::string_view::npos : text.rfind(kGlobal, global - 1);
  const std::size_t from = before == std::string_view::npos ? 0 : before + kGlobal.size();
  if (const std::size_t begin = template_before(text.substr(from), global - from, list);
      begin != std::string_view::npos) {
    found.begin = from + begin;
    for (const std::string_view part : at_commas(list)) found.template_parameters.push_back(declared(part));
  }
  return found;
}

}  // namespace

std::vector<Signature> find_signatures(std::string_view code, std::string_view kernel, std::size_t from) {
  std::vector<Signature> found;
  for (; (from = code.find(kGlobal, from)) != std::string_view::npos; from += kGlobal.size())
    if (auto one = signature_at(code, from, kernel)) found.push_back(std::move(*one));
  std::set<std::string> defined;
  for (const Signature& one : found)
    if (one.is_definition) defined.insert(one.name);
  std::erase_if(found, [&](const Signature& one) { return !one.is_definition && defined.contains(one.name); });
  return found;
}

std::optional<Signature> find_signature(std::string_view code, std::string_view kernel, std::size_t from) {
  if (kernel.empty()) {
    for (; (from = code.find(kGlobal, from)) != std::string_view::npos; from += kGlobal.size())
      if (auto one = signature_at(code, from, {})) return one;
    return std::nullopt;
  }
  std::vector<Signature> all = find_signatures(code, kernel, from);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

namespace {

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

/// The templates that \p called may name.
std::vector<Signature> templates(std::string_view code, const Instantiation& called) {
  std::vector<Signature> all = find_signatures(code, called.name);
  std::erase_if(all, [](const Signature& one) { return one.template_parameters.empty(); });
  return all;
}

/// Whether the text of a macro of \p code has \p word.
bool named_by_macro(std::string_view code, std::string_view word) {
  const std::vector<DirectiveLine> lines = directives_of(code);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const DirectiveLine& line) { return line.name() == "define" && has_word(line.rest(), word); });
}

std::size_t count_word(std::string_view code, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = find_word(code, word, at)) != std::string_view::npos; at += word.size()) ++count;
  return count;
}

}  // namespace

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
  const std::size_t body = code.find('{', kernel.end);
  const std::size_t end = body == std::string_view::npos ? body : after_brackets(code, body);
  if (end == std::string_view::npos || called->arguments.size() > kernel.template_parameters.size()) return {};
  const std::string_view whole = code.substr(kernel.begin, end - kernel.begin);
  if (whole.find("#include") != std::string_view::npos) return {};
  std::vector<std::string_view> ignored;
  for (std::size_t i = 0; i < called->arguments.size(); ++i) {
    const Declared& parameter = kernel.template_parameters[i];
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
    const std::vector<Declared>& parameters = one->template_parameters;
    is_open = std::any_of(parameters.begin(), parameters.end(), [](const Declared& p) { return p.is_pack(); });
    most = parameters.size();
    least = static_cast<std::size_t>(std::count_if(
        parameters.begin(), parameters.end(), [](const Declared& p) { return !p.may_be_left_out && !p.is_pack(); }));
    if (given >= least && (is_open || given <= most)) return {};
  }
  const auto counted = [](std::size_t n) { return std::to_string(n) + " template argument" + (n == 1 ? "" : "s"); };
  return in_quotes(called->name) + " takes " +
         (is_open ? "at least " + counted(least)
                  : (least == most ? "" : std::to_string(least) + " to ") + counted(most)) +
         ", but " + in_quotes(instantiation) + " gives it " + std::to_string(given);
}

bool is_always_there(std::string_view code, std::size_t at) {
  int open = 0;
  for (const DirectiveLine& line : directives_of(code.substr(0, at)))
    open += line.name().starts_with("if") ? 1 : line.name() == "endif" ? -1 : 0;
  const std::vector<std::string_view> scopes = open_scopes(code, at);
  return open <= 0 && std::all_of(scopes.begin(), scopes.end(), [](std::string_view scope) {
           const std::string_view before = before_space(scope, scope.size());
           return namespace_name(scope) || word_before(before, before.size()) == "extern";
         });
}

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

bool is_alias(std::string_view code, std::string_view name) {
  for (std::size_t at = 0; (at = find_word(code, name, at)) != std::string_view::npos; ++at)
    if (!said_at(code, at, at + name.size()).type.empty()) return true;
  return false;
}

std::string without_aliases(std::string_view code, std::string type) {
  constexpr int kMostAliases = 8;  // in a chain
  constexpr std::size_t kLongest = 64;
  type = without_class_key(std::move(type));
  const bool is_path = std::all_of(type.begin(), type.end(), [](char c) { return is_word(c) || c == ':'; });
  if (const std::size_t colon = type.rfind(':'); is_path && colon != std::string::npos && !numbers_of(type))
    type.erase(0, colon + 1);  // namespaces are not told apart
  for (int i = 0; i < kMostAliases; ++i) {
    const bool is_name = !type.empty() && std::all_of(type.begin(), type.end(), is_word);
    const auto means = is_name ? meaning(code, type) : std::nullopt;
    if (!means || means->size() > kLongest || means->find_first_of("*&[(<\\") != std::string_view::npos) break;
    type = without_class_key(plain_type(std::string(*means)));
  }
  return type;
}

}  // namespace tuner
