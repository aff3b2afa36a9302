#pragma once
/// The C++ types of elements in the memory of this process.

#include <cstdint>
#include <type_traits>

#include <tuner/backend/fill_value.hpp>
#include <tuner/core/element_type.hpp>

namespace tuner {

/// half and bfloat16 in memory: 16 bits and the two conversions.
template <float (*ToFloat)(unsigned short), unsigned short (*FromFloat)(float)>
struct Small {
  unsigned short bits;
  template <typename Number>
  static Small of(Number value) {
    return {FromFloat(static_cast<float>(value))};
  }
  double value() const { return static_cast<double>(ToFloat(bits)); }
};
using Half = Small<fill_value::half_value, fill_value::half_bits>;
using Bfloat16 = Small<fill_value::bfloat16_value, fill_value::bfloat16_bits>;

template <typename T>
double as_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return value.value();
  }
}

/// Calls \p action with a null pointer of the C++ type of \p type.
template <typename Action>
auto with_type(ElementType type, Action action) {
  switch (type) {
    case ElementType::int8:
      return action(static_cast<std::int8_t*>(nullptr));
    case ElementType::uint8:
      return action(static_cast<std::uint8_t*>(nullptr));
    case ElementType::int16:
      return action(static_cast<std::int16_t*>(nullptr));
    case ElementType::uint16:
      return action(static_cast<std::uint16_t*>(nullptr));
    case ElementType::int32:
      return action(static_cast<std::int32_t*>(nullptr));
    case ElementType::uint32:
      return action(static_cast<std::uint32_t*>(nullptr));
    case ElementType::int64:
      return action(static_cast<std::int64_t*>(nullptr));
    case ElementType::uint64:
      return action(static_cast<std::uint64_t*>(nullptr));
    case ElementType::half:
      return action(static_cast<Half*>(nullptr));
    case ElementType::bfloat16:
      return action(static_cast<Bfloat16*>(nullptr));
    case ElementType::float32:
      return action(static_cast<float*>(nullptr));
    case ElementType::float64:
      break;
  }
  return action(static_cast<double*>(nullptr));
}

}  // namespace tuner
