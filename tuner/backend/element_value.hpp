#pragma once
/// The values of each element type, as they are in memory.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tuner/backend/fill_value.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

/// A type that C++ does not have: its bits and the two conversions.
template <typename Bits, float (*ToFloat)(Bits), Bits (*FromFloat)(float)>
struct SmallFloat {
  Bits bits = 0;
  static SmallFloat of(float value) { return {FromFloat(value)}; }
  float value() const { return ToFloat(bits); }
};
using Half = SmallFloat<unsigned short, fill_value::half_value, fill_value::half_bits>;
using Bfloat16 = SmallFloat<unsigned short, fill_value::bfloat16_value, fill_value::bfloat16_bits>;
using E4m3 = SmallFloat<unsigned char, fill_value::e4m3_value, fill_value::e4m3_bits>;
using E5m2 = SmallFloat<unsigned char, fill_value::e5m2_value, fill_value::e5m2_bits>;
using E3m2 = SmallFloat<unsigned char, fill_value::e3m2_value, fill_value::e3m2_bits>;
using E2m3 = SmallFloat<unsigned char, fill_value::e2m3_value, fill_value::e2m3_bits>;
using E2m1 = SmallFloat<unsigned char, fill_value::e2m1_value, fill_value::e2m1_bits>;
using E8m0 = SmallFloat<unsigned char, fill_value::e8m0_value, fill_value::e8m0_bits>;
using Tf32 = SmallFloat<unsigned, fill_value::float_of, fill_value::tf32_bits>;

/// Two numbers of e2m1 in one byte.
struct E2m1x2 {
  unsigned char bits = 0;
  static E2m1x2 of(float low, float high) {
    return {static_cast<unsigned char>(fill_value::e2m1_bits(low) | fill_value::e2m1_bits(high) << 4)};
  }
  static E2m1x2 of(float both) { return of(both, both); }
  float value(int part = 0) const { return fill_value::e2m1_value(static_cast<unsigned char>(bits >> (4 * part))); }
};
/// The numbers in one T.
template <typename T>
constexpr int parts_of = std::is_same_v<T, E2m1x2> ? 2 : 1;

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
    case ElementType::e4m3:
      return use(E4m3{});
    case ElementType::e5m2:
      return use(E5m2{});
    case ElementType::e3m2:
      return use(E3m2{});
    case ElementType::e2m3:
      return use(E2m3{});
    case ElementType::e2m1:
      return use(E2m1{});
    case ElementType::e2m1x2:
      return use(E2m1x2{});
    case ElementType::e8m0:
      return use(E8m0{});
    case ElementType::tf32:
      return use(Tf32{});
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

/// \p value as a number: a type that C++ does not have as float. \p part: which of parts_of<T>.
template <typename T>
auto number(T value, [[maybe_unused]] int part = 0) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (parts_of<T> > 1) {
    return value.value(part);
  } else {
    return value.value();
  }
}

}  // namespace tuner
