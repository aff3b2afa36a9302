#pragma once
/// The element types that a kernel file can name, with their sizes and their spellings in CUDA C++, and the types of
/// the parameters of a compiled kernel.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

enum class ElementType {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  half,
  bfloat16,
  float32,
  float64,
  e4m3,
  e5m2,
  e3m2,
  e2m3,
  e2m1,
  e2m1x2,
  e8m0,
  tf32
};

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;      ///< canonical name in kernel files and databases: `int8` … `half`, `float`, `double`
  std::string_view spelling;  ///< CUDA C++: `signed char`, `__half`, `float`
  std::size_t bytes;
  bool is_floating;
  double epsilon;   ///< unit roundoff u of this type; 0 for integers
  double step = 0;  ///< the smallest positive number of a type without arithmetic (fp8, fp6, fp4); 0 for others
  int parts = 1;    ///< numbers in one: e2m1x2 has two
};

/// All types, in enum order.
std::span<const ElementTypeInfo> element_types();
const ElementTypeInfo& info(ElementType type);
/// Several numbers of one type that make up one element: `float4`, `half2`, `uchar3`.
struct VectorType {
  ElementType type{};
  int components = 1;
};
/// CUDA's vector types by their names; `__nv_fp8x4_e4m3` is one, and `__nv_fp4x4_e2m1` is two e2m1x2.
std::optional<VectorType> vector_type(std::string_view name);

/// The numbers in one element of the C++ type \p spelling: `unsigned char`, `size_t`, `float4`. Nothing for types that
/// are neither numbers nor vectors of numbers.
std::optional<VectorType> numbers_of(std::string_view spelling);

struct IntegerRange {
  std::int64_t low = 0, high = 0;
};
/// The values of an integer of \p type, cut off where a signed 64-bit integer ends; nothing for floating types.
std::optional<IntegerRange> integer_range(ElementType type);
/// Canonical names and the aliases `int32`, `uint32`, `bf16`, `fp16`, `float32`, `float64`, and those of PyTorch for
/// smaller types, such as `float8_e4m3fn`.
std::optional<ElementType> element_type(std::string_view name);

/// The parameter types of the function, or of the function type, with this \p mangled name: `float const*`, `int`.
/// Empty if the name does not contain them (extern "C").
std::vector<std::string> parameter_types(const std::string& mangled);

bool is_pointer(std::string_view taken);
/// `float**`, `Shape* const*`.
bool is_pointer_to_pointers(std::string_view taken);

/// Whether a parameter of type \p taken accepts a number of type \p declared, or with \p pointer a pointer to such.
/// Integers of the same width are equal. Types that are not in ElementType (float4, a struct, void) accept anything.
bool may_take(std::string_view taken, ElementType declared, bool pointer);

}  // namespace tuner
