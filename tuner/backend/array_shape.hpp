#pragma once
/// The elements of textures and surfaces. Every backend refuses those that GPUs cannot have, with the same messages.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include <tuner/core/kernel/buffer_contents.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/error.hpp>

namespace tuner {

/// The shape of a DeviceArray.
struct ArrayShape {
  ElementType type = ElementType::float32;
  int components = 1;                   ///< 1, 2 or 4
  std::array<std::size_t, 3> extent{};  ///< elements in x, y and z; 0: there is no such dimension

  bool is_fetched = false;    ///< linear memory, read only by tex1Dfetch
  bool has_surfaces = false;  ///< can be a surface; devices limit the extent of such arrays more

  std::size_t element_bytes() const { return static_cast<std::size_t>(components) * info(type).bytes; }
  std::size_t row_bytes() const { return extent[0] * element_bytes(); }
  std::size_t rows() const { return std::max<std::size_t>(extent[1], 1); }
  std::size_t layers() const { return std::max<std::size_t>(extent[2], 1); }
  std::size_t elements() const { return extent[0] * rows() * layers(); }
  std::size_t bytes() const { return elements() * element_bytes(); }
  friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};

/// Throws Error if textures and surfaces cannot have such elements.
inline void require_elements(const ArrayShape& shape) {
  const ElementTypeInfo& type = info(shape.type);
  const bool has_format = !type.is_floating || shape.type == ElementType::half || shape.type == ElementType::float32;
  if (type.bytes > 4 || !has_format)
    throw Error("textures and surfaces hold integers of 8, 16 and 32 bits, half and float, not " +
                std::string(type.name));
  if (shape.components != 1 && shape.components != 2 && shape.components != 4)
    throw Error("textures and surfaces have elements of 1, 2 or 4 numbers");
}

/// Throws Error if such elements cannot be read in this way.
inline void require_readable(const ArrayShape& shape, const TextureReading& reading) {
  const ElementTypeInfo& type = info(shape.type);
  if (reading.as_float && (type.is_floating || type.bytes > 2))
    throw Error("'as_float' is for integers of 8 and 16 bits, not for " + std::string(type.name));
  if (reading.linear && !type.is_floating && !reading.as_float)
    throw Error("'linear' interpolates floating numbers, or integers of 8 and 16 bits with 'as_float', not " +
                std::string(type.name));
  if (reading.fetched != shape.is_fetched)
    throw Error("linear memory is only for 'fetched', and 'fetched' only for linear memory");
  if (reading.fetched && (reading.linear || reading.normalized))
    throw Error("tex1Dfetch supports neither 'linear' nor 'normalized'");
}

/// Throws Error if \p shape cannot be a surface.
inline void require_surface(const ArrayShape& shape) {
  if (shape.is_fetched || !shape.has_surfaces) throw Error("such memory cannot be a surface");
}

}  // namespace tuner
