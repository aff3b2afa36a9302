#include <tuner/core/cpp/declared_types.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/cpp/words.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

/// Whether a name after \p head, the statement up to it, is that of a type or namespace: `class __align__(16)`, but not
/// `struct A : public`.
bool ends_with_type_key(std::string_view head) {
  constexpr std::array<std::string_view, 5> keys{"struct", "class", "union", "enum", "namespace"};
  std::size_t last = npos;
  for (const std::string_view key : keys)
    for (std::size_t at = 0; (at = find_word(head, key, at)) != npos; at += key.size())
      last = last == npos ? at : std::max(last, at);
  return last != npos && base_clause(head.substr(last)) == npos && head.find('=', last) == npos;
}

/// Where \p code defines types \p name, as far as it shows.
std::vector<std::size_t> all_type_definitions(std::string_view code, std::string_view name) {
  std::vector<std::size_t> all;
  bool is_named_twice = false;  // typedef struct NAME {…} NAME;
  for (std::size_t at = 0; (at = find_word(code, name, at)) != npos; ++at) {
    const std::string_view after = code.substr(skip_space(code, at + name.size()), 2);
    const std::string_view before = before_space(code, at);
    const std::string_view head = statement_before(code, at);
    const bool opens = (after.starts_with('{') || (after.starts_with(':') && after != "::") ||
                        word_at(code, skip_space(code, at + name.size())) == "final") &&
                       ends_with_type_key(head);
    const bool closes = before.ends_with('}') && (after.starts_with(';') || after.starts_with(','));
    if (opens) {
      all.push_back(at);
      is_named_twice = has_word(head, "typedef");
    } else if (closes && !std::exchange(is_named_twice, false)) {
      all.push_back(at);
    }
  }
  return all;
}

/// The meaning that one occurrence of a word in \p code gives it.
struct Meaning {
  std::string_view type;        ///< empty: this place defines nothing
  std::size_t at = 0;           ///< of the word, or of its directive
  std::size_t end = 0;          ///< of the word, or of its directive
  bool is_conditional = false;  ///< the preprocessor decides
};

/// Of the word \p name at \p at.
Meaning meaning_at(std::string_view code, std::size_t at, std::string_view name) {
  constexpr std::size_t longest = 256;
  if (const auto line = directive_around(code, at)) {
    const std::string_view directive = line->name();
    const bool asks = directive.starts_with("if") || directive.starts_with("elif") || directive == "undef";
    if (defined_name(*line) != name) return {{}, line->begin, line->end, asks};
    const std::string_view text = code.substr(at + name.size(), line->end - at - name.size());
    return {trimmed(text), line->begin, line->end};
  }
  const std::string_view after = code.substr(at + name.size(), longest);
  const std::string_view next = trimmed(after.substr(0, after.find(';'))), left = before_space(code, at);
  if (next.starts_with('=') && word_before(left, left.size()) == "using")
    return {trimmed(next.substr(1)), at, at + name.size()};
  const std::string_view statement = trimmed(statement_before(code, at));
  constexpr std::string_view word = "typedef";
  if (!next.empty() || word_at(statement, 0) != word) return {{}, at, at + name.size()};
  return {trimmed(statement.substr(word.size())), at, at + name.size()};
}

std::optional<Meaning> only_meaning(const ScopedCode& code, const UsedName& used) {
  const std::string_view text = code.text(), name = last_part(used.name);
  std::vector<std::size_t> places;
  std::map<std::size_t, Meaning> all;
  Meaning next;
  for (std::size_t at = find_word(text, name); at < used.at; at = find_word(text, name, next.end)) {
    next = meaning_at(text, at, name);
    if ((next.is_conditional || !next.type.empty()) && all.emplace(next.at, next).second) places.push_back(next.at);
  }
  std::optional<Meaning> only;
  for (const std::size_t at : resolve(code, used, std::move(places))) {
    const Meaning& one = all.at(at);
    if (one.is_conditional || !code.is_always_there(at) || (only && only->type != one.type)) return std::nullopt;
    only = one;
  }
  return only;
}

/// `Body` of `struct Body`.
std::string without_class_key(std::string type) {
  for (const std::string_view key : {"struct ", "class ", "enum "})
    if (type.starts_with(key)) return type.substr(key.size());
  return type;
}

/// The type of \p declaration, which ends with the name of a variable: `__constant__ float a[4], b`. Empty if that is
/// not a variable of the device.
std::string type_declared(std::string declaration) {
  if (!has_word(declaration, "__constant__") && !has_word(declaration, "__device__")) return {};
  if (std::ranges::count(declaration, '(') != std::ranges::count(declaration, ')'))
    return {};  // an argument of a function
  declaration = without_words(
      declaration, {"__constant__", "__device__", "static", "extern", "constexpr", "inline", "alignas", "__align__"});
  for (std::size_t open = 0; (open = declaration.find('(')) != npos;)
    declaration.erase(open, declaration.find(')', open) + 1 - open);
  const std::vector<std::string_view> parts = at_commas(declaration);
  return parts.empty() ? std::string() : plain_type(named_type(parts.front()).type);
}

/// Whether an enum with \p enumerators is an int: as far as they show, all their values fit one.
bool are_ints(std::string_view enumerators) {
  std::int64_t next = 0;
  for (const std::string_view one : at_commas(enumerators, true)) {
    if (const std::size_t sign = one.find('='); sign != npos) {
      const bool has_suffix = one.find_first_of("uUlL", sign) != npos;  // of another type
      const auto value = value_of_literals(one.substr(sign + 1));
      if (!value || has_suffix) return false;
      next = *value;
    }
    if (next < std::numeric_limits<int>::min() || next > std::numeric_limits<int>::max()) return false;
    ++next;
  }
  return true;
}

/// The number that an enum has, which \p code defines at \p at. Nothing if its values decide about its size, and not
/// all of them are literals that fit an int.
std::optional<VectorType> number_of_enum(std::string_view code, std::size_t at, std::string_view name) {
  std::size_t next = skip_space(code, at + name.size());
  if (const std::string_view before = before_space(code, at); before.ends_with('}'))
    at = next = before.rfind('{');  // typedef enum { … } NAME;
  const std::string_view head = at == npos ? std::string_view() : statement_before(code, at);
  if (!has_word(head, "enum")) return std::nullopt;
  if (code.substr(next, 1) != ":") {
    const std::string_view braces = in_braces(code, next);
    const bool is_scoped = has_word(head, "class") || has_word(head, "struct");
    const bool is_int = is_scoped || (!braces.empty() && are_ints(braces.substr(1, braces.size() - 2)));
    return is_int ? std::optional(VectorType{ElementType::int32, 1}) : std::nullopt;
  }
  return numbers_of(plain_type(std::string(code.substr(next + 1, code.find('{', next) - next - 1))));
}

}  // namespace

std::string without_words(std::string_view text, std::initializer_list<std::string_view> words) {
  return replace_words(text, [&](std::string_view word) { return contains(words, word) ? std::string_view() : word; });
}

bool is_path(std::string_view type) {
  return !type.empty() && std::ranges::all_of(type, [](char c) { return is_word(c) || c == ':'; });
}

std::size_t base_clause(std::string_view head) {
  for (std::size_t at = 0; (at = head.find(':', at)) != npos; at += 2)
    if (head.substr(at, 2) != "::") return at + 1;
  return npos;
}

std::string plain_type(std::string type) {
  type = without_words(type, {"const", "volatile", "__grid_constant__", "__restrict__", "__restrict", "restrict"});
  std::erase(type, '*');
  std::string plain;
  std::istringstream words(type);
  for (std::string word; words >> word;) plain += (plain.empty() ? "" : " ") + word;
  return plain;
}

bool is_built_in(std::string_view type) {
  const std::vector<std::string_view> words = words_of(type);
  return std::ranges::all_of(words, is_word_of_cpp);
}

std::vector<std::size_t> all_definitions(const ScopedCode& code, std::string_view name) {
  const std::string_view text = code.text();
  std::vector<std::size_t> all = all_type_definitions(text, name);
  for (std::size_t at = 0; (at = find_word(text, name, at)) != npos; ++at)
    if (const Meaning one = meaning_at(text, at, name); !one.type.empty()) all.push_back(one.at);
  return all;
}

UsedName without_aliases(const ScopedCode& code, UsedName used) {
  constexpr int kMostAliases = 8;  // in a chain
  constexpr std::size_t kLongest = 64;
  used.name = without_class_key(std::move(used.name));
  for (int i = 0; i < kMostAliases && is_path(used.name); ++i) {
    const auto means = only_meaning(code, used);
    if (!means || means->type.size() > kLongest || means->type.find_first_of("*&[(<\\") != npos) break;
    const auto hides_it = [&](std::size_t at) {
      return code.namespaces_at(at).size() > code.namespaces_at(means->at).size();
    };
    if (std::ranges::any_of(type_definitions(code, used), hides_it)) break;
    const std::string plain = plain_type(std::string(means->type));
    used.name = without_class_key(plain);
    if (code.is_macro(means->at)) continue;
    used.namespaces = code.namespaces_at(means->at);
    if (used.name == plain) used.at = means->at;  // `struct Body` may be defined later
  }
  return used;
}

std::optional<VectorType> numbers_of(const ScopedCode& code, const UsedName& used) {
  const auto numbers = numbers_of(used.name);
  if (is_built_in(used.name)) return numbers;
  const std::vector<std::size_t> own = type_definitions(code, used);
  if (!numbers) return own.size() == 1 ? number_of_enum(code.text(), own.front(), last_part(used.name)) : std::nullopt;
  const auto is_inside = [&](std::size_t at) { return !code.namespaces_at(at).empty(); };
  return std::ranges::any_of(own, is_inside) ? std::nullopt : numbers;
}

std::vector<std::size_t> type_definitions(const ScopedCode& code, const UsedName& used) {
  return is_path(used.name) ? resolve(code, used, all_type_definitions(code.text(), last_part(used.name)))
                            : std::vector<std::size_t>();
}

std::optional<UsedName> device_variable_type(const ScopedCode& scoped, std::string_view scope, std::string_view name) {
  const std::string_view code = scoped.text();
  std::optional<UsedName> only;
  for (std::size_t at = 0; (at = find_word(code, name, at)) != npos; at += name.size()) {
    const std::string declaration(statement_before(code, at));
    UsedName type{type_declared(declaration + std::string(name)), scoped.namespaces_at(at), at};
    if (type.name.empty() || !type.namespaces.ends_with(scope)) continue;
    if (only && (only->name != type.name || only->namespaces != type.namespaces)) return std::nullopt;
    only = std::move(type);
  }
  return only;
}

}  // namespace tuner
