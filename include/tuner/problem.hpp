#pragma once
/// Types that several public headers share: streams, sizes, work space, element types. C++17; needs no CUDA header. All
/// are plain values: any thread may copy and use them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <type_traits>

#include <tuner/error.hpp>
#include <tuner/version.hpp>

struct CUstream_st;    // cudaStream_t and CUstream point to it
struct __half;         // cuda_fp16.h
struct __nv_bfloat16;  // cuda_bf16.h
struct __nv_fp8_e4m3;  // cuda_fp8.h
struct __nv_fp8_e5m2;
struct __nv_fp8_e8m0;
struct __nv_fp6_e3m2;  // cuda_fp6.h
struct __nv_fp6_e2m3;
struct __nv_fp4_e2m1;  // cuda_fp4.h
struct __nv_fp4x2_e2m1;

namespace tuner {
inline namespace TUNER_ABI {

/// A cudaStream_t or CUstream, borrowed. Null (or 0) is the default stream. Nothing else converts to it, so a buffer in
/// its place does not compile. Ignored on the host backend, which is synchronous.
class Stream {
 public:
  constexpr Stream(CUstream_st* handle = nullptr) noexcept : handle_(handle) {}
  constexpr CUstream_st* handle() const noexcept { return handle_; }

 private:
  CUstream_st* handle_;
};

/// A number of elements, from any integer type. Throws Error above 2^63 - 1. Calls refuse negative sizes.
class Size {
 public:
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
  constexpr Size(T value) : value_(static_cast<std::int64_t>(value)) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) {
      if (value > static_cast<T>(std::numeric_limits<std::int64_t>::max())) {
        throw Error(ErrorCode::invalid_argument,
                    "tuner: a size of " + std::to_string(value) + " does not fit into 63 bits");
      }
    }
  }
  constexpr std::int64_t value() const noexcept { return value_; }

 private:
  std::int64_t value_;
};

/// The sizes of a problem in the order of the kernel file's `size` directives: `{n}`, `{nx, ny}`. Throws Error for more
/// than 8. Allocates nothing.
class Sizes {
 public:
  Sizes() = default;
  Sizes(std::initializer_list<Size> values) {
    for (const Size value : values) push_back(value);
  }
  void push_back(Size value) {
    if (count_ == values_.size()) throw Error(ErrorCode::invalid_argument, "tuner::Sizes holds at most 8 sizes");
    values_[count_++] = value.value();
  }
  std::size_t count() const noexcept { return count_; }
  std::int64_t operator[](std::size_t i) const noexcept { return values_[i]; }
  const std::int64_t* data() const noexcept { return values_.data(); }
  friend bool operator==(const Sizes& a, const Sizes& b) { return a.count_ == b.count_ && a.values_ == b.values_; }

 private:
  std::array<std::int64_t, 8> values_{};
  std::size_t count_ = 0;
};

/// The caller's device memory, which a call uses while it runs, instead of the library's. Any contents; aligned to 256
/// bytes, as cudaMalloc does. Two calls may share it if one ends before the other begins: on one stream, or in one
/// graph whose replays do not overlap.
struct Workspace {
  void* data = nullptr;   ///< null: use the library's
  std::size_t bytes = 0;  ///< at least the size that the call's query returns
};

/// The caller's choices, except element types, which follow from the pointers: `{{"operation", "sum"}}`.
using Choices = std::map<std::string, std::string>;

namespace detail {

/// The position of T in tuner's list of element types (tuner/core/values/element_type.hpp); -1: not an element type.
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
  else if constexpr (std::is_same_v<U, __nv_fp8_e4m3>)
    return 12;
  else if constexpr (std::is_same_v<U, __nv_fp8_e5m2>)
    return 13;
  else if constexpr (std::is_same_v<U, __nv_fp6_e3m2>)
    return 14;
  else if constexpr (std::is_same_v<U, __nv_fp6_e2m3>)
    return 15;
  else if constexpr (std::is_same_v<U, __nv_fp4_e2m1>)
    return 16;
  else if constexpr (std::is_same_v<U, __nv_fp4x2_e2m1>)
    return 17;
  else if constexpr (std::is_same_v<U, __nv_fp8_e8m0>)
    return 18;
  else if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool> && sizeof(U) <= 8) {
    constexpr int width = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 2 : sizeof(U) == 4 ? 4 : 6;
    return width + (std::is_signed_v<U> ? 0 : 1);
  } else {
    return -1;
  }
}

/// One launch argument: a pointer with the code of its element type, a number, or a struct. A struct has its address in
/// `pointer` and its size in `integer`.
struct LaunchArgument {
  enum class Kind : std::uint8_t { pointer, floating, signed_integer, unsigned_integer, structure };
  Kind kind = Kind::pointer;
  bool is_const = false;     ///< a pointer to const, which cannot be an output
  std::int8_t element = -1;  ///< a pointer's element type; -1: void or a struct
  const void* pointer = nullptr;
  double number = 0;          ///< floating
  std::uint64_t integer = 0;  ///< the bits of an integer
};

/// \p value must live as long as the result, which points to a struct.
template <typename T>
LaunchArgument launch_argument(const T& value) {
  LaunchArgument argument;
  if constexpr (std::is_null_pointer_v<T>) {
    (void)value;  // a null pointer to elements of any type
  } else if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_pointer_t<T>;
    argument.pointer = value;
    argument.is_const = std::is_const_v<Pointee>;
    if constexpr (!std::is_void_v<Pointee>) {
      argument.element = element_code<Pointee>();
      // Checked only in this case: __half is an incomplete type without cuda_fp16.h.
      if constexpr (element_code<Pointee>() < 0)
        static_assert(std::is_class_v<Pointee> && std::is_trivially_copyable_v<Pointee>,
                      "a pointer is to numbers, or to structs and vectors of them");
    }
  } else if constexpr (std::is_class_v<T> && element_code<T>() >= 0) {  // half, for example
    argument.kind = LaunchArgument::Kind::floating;
    argument.number = static_cast<double>(static_cast<float>(value));
  } else if constexpr (std::is_class_v<T>) {
    static_assert(std::is_trivially_copyable_v<T>, "a struct that a kernel takes by value holds plain data");
    argument.kind = LaunchArgument::Kind::structure;
    argument.pointer = &value;
    argument.integer = sizeof(T);
  } else {
    static_assert(std::is_arithmetic_v<T>, "kernel arguments are pointers, numbers and structs");
    if constexpr (std::is_floating_point_v<T>) {
      argument.kind = LaunchArgument::Kind::floating;
      argument.number = static_cast<double>(value);
    } else {
      argument.kind =
          std::is_signed_v<T> ? LaunchArgument::Kind::signed_integer : LaunchArgument::Kind::unsigned_integer;
      argument.integer = static_cast<std::uint64_t>(value);
    }
  }
  return argument;
}

}  // namespace detail
}  // namespace TUNER_ABI
}  // namespace tuner

#ifndef TUNER_OWN_BUILD  // which looks beside its programs
#ifndef TUNER_INSTALLATION_PREFIX
#define TUNER_INSTALLATION_PREFIX __FILE__ "/../../.."  // of include/tuner/problem.hpp
#endif
/// Where a program's copy of tuner finds the worker and the shipped wisdom. The package may be moved: it is where these
/// headers were when the program was compiled.
extern "C" __attribute__((used, visibility("default"))) inline const char* tuner_installation_prefix() {
  return TUNER_INSTALLATION_PREFIX;
}
#endif
