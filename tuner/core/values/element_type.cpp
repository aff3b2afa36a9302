#include <tuner/core/values/element_type.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>

#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

constexpr std::array<ElementTypeInfo, 20> kTypes{{
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
    {ElementType::e4m3, "e4m3", "__nv_fp8_e4m3", 1, true, 0x1p-4, 0x1p-9},
    {ElementType::e5m2, "e5m2", "__nv_fp8_e5m2", 1, true, 0x1p-3, 0x1p-16},
    {ElementType::e3m2, "e3m2", "__nv_fp6_e3m2", 1, true, 0x1p-3, 0x1p-4},
    {ElementType::e2m3, "e2m3", "__nv_fp6_e2m3", 1, true, 0x1p-4, 0x1p-3},
    {ElementType::e2m1, "e2m1", "__nv_fp4_e2m1", 1, true, 0x1p-2, 0x1p-1},
    {ElementType::e2m1x2, "e2m1x2", "__nv_fp4x2_e2m1", 1, true, 0x1p-2, 0x1p-1, 2},
    {ElementType::e8m0, "e8m0", "__nv_fp8_e8m0", 1, true, 0, 0x1p-127},
    {ElementType::tf32, "tf32", "float", 4, true, 0x1p-11},
}};

/// Other names of the types, in enum order.
struct OtherNames {
  std::array<std::string_view, 1> in_files;    ///< in kernel files and databases
  std::array<std::string_view, 2> in_vectors;  ///< before the number of components
  std::array<std::string_view, 5> in_cpp = {};
};
constexpr std::array<OtherNames, 20> kOtherNames{{
    {{}, {"char"}, {"char", "int8_t"}},
    {{}, {"uchar"}, {"bool", "uint8_t"}},
    {{}, {"short"}, {"int16_t", "short int"}},
    {{}, {"ushort"}, {"uint16_t", "unsigned short int"}},
    {{"int32"}, {"int"}, {"signed", "signed int", "int32_t"}},
    {{"uint32"}, {"uint"}, {"uint32_t", "uint", "unsigned"}},
    {{}, {"longlong"}, {"long", "long int", "long long int", "int64_t", "ptrdiff_t"}},
    {{}, {"ulonglong"}, {"unsigned long", "unsigned long int", "unsigned long long int", "uint64_t", "size_t"}},
    {{"fp16"}, {"half", "__half"}, {"half"}},
    {{"bf16"}, {"__nv_bfloat16"}, {"nv_bfloat16"}},
    {{"float32"}, {"float"}},
    {{"float64"}, {"double"}},
    {{"float8_e4m3fn"}, {}},
    {{"float8_e5m2"}, {}},
    {{"float6_e3m2fn"}, {}},
    {{"float6_e2m3fn"}, {}},
    {{"float4_e2m1fn"}, {}},
    {{"float4_e2m1fn_x2"}, {}},
    {{"float8_e8m0fnu"}, {}},
    {},
}};

/// The type that has \p name among its \p names.
std::optional<ElementType> type_with(std::string_view name, auto OtherNames::*names) {
  const auto has_it = [&](const OtherNames& one) { return !name.empty() && contains(one.*names, name); };
  const auto at = std::ranges::find_if(kOtherNames, has_it);
  return at == kOtherNames.end() ? std::nullopt : std::optional(static_cast<ElementType>(at - kOtherNames.begin()));
}

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
  return type_with(name, &OtherNames::in_files);
}

std::optional<VectorType> vector_type(std::string_view name) {
  constexpr std::string_view kSmall = "__nv_fp8";  // or 6 or 4; then `x`, the components, `_` and the format
  if (name.starts_with("__nv_fp") && name.size() > kSmall.size() + 2 && name[kSmall.size()] == 'x') {
    const char components = name[kSmall.size() + 1];
    const std::string one = std::string(name.substr(0, kSmall.size())).append(name.substr(kSmall.size() + 2));
    const auto* const format = std::ranges::find(kTypes, std::string_view(one), &ElementTypeInfo::spelling);
    if (format == kTypes.end() || (components != '2' && components != '4')) return std::nullopt;
    if (format->type == ElementType::e2m1) return VectorType{ElementType::e2m1x2, components == '2' ? 1 : 2};
    return VectorType{format->type, components - '0'};
  }
  if (name == "dim3") return VectorType{ElementType::uint32, 3};
  if (name.empty() || name.back() < '1' || name.back() > '4') return std::nullopt;
  const auto base = type_with(name.substr(0, name.size() - 1), &OtherNames::in_vectors);
  return base ? std::optional(VectorType{*base, name.back() - '0'}) : std::nullopt;
}

std::optional<VectorType> numbers_of(std::string_view spelling) {
  if (spelling.starts_with("std::")) spelling.remove_prefix(std::string_view("std::").size());
  for (const ElementTypeInfo& candidate : kTypes)
    if (candidate.spelling == spelling) return VectorType{candidate.type, 1};
  if (const auto type = type_with(spelling, &OtherNames::in_cpp)) return VectorType{*type, 1};
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
  const bool alike = wanted.is_floating ? is.spelling == wanted.spelling : !is.is_floating && is.bytes == wanted.bytes;
  return points == pointer && alike;
}

}  // namespace tuner
