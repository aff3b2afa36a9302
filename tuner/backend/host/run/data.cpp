#include <tuner/backend/host/run/data.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tuner/backend/element_value.hpp>
#include <tuner/backend/fill_value.hpp>

namespace tuner::host {
namespace {

namespace fv = fill_value;

template <typename T>
T converted(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(fv::floor_signed(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(fv::floor_unsigned(value));
  } else {
    return T::of(static_cast<float>(value));
  }
}

template <typename T>
T counted(std::size_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(i);
  } else {
    return converted<T>(static_cast<double>(i));
  }
}

template <typename T>
double real(T value, int part = 0) {
  return static_cast<double>(number(value, part));
}

// With memcpy, because `verify offset=` may shift buffers away from the alignment of their elements.
template <typename T>
void store(void* to, std::size_t i, T value) {
  std::memcpy(static_cast<char*>(to) + i * sizeof(T), &value, sizeof(T));
}

template <typename T>
void fill_as(void* to, std::size_t count, const Fill& fill, std::uint64_t seed) {
  if constexpr (parts_of<T> != 1) {
    const auto one = [&](std::size_t i) {
      if (fill.kind == Fill::Kind::iota) return static_cast<float>(i);
      return static_cast<float>(fill.kind == Fill::Kind::uniform ? fv::uniform(seed, i, fill.low, fill.high)
                                                                 : fill.low);
    };
    for (std::size_t i = 0; i < count; ++i) store(to, i, T::of(one(2 * i), one(2 * i + 1)));
    return;
  }
  switch (fill.kind) {
    case Fill::Kind::uniform:
      for (std::size_t i = 0; i < count; ++i) store(to, i, converted<T>(fv::uniform(seed, i, fill.low, fill.high)));
      break;
    case Fill::Kind::constant:
      for (std::size_t i = 0; i < count; ++i) store(to, i, converted<T>(fill.low));
      break;
    case Fill::Kind::iota:
      for (std::size_t i = 0; i < count; ++i) store(to, i, counted<T>(i));
      break;
  }
}

/// Whether both have the same bytes and no element is NaN. Without a branch for each element, so that a compiler can
/// use vector instructions.
template <typename T>
bool all_equal(const void* actual, const void* expected, std::size_t begin, std::size_t end) {
  if (std::memcmp(static_cast<const char*>(actual) + begin * sizeof(T),
                  static_cast<const char*>(expected) + begin * sizeof(T), (end - begin) * sizeof(T)) != 0)
    return false;
  if constexpr (std::is_integral_v<T>) return true;
  if constexpr (parts_of<T> != 1) return true;  // e2m1 has no NaN
  unsigned nans = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double value = real(element_at<T>(actual, i));
    nans |= static_cast<unsigned>(value != value);
  }
  return nans == 0;
}

template <typename T>
Comparison compare_as(const void* actual, const void* expected, std::size_t count, const Tolerance& tolerance) {
  constexpr std::size_t kPart = 1024;  // elements
  Comparison result;
  const auto look = [&](std::size_t i) {
    if (all_equal<T>(actual, expected, i, i + 1)) return;
    const T a = element_at<T>(actual, i), e = element_at<T>(expected, i);
    bool is_counted = false;  // both parts of an element may be wrong
    for (int part = 0; part < parts_of<T>; ++part) {
      const double is = real(a, part), wanted = real(e, part);
      bool wrong = true;
      if constexpr (!std::is_integral_v<T>)
        wrong = fv::differs(is, wanted, tolerance.relative, tolerance.absolute, tolerance.is_place);
      result.largest_error = std::max(result.largest_error, fv::relative_error(is, wanted));
      if (tolerance.is_place) count_direction(result, is, wanted);
      if (!wrong || std::exchange(is_counted, true)) continue;
      if (result.mismatches++ == 0) {
        result.first_index = i;
        result.actual = is;
        result.expected = wanted;
      }
    }
  };
  for (std::size_t begin = 0; begin < count; begin += kPart) {
    const std::size_t end = std::min(begin + kPart, count);
    if (all_equal<T>(actual, expected, begin, end)) continue;  // most parts of a right result
    for (std::size_t i = begin; i < end; ++i) look(i);
  }
  return result;
}

}  // namespace

void fill(void* to, ElementType type, std::size_t count, const Fill& how, std::uint64_t seed) {
  with_type(type, [&](auto zero) { fill_as<decltype(zero)>(to, count, how, seed); });
}

Comparison compare(const void* actual, const void* expected, ElementType type, std::size_t count,
                   const Tolerance& tolerance) {
  return with_type(type, [&](auto zero) { return compare_as<decltype(zero)>(actual, expected, count, tolerance); });
}

std::uint64_t fingerprint(const void* from, std::size_t bytes) {
  // Four independent chains, because a single one is limited by the latency of its multiplications.
  std::uint64_t chains[4] = {1, 2, 3, 4};
  const std::size_t words = bytes / 8;
  std::size_t i = 0;
  for (; i + 4 <= words; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      chains[k] = (chains[k] ^ element_at<std::uint64_t>(from, i + k)) * 0x9e3779b97f4a7c15ULL;
      chains[k] ^= chains[k] >> 32;
    }
  }
  std::uint64_t result = fv::splitmix64(bytes);
  for (; i < words; ++i) result = fv::splitmix64(result ^ element_at<std::uint64_t>(from, i));
  std::uint64_t tail = 0;
  std::memcpy(&tail, static_cast<const char*>(from) + words * 8, bytes % 8);
  result = fv::splitmix64(result ^ tail);
  for (const std::uint64_t chain : chains) result = fv::splitmix64(result ^ chain);
  return result;
}

}  // namespace tuner::host
