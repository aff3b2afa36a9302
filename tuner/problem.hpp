#pragma once
/// The vocabulary of the public API that several headers share: element types of pointers, problems, streams. C++17.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

struct __half;         // cuda_fp16.h
struct __nv_bfloat16;  // cuda_bf16.h

namespace tuner {

/// A cudaStream_t or CUstream; null is the default stream. Ignored on the host backend, which is synchronous.
using Stream = void*;

namespace detail {

/// Position of T in tuner's list of element types (tuner/core/element_type.hpp), or -1: not an element type.
template <typename T>
constexpr int element_code() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, __half>)
    return 8;
  else if constexpr (std::is_same_v<U, __nv_bfloat16>)
    return 9;
  else if constexpr (std::is_same_v<U, float>)
    return 10;
  else if constexpr (std::is_same_v<U, double>)
    return 11;
  else if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool> && sizeof(U) <= 8) {
    constexpr int width = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 2 : sizeof(U) == 4 ? 4 : 6;
    return width + (std::is_signed_v<U> ? 0 : 1);
  } else {
    return -1;
  }
}

}  // namespace detail

/// Sizes of a problem in the order of the kernel file's `size` directives: `{n}`, `{nx, ny}`. At most 8; no allocation.
class Sizes {
 public:
  Sizes() = default;
  Sizes(std::initializer_list<std::int64_t> values) {
    if (values.size() > values_.size()) throw std::invalid_argument("tuner::Sizes holds at most 8 sizes");
    for (const std::int64_t value : values) values_[count_++] = value;
  }
  std::size_t count() const { return count_; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  friend bool operator==(const Sizes& a, const Sizes& b) { return a.count_ == b.count_ && a.values_ == b.values_; }

 private:
  std::array<std::int64_t, 8> values_{};
  std::size_t count_ = 0;
};

/// The caller's choices besides element types, which follow from the pointers: `{{"operation", "sum"}}`.
using Choices = std::map<std::string, std::string>;

}  // namespace tuner
