#include <tuner/core/cpp/struct_text.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include <tuner/core/cpp/declaration_words.hpp>
#include <tuner/core/cpp/declared_types.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/token.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

// More than any element has.
constexpr std::size_t kMostAlignment = 64 * 1024;
constexpr std::size_t kLongestStruct = 64 * 1024;  // characters
constexpr std::size_t kLongestHead = 4096;

constexpr std::array<std::string_view, 2> kKeys{"struct", "class"};

/// `struct __align__(16) NAME : BASE {`, read from after `struct`.
struct StructHead {
  std::size_t alignment = 1;
  std::string name;
  std::vector<std::string> bases = {};
  std::size_t brace = 0;  ///< offset of `{`
};

/// The classes of \p text, `public A, b::B`. Nothing if one is virtual, or made by a template.
std::optional<std::vector<std::string>> bases_in(std::string_view text) {
  std::vector<std::string> bases;
  for (const std::string_view part : at_commas(text, true)) {
    bases.emplace_back(trimmed(without_words(part, {"public", "protected", "private"})));
    if (!is_path(bases.back())) return std::nullopt;
  }
  return bases;
}

/// The place after the attributes at \p at of \p code, `[[nodiscard]]`. Nothing for one that may change a layout.
std::optional<std::size_t> after_attributes(std::string_view code, std::size_t at) {
  constexpr std::array<std::string_view, 4> harmless{"maybe_unused", "nodiscard", "deprecated", "noreturn"};
  for (at = skip_space(code, at); code.substr(at, 2) == "[["; at = skip_space(code, at)) {
    const std::size_t end = after_brackets(code, at, kLongestHead);
    if (end == npos || !contains(harmless, trimmed(code.substr(at + 2, end - at - 4)))) return std::nullopt;
    at = end;
  }
  return at;
}

std::optional<StructHead> read_head(std::string_view code, std::size_t at) {
  StructHead head;
  const auto begin = after_attributes(code, at);
  if (!begin) return std::nullopt;
  at = *begin;
  head.brace = code.substr(0, at + kLongestHead).find_first_of("{;=", at);
  if (head.brace == npos || code[head.brace] != '{') return std::nullopt;
  std::string_view text = code.substr(at, head.brace - at);
  if (const std::size_t clause = base_clause(text); clause != npos) {
    auto bases = bases_in(text.substr(clause));
    if (!bases) return std::nullopt;
    head.bases = std::move(*bases);
    text = text.substr(0, clause - 1);
  }
  const LogicalLine line = LogicalLine::from(text, {});
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
    } else if (head.name.empty() || word.text != "final") {
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

constexpr std::array<std::string_view, 7> kWordsOfTypeHeads{"struct", "class",   "union",    "enum",
                                                            "final",  "alignas", "__align__"};

/// The members of a struct.
struct Members {
  std::string fields;  ///< `float x; int id[N];`
  std::string names;   ///< definitions of types, aliases and constants, as they could stand in a namespace
};

/// The enumerators of \p braces as constants: `const int a = (0); const int b = (a + 1);`
std::string enumerator_constants(std::string_view braces) {
  std::string text, next = "0";
  for (const std::string_view part : at_commas(braces.substr(1, braces.size() - 2), true)) {
    const std::string name(word_at(part, 0));
    if (const std::size_t sign = part.find('='); sign != npos) next = part.substr(sign + 1);
    text.append("const int ").append(name).append(" = (").append(next).append(");");
    next = name + " + 1";
  }
  return text;
}

/// Adds \p member, which defines a type in a struct and may declare fields of it: `enum class Kind { a, b } kind;`.
/// False if it has another form, or if fields have a type without a name.
bool add_type(std::string_view member, Members& members) {
  const std::size_t brace = member.find('{'), end = after_brackets(member, brace);
  const std::string_view head = member.substr(0, brace);
  std::vector<std::string_view> words = words_of(head.substr(0, std::min(base_clause(head), head.size())));
  std::erase_if(words,
                [](std::string_view word) { return is_digit(word.front()) || contains(kWordsOfTypeHeads, word); });
  if (words.size() > 1) return false;  // `struct A a{1};`, or a macro
  const std::string_view name = words.empty() ? std::string_view() : words.front();
  const std::string_view declared = trimmed(member.substr(end, member.size() - 1 - end));
  const bool is_enum = word_at(member, 0) == "enum";
  if (name.empty() && (!is_enum || !declared.empty())) return false;
  if (!name.empty()) members.names.append(member.substr(0, end)).append(";");
  if (is_enum && !has_word(head, "class") && !has_word(head, "struct"))
    members.names += enumerator_constants(member.substr(brace, end - brace));
  if (!declared.empty()) members.fields.append(name).append(" ").append(without_values(member.substr(end))).append(" ");
  return true;
}

/// `static int n = (1);` of `static int n{1};`
std::string with_equals_sign(std::string_view member) {
  const std::size_t sign = std::min(member.find_first_of("={"), member.size());
  const std::size_t end = member.substr(sign, 1) == "{" ? after_brackets(member, sign) : npos;
  if (end == npos || contains(words_of(member), "typedef")) return std::string(member);
  return std::string(member.substr(0, sign)) + "= (" + std::string(member.substr(sign + 1, end - sign - 2)) + ")" +
         std::string(member.substr(end));
}

/// The members between the braces of a struct; nothing if one is neither a field nor without size.
/// \p names: of the struct. Another name with a bracket and without a type before it is a macro.
std::optional<Members> members_in(std::string_view inside, const std::array<std::string_view, 2>& names) {
  constexpr std::array<std::string_view, 3> nameless{"friend", "template", "static_assert"};
  constexpr std::array<std::string_view, 2> aliases{"using", "typedef"};
  constexpr std::array<std::string_view, 4> types{"struct", "class", "union", "enum"};
  Members members;
  for (std::size_t at = 0; (at = after_access(inside, skip_space(inside, at))) < inside.size();) {
    const auto begin = after_attributes(inside, at);
    if (!begin) return std::nullopt;
    at = *begin;
    const std::string_view word = word_at(inside, at);
    const std::size_t end = end_of_member(inside, at);
    if (end == npos) return std::nullopt;
    const std::string_view member = inside.substr(at, end - at), head = member.substr(0, member.find('{'));
    at = end;
    if (contains(nameless, word) || trimmed(member) == ";") continue;
    if (has_word(head, "virtual")) return std::nullopt;
    if (member.substr(skip_space(member, word.size()), 1) == "(" && !contains(names, word)) return std::nullopt;
    if (is_function(head)) continue;
    if (contains(aliases, word) || has_word(head.substr(0, head.find('=')), "static")) {
      members.names += with_equals_sign(member);
    } else if (contains(types, word) && head.size() < member.size() && head.find('=') == npos) {
      if (!add_type(member, members)) return std::nullopt;
    } else {
      members.fields += without_values(without_words(member, {"mutable", "volatile"})) + ' ';
    }
  }
  return members;
}

/// The definition of \p name at \p place if the \p key (`struct`) at \p at begins it: `struct NAME {...};` or
/// `typedef struct {...} NAME;`. It has no braces around its fields in any other form.
std::optional<StructText> definition_at(const ScopedCode& scoped, std::size_t at, std::string_view key,
                                        std::string_view name, std::size_t place) {
  const std::string_view code = scoped.text();
  auto head = read_head(code, at + key.size());
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
  auto members =
      is_plain ? members_in(code.substr(head->brace + 1, end - head->brace - 2), {head->name, name}) : std::nullopt;
  StructText text;
  text.alignment = head->alignment;
  text.bases = std::move(head->bases);
  text.inside = {"", scoped.namespaces_at(at), end};
  if (!members) return text;
  text.fields = "{ " + members->fields + '}';
  text.names = std::move(members->names);
  text.begin = at - statement_before(code, at).size();
  return text;
}

}  // namespace

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

}  // namespace tuner
