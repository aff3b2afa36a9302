#include <tuner/core/declared_types.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include <tuner/core/characters.hpp>
#include <tuner/core/declaration_words.hpp>
#include <tuner/core/expanded_code.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>
#include <tuner/core/token.hpp>
#include <tuner/core/words.hpp>

namespace tuner {
namespace {

// More than any element has.
constexpr std::size_t kMostAlignment = 64 * 1024;
constexpr std::size_t kLongestStruct = 64 * 1024;  // characters
constexpr std::size_t kLongestHead = 4096;

constexpr std::array<std::string_view, 2> kKeys{"struct", "class"};

/// `struct __align__(16) NAME {`, read from after `struct`.
struct StructHead {
  std::size_t alignment = 1;
  std::string name;
  std::size_t brace = 0;  ///< offset of `{`
};

std::optional<StructHead> read_head(std::string_view code, std::size_t at) {
  StructHead head;
  head.brace = code.substr(0, at + kLongestHead).find_first_of("{;=", at);
  if (head.brace == npos || code[head.brace] != '{') return std::nullopt;
  const LogicalLine line = LogicalLine::from(code.substr(at, head.brace - at), {});
  TokenCursor cursor(line);
  while (!cursor.at_end()) {
    if (!cursor.at_identifier()) return std::nullopt;
    const Token word = cursor.take();
    if (word.text == "__align__" || word.text == "alignas") {
      const bool opens = cursor.accept("(");
      const auto alignment = number_of<std::size_t>(cursor.take().text);
      if (!opens || !alignment || *alignment > kMostAlignment || !std::has_single_bit(*alignment) ||
          !cursor.accept(")"))
        return std::nullopt;
      head.alignment = std::max(head.alignment, *alignment);
    } else {
      if (!head.name.empty()) return std::nullopt;  // one of them is a macro
      head.name = word.text;
    }
  }
  return head;
}

/// Whether \p member, up to its `;` or its body, is a function: it has a bracket after a name.
bool is_function(std::string_view member) {
  const std::size_t open = member.substr(0, member.find_first_of("=[")).find('(');  // not in an array's length
  if (open == npos) return has_word(member, "operator");
  const std::string_view before = before_space(member, open), name = word_before(before, before.size());
  const std::size_t inside = skip_space(member, open + 1);
  if (has_word(member, "operator")) return true;
  return !name.empty() && name != "alignas" && name != "decltype" && !name.starts_with("__") &&
         member.substr(inside, 1) != "*" && member.substr(inside, 1) != "&";
}

/// The end of the member that begins at \p at of \p inside: after its `;`, or after the body of a function.
std::size_t end_of_member(std::string_view inside, std::size_t at) {
  const std::size_t begin = at;
  while (at < inside.size() && inside[at] != ';') {
    if (inside[at] != '(' && inside[at] != '[' && inside[at] != '{') {
      ++at;
      continue;
    }
    const std::size_t end = after_brackets(inside, at);
    if (end == npos) return npos;
    const bool is_brace = inside[at] == '{';
    const bool has_body = is_brace && is_function(inside.substr(begin, at - begin));
    at = end;
    // `A() : a{1}, b{2} {}`: the body is yet to come.
    const std::string_view next = inside.substr(skip_space(inside, at), 1);
    if (has_body && next != "," && next != "{") return next == ";" ? skip_space(inside, at) + 1 : at;
  }
  return at < inside.size() ? at + 1 : npos;
}

/// `int a, b[2];` of `int a = 1, b[2]{};`
std::string without_values(std::string_view member) {
  std::string result;
  for (const std::string_view part : at_commas(member.substr(0, member.size() - 1), true))
    result.append(result.empty() ? "" : ", ").append(trimmed(part.substr(0, part.find_first_of("={"))));
  return result + ';';
}

/// The fields between the braces of a struct; nothing if there is a member that is neither a field nor without size.
/// \p names: of the struct. Another name with a bracket and without a type before it is a macro.
std::optional<std::string> fields_in(std::string_view inside, const std::array<std::string_view, 2>& names) {
  constexpr std::array<std::string_view, 4> sizeless{"static", "using", "typedef", "friend"};
  constexpr std::array<std::string_view, 3> nested{"struct", "class", "union"};
  std::string fields, enumerators;
  for (std::size_t at = 0; (at = after_access(inside, skip_space(inside, at))) < inside.size();) {
    const std::string_view word = word_at(inside, at);
    const std::size_t end = end_of_member(inside, at);
    if (end == npos) return std::nullopt;
    const std::string_view member = inside.substr(at, end - at);
    at = end;
    if (has_word(member.substr(0, member.find('{')), "virtual")) return std::nullopt;
    if (member.substr(skip_space(member, word.size()), 1) == "(" && !contains(names, word)) return std::nullopt;
    if (contains(sizeless, word) || is_function(member.substr(0, member.find('{'))) || trimmed(member) == ";") continue;
    const bool has_braces = member.find('{') != npos;
    if (word == "enum" && has_braces && before_space(member, member.size() - 1).ends_with('}')) {
      enumerators += member;
      continue;
    }
    if (has_braces && (contains(nested, word) || word == "enum")) return std::nullopt;
    fields += without_values(member) + ' ';
  }
  for (const std::string_view word : words_of(enumerators))
    if (is_identifier(word) && has_word(fields, word)) return std::nullopt;  // the length of an array
  return fields;
}

/// The definition of \p name at \p place if the \p key (`struct`) at \p at begins it: `struct NAME {...};` or
/// `typedef struct {...} NAME;`. It has no fields in any other form.
std::optional<StructText> definition_at(const ScopedCode& scoped, std::size_t at, std::string_view key,
                                        std::string_view name, std::size_t place) {
  const std::string_view code = scoped.text();
  const auto head = read_head(code, at + key.size());
  const bool is_typedef = word_before(code, before_space(code, at).size()) == "typedef";
  if (!head || (head->name != name && !head->name.empty() && !is_typedef)) return std::nullopt;
  const std::size_t end = after_brackets(code, head->brace, kLongestStruct);
  if (end == npos) return std::nullopt;
  std::size_t after = skip_space(code, end);
  const std::string_view other = word_at(code, after);
  const bool is_it = head->name == name ? at < place && place < head->brace : other == name && place == after;
  if (!is_it) return std::nullopt;
  after = skip_space(code, after + other.size());
  const bool is_plain = after < code.size() && code[after] == ';' && (other.empty() || other == name || is_typedef);
  const auto fields =
      is_plain ? fields_in(code.substr(head->brace + 1, end - head->brace - 2), {head->name, name}) : std::nullopt;
  return StructText{fields && !fields->empty() ? "{ " + *fields + '}' : std::string(),
                    head->alignment,
                    {"", scoped.namespaces_at(at), end}};
}

/// Where \p code defines types \p name, as far as it shows.
std::vector<std::size_t> all_type_definitions(std::string_view code, std::string_view name) {
  constexpr std::array<std::string_view, 5> keys{"struct", "class", "union", "enum", "namespace"};
  std::vector<std::size_t> all;
  bool is_named_twice = false;  // typedef struct NAME {…} NAME;
  for (std::size_t at = 0; (at = find_word(code, name, at)) != npos; ++at) {
    const std::string_view after = code.substr(skip_space(code, at + name.size()), 2);
    const std::string_view before = before_space(code, at);
    const bool opens = after.starts_with('{') || (after.starts_with(':') && after != "::");
    const std::string_view head = statement_before(code, at);
    const auto has = [&](std::string_view key) { return has_word(head, key); };
    const bool closes = before.ends_with('}') && (after.starts_with(';') || after.starts_with(','));
    if (opens && std::ranges::any_of(keys, has)) {
      all.push_back(at);
      is_named_twice = has_word(head, "typedef");
    } else if (closes && !std::exchange(is_named_twice, false)) {
      all.push_back(at);
    }
  }
  return all;
}

/// The meaning that one occurrence of a word in \p code gives it.
struct Said {
  std::string_view type;        ///< empty: this occurrence defines nothing
  std::size_t at = 0;           ///< of the word, or of its directive
  std::size_t end = 0;          ///< of the word, or of its directive
  bool is_conditional = false;  ///< the preprocessor decides
};

/// Of the word \p name at \p at.
Said said_at(std::string_view code, std::size_t at, std::string_view name) {
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

bool is_path(std::string_view type) {
  return !type.empty() && std::ranges::all_of(type, [](char c) { return is_word(c) || c == ':'; });
}

std::optional<Said> meaning(const ScopedCode& code, const UsedName& used) {
  const std::string_view text = code.text(), name = last_part(used.name);
  std::vector<std::size_t> places;
  std::map<std::size_t, Said> all;
  Said said;
  for (std::size_t at = find_word(text, name); at < used.at; at = find_word(text, name, said.end)) {
    said = said_at(text, at, name);
    if ((said.is_conditional || !said.type.empty()) && all.emplace(said.at, said).second) places.push_back(said.at);
  }
  std::optional<Said> only;
  for (const std::size_t at : meant(code, used, std::move(places))) {
    const Said& one = all.at(at);
    if (one.is_conditional || !code.is_always_there(at) || (only && only->type != one.type)) return std::nullopt;
    only = one;
  }
  return only;
}

/// `Body` of `struct Body`.
std::string without_class_key(std::string type) {
  for (const std::string_view key : {"struct ", "class "})
    if (type.starts_with(key)) return type.substr(key.size());
  return type;
}

std::string without_words(std::string_view text, std::initializer_list<std::string_view> words) {
  return replace_words(text, [&](std::string_view word) { return contains(words, word) ? std::string_view() : word; });
}

/// The type of \p declaration, which ends with the name of a variable: `__constant__ float a[4], b`. Empty if that is
/// no variable of the device.
std::string type_declared(std::string declaration) {
  if (!has_word(declaration, "__constant__") && !has_word(declaration, "__device__")) return {};
  if (std::ranges::count(declaration, '(') != std::ranges::count(declaration, ')'))
    return {};  // an argument of a function
  declaration = without_words(
      declaration, {"__constant__", "__device__", "static", "extern", "constexpr", "inline", "alignas", "__align__"});
  for (std::size_t open = 0; (open = declaration.find('(')) != npos;)
    declaration.erase(open, declaration.find(')', open) + 1 - open);
  const std::vector<std::string_view> parts = at_commas(declaration);
  return parts.empty() ? std::string() : plain_type(declared(parts.front()).type);
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

std::string plain_type(std::string type) {
  type = without_words(type, {"const", "volatile", "__restrict__", "__restrict", "restrict"});
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
    if (const Said said = said_at(text, at, name); !said.type.empty()) all.push_back(said.at);
  return all;
}

UsedName without_aliases(const ScopedCode& code, UsedName used) {
  constexpr int kMostAliases = 8;  // in a chain
  constexpr std::size_t kLongest = 64;
  used.name = without_class_key(std::move(used.name));
  for (int i = 0; i < kMostAliases && is_path(used.name); ++i) {
    const auto means = meaning(code, used);
    if (!means || means->type.size() > kLongest || means->type.find_first_of("*&[(<\\") != npos) break;
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
  return is_path(used.name) ? meant(code, used, all_type_definitions(code.text(), last_part(used.name)))
                            : std::vector<std::size_t>();
}

std::optional<StructText> struct_called(const ScopedCode& code, const UsedName& used) {
  const std::string_view text = code.text(), name = last_part(used.name);
  const std::vector<std::size_t> all = type_definitions(code, used);
  if (all.size() != 1) return std::nullopt;  // the preprocessor decides between several
  // A file that may have been read above, and then with other macros.
  if (!code.is_always_there(all.front()) && text.find("#include") != npos) return std::nullopt;
  for (const char* const packs : {"pack", "packed", "__packed__"})
    if (has_word(text, packs)) return std::nullopt;
  for (const std::string_view key : kKeys)
    for (std::size_t at = 0; (at = find_word(text, key, at)) != npos; ++at)
      if (auto only = definition_at(code, at, key, name, all.front()))
        return only->fields.empty() ? std::nullopt : std::move(only);
  return std::nullopt;
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
