#pragma once
/// Tensor maps, through which kernels copy boxes of an array in bulk (CUDA's CUtensorMap): what describes one, and the
/// bytes that a kernel gets.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <tuner/core/values/element_type.hpp>

namespace tuner {

/// A tensor map without its address. Dimensions are in the order of C: the last one is contiguous.
struct TensorMapShape {
  static constexpr std::size_t kMostDimensions = 5;
  /// Places in `numbers`. The first four have a number for each dimension, all in elements; the others are bytes.
  enum Place : std::size_t {
    extent = 0,
    box = 5,
    stride = 10,
    step = 15,
    swizzle = 20,
    interleave,
    promotion,
    kNumbers
  };

  ElementType type{};
  bool is_tf32 = false;         ///< elements of 4 bytes are rounded to tf32 as they are copied
  bool fills_with_nan = false;  ///< elements outside are NaN instead of zero
  std::size_t rank = 1;         ///< how many dimensions it has
  std::array<std::int64_t, kNumbers> numbers{};

  friend bool operator==(const TensorMapShape&, const TensorMapShape&) = default;
};

/// For messages: `half[4096, 1024] strides 1024 box 64, 64 swizzle 128`.
std::string text(const TensorMapShape& shape);

/// A CUtensorMap.
struct alignas(128) TensorMap {
  std::array<std::byte, 128> bytes{};
};

/// The address of a tensor map's memory is a multiple of so many bytes.
constexpr std::int64_t tensor_map_alignment(bool is_interleaved) { return is_interleaved ? 32 : 16; }

}  // namespace tuner
