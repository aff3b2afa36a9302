#include <tuner/core/cpp/scoped_code.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>

namespace tuner {
namespace {

// Far more than any program has. Without them, hostile text would cost quadratic time or memory.
constexpr std::size_t kLongestPath = 256;
constexpr int kMostUsings = 256;

/// `a::b` of `namespace a::b`, the text before a brace; empty if it has no name or is inline. Nothing if \p head is not
/// one of a namespace. \p around: the namespaces around it.
std::optional<std::string_view> namespace_name(std::string_view head, std::string_view around) {
  constexpr std::string_view word = "namespace";
  const std::size_t at = find_word(head, word);
  if (at == npos || head.find('(', at) != npos || around.size() > kLongestPath) return std::nullopt;
  return has_word(head.substr(0, at), "inline") ? std::string_view() : trimmed(head.substr(at + word.size()));
}

/// `a::` of `a::b::`.
std::string around(std::string_view namespaces) {
  const std::size_t end = namespaces.size() < 2 ? npos : namespaces.rfind("::", namespaces.size() - 3);
  return std::string(namespaces.substr(0, end == npos ? 0 : end + 2));
}

/// The \p definitions in the namespace \p path, which is looked up in \p from and in the namespaces around it.
std::vector<std::size_t> inside(const ScopedCode& code, const std::vector<std::size_t>& definitions, std::string from,
                                std::string_view path) {
  if (path.starts_with("::")) return inside(code, definitions, "", path.substr(2));
  for (;; from = around(from)) {
    std::vector<std::size_t> found;
    const std::string whole = from + std::string(path);
    for (const std::size_t at : definitions)
      if (code.is_macro(at) || code.namespaces_at(at) == whole) found.push_back(at);
    if (!found.empty() || from.empty()) return found;
  }
}

/// \p path, whose first name may be an alias: `namespace short_name = a::b;`.
std::string without_alias(std::string_view text, const std::string& path) {
  constexpr std::string_view word = "namespace";
  const std::string first = path.substr(0, path.find("::"));
  for (std::size_t at = find_word(text, word); at < text.size(); at = find_word(text, word, at + 1)) {
    const std::string_view alias = text.substr(at + word.size(), text.find_first_of(";{", at) - at - word.size());
    const std::size_t sign = alias.find('=');
    if (sign != std::string_view::npos && trimmed(alias.substr(0, sign)) == first)
      return std::string(trimmed(alias.substr(sign + 1))) + path.substr(first.size());
  }
  return path;
}

}  // namespace

ScopedCode::ScopedCode(std::string code) : text_(std::move(code)) {
  struct Brace {
    std::size_t namespaces;  // around it
    bool is_scope;           // of a namespace or of `extern "C"`
    std::size_t around;      // the brace around it
  };
  struct State {
    std::size_t open = npos;                 // the innermost brace
    std::size_t namespaces = 0, others = 0;  // others: other braces
  };
  const std::string_view text = text_;
  std::vector<Brace> braces;
  State now;
  std::vector<State> conditions;  // the state before each open `#if`, from which all its branches start
  std::size_t begin = 0;          // of the statement
  for (std::size_t at = 0; (at = find_any<'#', '%', ';', '{', '}'>(text, at)) != npos; ++at) {
    const auto line = directive_at(text, at);
    if (line) {
      const std::string_view word = line->name();
      if (word.starts_with("if")) conditions.push_back(now);
      if (word.starts_with("el") && !conditions.empty()) now = conditions.back();
      if (word == "endif" && !conditions.empty()) conditions.pop_back();
      at = line->end;
    } else if (text[at] == '{') {
      const std::string_view head = trimmed(text.substr(begin, at - begin));
      const auto name = namespace_name(head, names_[now.namespaces]);
      const bool is_scope = name || word_before(head, head.size()) == "extern";
      braces.push_back({now.namespaces, is_scope, now.open});
      now.open = braces.size() - 1;
      if (!is_scope) ++now.others;
      if (name && !name->empty()) {
        names_.push_back(names_[now.namespaces] + std::string(*name) + "::");
        now.namespaces = names_.size() - 1;
      }
    } else if (text[at] == '}' && now.open != npos) {
      const Brace& closed = braces[now.open];
      now.namespaces = closed.namespaces;
      if (!closed.is_scope) --now.others;
      now.open = closed.around;
    } else if (text[at] == '#' || text[at] == '%') {
      continue;
    }
    begin = at + 1;
    if (line || text[at] != ';') scopes_.push_back({begin, now.namespaces, !conditions.empty(), now.others > 0});
  }
}

const ScopedCode::Scope& ScopedCode::scope_at(std::size_t at) const {
  return std::ranges::upper_bound(scopes_, at, {}, &Scope::begin)[-1];
}

std::string_view last_part(std::string_view path) {
  const std::size_t colon = path.rfind(':');  // npos + 1: all
  return path.substr(colon + 1);
}

std::vector<std::size_t> resolve(const ScopedCode& code, const UsedName& used, std::vector<std::size_t> definitions) {
  std::erase_if(definitions, [&](std::size_t at) { return at >= used.at; });
  const std::string_view name = last_part(used.name);
  const std::string path = used.name.substr(0, used.name.size() - name.size());
  std::vector<std::size_t> found = inside(code, definitions, used.namespaces, path);
  if (found.empty() && !path.empty())
    found = inside(code, definitions, used.namespaces, without_alias(code.text(), path));
  if (!found.empty() || definitions.empty()) return found;
  const std::string_view text = code.text();
  constexpr std::string_view word = "using", of_all = "namespace";
  int usings = 0;
  for (std::size_t at = find_word(text, word); at < used.at; at = find_word(text, word, at + 1)) {
    if (++usings > kMostUsings) return {};
    std::string_view named = trimmed(text.substr(at + word.size(), text.find(';', at) - at - word.size()));
    std::string in;
    if (word_at(named, 0) == of_all)
      in = std::string(trimmed(named.substr(of_all.size()))) + "::" + path;
    else if (path.empty() && last_part(named) == name)
      in = named.substr(0, named.size() - name.size());
    if (in.empty()) continue;
    for (const std::size_t one : inside(code, definitions, code.namespaces_at(at), in))
      if (std::ranges::find(found, one) == found.end()) found.push_back(one);
  }
  return found;
}

}  // namespace tuner
