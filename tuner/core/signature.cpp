#include <tuner/core/signature.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include <tuner/core/characters.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

/// The longest index, in characters. Without a limit, many brackets that nothing closes would cost quadratic time.
constexpr std::size_t kLongestIndex = 4'096;

/// The type and the name in `const float *__restrict__ x[] = 0`.
Declared declared(std::string_view part) {
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
    return {std::string(part) + brackets, ""};
  return {type + brackets, name};
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

}  // namespace

std::string namespaces_at(std::string_view code, std::size_t end) {
  std::vector<std::string> open;  // for each open brace its namespace, or nothing
  std::string opens;
  for (std::size_t at = 0; at < std::min(end, code.size()); ++at) {
    const std::string_view word = word_at(code, at);
    if (word == "namespace") {
      const std::size_t begin = at + word.size(), stop = code.find_first_of("{;=", at);
      if (stop == std::string_view::npos) break;
      opens = code[stop] == '{' ? trimmed(code.substr(begin, stop - begin)) : "";
      at = stop - 1;
    } else if (!word.empty()) {
      at += word.size() - 1;
    } else if (code[at] == '{') {
      open.push_back(opens.empty() ? "" : opens + "::");
      opens.clear();
    } else if (code[at] == '}' && !open.empty()) {
      open.pop_back();
    }
  }
  std::string result;
  for (const std::string& one : open) result += one;
  return result;
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

std::optional<Signature> find_signature(std::string_view source, std::string_view kernel, std::size_t from) {
  const std::string plain = code_of(source);
  const std::string_view text = plain;
  constexpr std::string_view kGlobal = "__global__";
  std::optional<Signature> prototype;
  for (std::size_t global = text.find(kGlobal, from); global != std::string_view::npos;
       global = text.find(kGlobal, global + 1)) {
    // The name is the word before the first bracket. Brackets of attributes are skipped: `__launch_bounds__(…)`.
    std::size_t open = global;
    std::string_view name;
    for (;;) {
      open = text.find_first_of("(;{", open);
      if (open == std::string_view::npos || text[open] != '(') break;
      const std::string_view head = trimmed(text.substr(global, open - global));
      name = word_before(head, head.size());
      if (!name.starts_with("__") || !name.ends_with("__")) break;
      open = after_brackets(text, open);
    }
    if (open == std::string_view::npos || text[open] != '(' || name.empty()) continue;
    if (!kernel.empty() && name != kernel) continue;
    const std::size_t end = after_brackets(text, open);
    if (end == std::string_view::npos) return prototype;
    Signature found;
    found.begin = global;
    found.end = end;
    found.is_definition = !trimmed(text.substr(end)).starts_with(';');
    found.name = std::string(name);
    for (const std::string_view part : at_commas(text.substr(open + 1, end - open - 2)))
      if (part != "void") found.arguments.push_back(declared(part));
    std::string_view list;
    if (const std::size_t begin = template_before(text, global, list); begin != std::string_view::npos) {
      found.begin = begin;
      for (const std::string_view part : at_commas(list)) found.template_parameters.push_back(declared(part));
    }
    if (found.is_definition || kernel.empty()) return found;
    if (!prototype) prototype = std::move(found);
  }
  return prototype;
}

}  // namespace tuner
