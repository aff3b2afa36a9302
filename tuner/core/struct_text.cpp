#include <tuner/core/struct_text.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <tuner/core/characters.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/words.hpp>

namespace tuner {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// More than any element has.
constexpr std::size_t kMostAlignment = 64 * 1024;
constexpr std::size_t kLongestStruct = 64 * 1024;  // characters

constexpr std::array<std::string_view, 2> kKeys{"struct", "class"};

/// `struct __align__(16) NAME {`, read from after `struct`.
struct StructHead {
  std::size_t alignment = 1;
  std::string_view name;
  std::size_t brace = 0;  ///< offset of `{`
};

std::optional<StructHead> read_head(std::string_view code, std::size_t at) {
  StructHead head;
  for (;;) {
    at = skip_space(code, at);
    if (at == code.size()) return std::nullopt;
    if (code[at] == '{') {
      head.brace = at;
      return head;
    }
    const std::string_view word = word_at(code, at);
    if (word.empty()) return std::nullopt;
    at += word.size();
    if (word != "__align__" && word != "alignas") {
      if (!head.name.empty()) return std::nullopt;  // one of them is a macro
      head.name = word;
      continue;
    }
    at = skip_space(code, at);
    if (at == code.size() || code[at] != '(') return std::nullopt;
    at = skip_space(code, at + 1);
    const std::string_view number = word_at(code, at);
    const auto alignment = number_of<std::size_t>(number);
    if (!alignment || *alignment > kMostAlignment || !std::has_single_bit(*alignment)) return std::nullopt;
    at = skip_space(code, at + number.size());
    if (at == code.size() || code[at] != ')') return std::nullopt;
    ++at;
    head.alignment = std::max(head.alignment, *alignment);
  }
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
  constexpr std::array<std::string_view, 3> access{"public", "private", "protected"};
  constexpr std::array<std::string_view, 4> sizeless{"static", "using", "typedef", "friend"};
  constexpr std::array<std::string_view, 3> nested{"struct", "class", "union"};
  std::string fields, enumerators;
  for (std::size_t at = skip_space(inside, 0); at < inside.size(); at = skip_space(inside, at)) {
    const std::string_view word = word_at(inside, at);
    if (const std::size_t colon = skip_space(inside, at + word.size());
        contains(access, word) && inside.substr(colon, 1) == ":") {
      at = colon + 1;
      continue;
    }
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

/// The definition of \p name if the \p key (`struct`) at \p at begins one: `struct NAME {...};` or
/// `typedef struct {...} NAME;`. Nothing if the struct has another name. It has no fields in any other form.
std::optional<StructText> definition_at(std::string_view code, std::size_t at, std::string_view key,
                                        std::string_view name) {
  const auto head = read_head(code, at + key.size());
  if (!head) return std::nullopt;
  const std::size_t end = after_brackets(code, head->brace, kLongestStruct);
  if (end == npos) return std::nullopt;
  std::size_t after = skip_space(code, end);
  const std::string_view other = word_at(code, after);
  if (head->name != name && other != name) return std::nullopt;
  after = skip_space(code, after + other.size());
  const bool is_typedef = word_before(code, before_space(code, at).size()) == "typedef";
  const bool is_plain = after < code.size() && code[after] == ';' && (other.empty() || other == name || is_typedef);
  const auto fields =
      is_plain ? fields_in(code.substr(head->brace + 1, end - head->brace - 2), {head->name, name}) : std::nullopt;
  return StructText{fields && !fields->empty() ? "{ " + *fields + '}' : std::string(), head->alignment};
}

}  // namespace

std::size_t type_definitions(std::string_view code, std::string_view name) {
  constexpr std::array<std::string_view, 5> keys{"struct", "class", "union", "enum", "namespace"};
  std::size_t count = 0;
  bool is_named_twice = false;  // typedef struct NAME {…} NAME;
  for (std::size_t at = 0; (at = find_word(code, name, at)) != npos; ++at) {
    const std::string_view after = code.substr(skip_space(code, at + name.size()), 2);
    const std::string_view before = before_space(code, at);
    const bool opens = after.starts_with('{') || (after.starts_with(':') && after != "::");
    const std::string_view head = before.substr(before.find_last_of(";{}") + 1);  // npos + 1: all
    const auto has = [&](std::string_view key) { return has_word(head, key); };
    const bool closes = before.ends_with('}') && (after.starts_with(';') || after.starts_with(','));
    if (opens && std::any_of(keys.begin(), keys.end(), has)) {
      ++count;
      is_named_twice = has_word(head, "typedef");
    } else if (closes && !std::exchange(is_named_twice, false)) {
      ++count;
    }
  }
  return count;
}

std::optional<StructText> struct_called(std::string_view code, std::string_view name) {
  if (type_definitions(code, name) != 1)
    return std::nullopt;  // the preprocessor or a namespace decides between several
  for (const char* const packs : {"pack", "packed", "__packed__"})
    if (occurs_in_code(code, packs)) return std::nullopt;
  for (const std::string_view key : kKeys)
    for (std::size_t at = 0; (at = find_word(code, key, at)) != npos; ++at)
      if (const auto only = definition_at(code, at, key, name)) return only->fields.empty() ? std::nullopt : only;
  return std::nullopt;
}

}  // namespace tuner
