#pragma once
/// The element types a kernel file can name, with their size and their spelling in CUDA C++.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tuner {

enum class ElementType { int8, uint8, int16, uint16, int32, uint32, int64, uint64, half, bfloat16, float32, float64 };

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;      ///< canonical name in kernel files and databases: `int8` … `half`, `float`, `double`
  std::string_view spelling;  ///< CUDA C++: `signed char`, `__half`, `float`
  std::size_t bytes;
  bool is_floating;
  double epsilon;  ///< unit roundoff u of the accumulation result in this type; 0 for integers
};

/// All types, in enum order.
std::span<const ElementTypeInfo> element_types();
const ElementTypeInfo& info(ElementType type);
/// Canonical names and the aliases `int`, `unsigned`, `bf16`, `fp16`, `float32`, `float64`.
std::optional<ElementType> element_type(std::string_view name);

}  // namespace tuner
