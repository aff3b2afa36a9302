#include <tuner/core/element_type.hpp>

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <memory>

#include <tuner/core/named.hpp>

namespace tuner {
namespace {

constexpr std::array<ElementTypeInfo, 12> kTypes{{
    {ElementType::int8, "int8", "signed char", 1, false, 0},
    {ElementType::uint8, "uint8", "unsigned char", 1, false, 0},
    {ElementType::int16, "int16", "short", 2, false, 0},
    {ElementType::uint16, "uint16", "unsigned short", 2, false, 0},
    {ElementType::int32, "int", "int", 4, false, 0},
    {ElementType::uint32, "unsigned", "unsigned int", 4, false, 0},
    {ElementType::int64, "int64", "long long", 8, false, 0},
    {ElementType::uint64, "uint64", "unsigned long long", 8, false, 0},
    {ElementType::half, "half", "__half", 2, true, 0x1p-11},
    {ElementType::bfloat16, "bfloat16", "__nv_bfloat16", 2, true, 0x1p-8},
    {ElementType::float32, "float", "float", 4, true, 0x1p-24},
    {ElementType::float64, "double", "double", 8, true, 0x1p-53},
}};

struct Alias {
  std::string_view name;
  ElementType type;
};
constexpr std::array<Alias, 6> kAliases{{
    {"int32", ElementType::int32},
    {"uint32", ElementType::uint32},
    {"bf16", ElementType::bfloat16},
    {"fp16", ElementType::half},
    {"float32", ElementType::float32},
    {"float64", ElementType::float64},
}};

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

std::span<const ElementTypeInfo> element_types() { return kTypes; }

const ElementTypeInfo& info(ElementType type) { return kTypes.at(static_cast<std::size_t>(type)); }

std::optional<ElementType> element_type(std::string_view name) {
  if (const ElementTypeInfo* const type = find_named(kTypes, name)) return type->type;
  if (const Alias* const alias = find_named(kAliases, name)) return alias->type;
  return std::nullopt;
}

std::optional<VectorType> vector_type(std::string_view name) {
  static constexpr Alias bases[] = {{"char", ElementType::int8},
                                    {"uchar", ElementType::uint8},
                                    {"short", ElementType::int16},
                                    {"ushort", ElementType::uint16},
                                    {"int", ElementType::int32},
                                    {"uint", ElementType::uint32},
                                    {"longlong", ElementType::int64},
                                    {"ulonglong", ElementType::uint64},
                                    {"half", ElementType::half},
                                    {"__half", ElementType::half},
                                    {"__nv_bfloat16", ElementType::bfloat16},
                                    {"float", ElementType::float32},
                                    {"double", ElementType::float64}};
  if (name.empty() || name.back() < '1' || name.back() > '4') return std::nullopt;
  const Alias* const base = find_named(bases, name.substr(0, name.size() - 1));
  return base != nullptr ? std::optional(VectorType{base->type, name.back() - '0'}) : std::nullopt;
}

std::optional<VectorType> numbers_of(std::string_view spelling) {
  static constexpr Alias spellings[] = {{"bool", ElementType::uint8},
                                        {"char", ElementType::int8},
                                        {"int8_t", ElementType::int8},
                                        {"uint8_t", ElementType::uint8},
                                        {"int16_t", ElementType::int16},
                                        {"uint16_t", ElementType::uint16},
                                        {"short int", ElementType::int16},
                                        {"unsigned short int", ElementType::uint16},
                                        {"signed", ElementType::int32},
                                        {"signed int", ElementType::int32},
                                        {"int32_t", ElementType::int32},
                                        {"uint32_t", ElementType::uint32},
                                        {"uint", ElementType::uint32},
                                        {"unsigned", ElementType::uint32},
                                        {"long", ElementType::int64},
                                        {"long int", ElementType::int64},
                                        {"long long int", ElementType::int64},
                                        {"int64_t", ElementType::int64},
                                        {"ptrdiff_t", ElementType::int64},
                                        {"unsigned long", ElementType::uint64},
                                        {"unsigned long int", ElementType::uint64},
                                        {"unsigned long long int", ElementType::uint64},
                                        {"uint64_t", ElementType::uint64},
                                        {"size_t", ElementType::uint64},
                                        {"half", ElementType::half},
                                        {"nv_bfloat16", ElementType::bfloat16}};
  if (spelling.starts_with("std::")) spelling.remove_prefix(std::string_view("std::").size());
  for (const ElementTypeInfo& candidate : kTypes)
    if (candidate.spelling == spelling) return VectorType{candidate.type, 1};
  if (const Alias* const alias = find_named(spellings, spelling)) return VectorType{alias->type, 1};
  return vector_type(spelling);
}

std::optional<IntegerRange> integer_range(ElementType type) {
  const ElementTypeInfo& wanted = info(type);
  if (wanted.is_floating) return std::nullopt;
  const bool is_signed = type == ElementType::int8 || type == ElementType::int16 || type == ElementType::int32 ||
                         type == ElementType::int64;
  const int bits = static_cast<int>(8 * wanted.bytes) - (is_signed ? 1 : 0);
  const std::int64_t high = bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
  return IntegerRange{is_signed ? -high - 1 : 0, high};
}

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
