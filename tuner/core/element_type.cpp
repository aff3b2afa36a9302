#include <tuner/core/element_type.hpp>

#include <array>

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
  std::string_view alias;
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

}  // namespace

std::span<const ElementTypeInfo> element_types() { return kTypes; }

const ElementTypeInfo& info(ElementType type) { return kTypes.at(static_cast<std::size_t>(type)); }

std::optional<ElementType> element_type(std::string_view name) {
  for (const ElementTypeInfo& candidate : kTypes) {
    if (candidate.name == name) return candidate.type;
  }
  for (const Alias& candidate : kAliases) {
    if (candidate.alias == name) return candidate.type;
  }
  return std::nullopt;
}

}  // namespace tuner
