#pragma once
/// <bit> (ISO C++20) for texts in C++17, too.
#include <type_traits>

namespace cuda::std {

using namespace ::std;

template <typename To, typename From>
constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
template <typename T>
constexpr int popcount(T value) {
  return __builtin_popcountll(static_cast<make_unsigned_t<T>>(value));
}
template <typename T>
constexpr int countl_zero(T value) {
  int count = 0;
  for (T bit = T(1) << (sizeof(T) * 8 - 1); bit != 0 && (value & bit) == 0; bit >>= 1) ++count;
  return count;
}
template <typename T>
constexpr int countr_zero(T value) {
  return value == 0 ? static_cast<int>(sizeof(T) * 8) : __builtin_ctzll(value);
}
template <typename T>
constexpr int bit_width(T value) {
  return static_cast<int>(sizeof(T) * 8) - countl_zero(value);
}
template <typename T>
constexpr bool has_single_bit(T value) {
  return popcount(value) == 1;
}
template <typename T>
constexpr T bit_floor(T value) {
  return value == 0 ? T(0) : static_cast<T>(T(1) << (bit_width(value) - 1));
}
template <typename T>
constexpr T bit_ceil(T value) {
  return value <= 1 ? T(1) : static_cast<T>(T(1) << bit_width(static_cast<T>(value - 1)));
}

}  // namespace cuda::std
