#include <tuner/core/parameter_types.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace tuner {
namespace {

std::string_view without(std::string_view text, std::string_view ending) {
  return text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : text;
}

std::string_view unrestricted(std::string_view type) { return without(without(type, " __restrict__"), " __restrict"); }

/// The type of what a pointer of type \p taken points to, or the type itself, without qualifiers.
std::string_view base_of(std::string_view taken) {
  const std::string_view base = without(unrestricted(taken), "*");
  return without(without(without(base, " const"), " volatile"), " const");
}

}  // namespace

std::vector<std::string> parameter_types(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
                                                    &std::free);
  if (status != 0 || text == nullptr) return {};
  const std::string_view whole = text.get();
  if (!whole.ends_with(')')) return {};
  // The last pair of parentheses. Commas in brackets inside it do not separate parameters.
  std::vector<std::string> types;
  std::size_t end = whole.size() - 1;
  int depth = 0;
  for (std::size_t at = end; at-- > 0;) {
    const char c = whole[at];
    if (c == ')' || c == '>' || c == ']') ++depth;
    const bool first = c == '(' && depth == 0;
    if (first || (c == ',' && depth == 0)) {
      std::string_view type = whole.substr(at + 1, end - at - 1);
      if (type.starts_with(' ')) type.remove_prefix(1);
      if (!type.empty()) types.emplace(types.begin(), type);
      end = at;
    }
    if (first) break;
    if (c == '(' || c == '<' || c == '[') --depth;
  }
  return types;
}

bool is_pointer(std::string_view taken) { return unrestricted(taken).ends_with('*'); }

bool is_pointer_to_pointers(std::string_view taken) { return is_pointer(taken) && is_pointer(base_of(taken)); }

bool may_take(std::string_view taken, ElementType declared, bool pointer) {
  const bool points = is_pointer(taken);
  const std::string_view base = base_of(taken);
  if (points && is_pointer(base)) return false;  // no number is a pointer
  const auto given = numbers_of(base);
  if (!given || given->components > 1) return true;
  const ElementTypeInfo &is = info(given->type), &wanted = info(declared);
  const bool alike = wanted.is_floating ? is.type == wanted.type : !is.is_floating && is.bytes == wanted.bytes;
  return points == pointer && alike;
}

}  // namespace tuner
