#pragma once
/// How the contents of a buffer are made, read and compared: what backends do for a kernel without knowing it.

#include <tuner/core/values/element_type.hpp>

namespace tuner {

/// Numbers for a buffer; the same on every backend for the same seed.
struct Fill {
  enum class Kind { uniform, constant, iota };
  Kind kind = Kind::uniform;
  double low = 0, high = 1;  ///< uniform: [low, high), rounded down for integers; constant: low

  /// The fill of a buffer without one: uniform [0, 1) for floating types, [0, 10) for integers.
  static Fill by_default(ElementType type) { return {Kind::uniform, 0, info(type).is_floating ? 1.0 : 10.0}; }
};

/// The way in which a texture object reads ("Texture Object API", CUDA C++ Programming Guide).
struct TextureReading {
  enum class Outside { clamp, border, wrap, mirror };
  Outside outside = Outside::clamp;  ///< reads outside give the nearest element, zero, or the picture repeated
  bool linear = false;               ///< interpolates; otherwise reads the element nearest to the coordinates
  bool normalized = false;           ///< coordinates are in [0, 1)

  bool as_float = false;  ///< integers are read as numbers from 0, or -1, to 1
  bool fetched = false;   ///< one dimension, in linear memory, read only by tex1Dfetch
};

/// Outputs are right if |actual - expected| <= absolute + relative * |expected|. Integers are compared exactly.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  /// They may be the next number of their type: the error is at most `relative` of the smaller magnitude, or
  /// `absolute`.
  bool is_place = false;
};

}  // namespace tuner
