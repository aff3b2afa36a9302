#pragma once
/// The values of each element type, as they are in memory.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tuner/backend/fill_value.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

/// half and bfloat16: 16 bits and the two conversions.
template <float (*ToFloat)(unsigned short), unsigned short (*FromFloat)(float)>
struct SmallFloat {
  unsigned short bits = 0;
  static SmallFloat of(float value) { return {FromFloat(value)}; }
  float value() const { return ToFloat(bits); }
};
using Half = SmallFloat<fill_value::half_value, fill_value::half_bits>;
using Bfloat16 = SmallFloat<fill_value::bfloat16_value, fill_value::bfloat16_bits>;

/// \p use(T()) for the C++ type T of \p type.
template <typename Use>
auto with_type(ElementType type, Use use) {
  switch (type) {
    case ElementType::int8:
      return use(std::int8_t{});
    case ElementType::uint8:
      return use(std::uint8_t{});
    case ElementType::int16:
      return use(std::int16_t{});
    case ElementType::uint16:
      return use(std::uint16_t{});
    case ElementType::int32:
      return use(std::int32_t{});
    case ElementType::uint32:
      return use(std::uint32_t{});
    case ElementType::int64:
      return use(std::int64_t{});
    case ElementType::uint64:
      return use(std::uint64_t{});
    case ElementType::half:
      return use(Half{});
    case ElementType::bfloat16:
      return use(Bfloat16{});
    case ElementType::float32:
      return use(float{});
    case ElementType::float64:
      break;
  }
  return use(double{});
}

/// Element \p i at \p from, which need not be aligned.
template <typename T>
T element_at(const void* from, std::size_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + i * sizeof(T), sizeof(T));
  return value;
}

/// \p value as a number: half and bfloat16 as float.
template <typename T>
auto number(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else {
    return value.value();
  }
}

}  // namespace tuner
