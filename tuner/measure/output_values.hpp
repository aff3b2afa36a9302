#pragma once
/// Copies of buffers in host memory, and the outputs of a kernel as a reader wants to see them. Pure.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/element_type.hpp>

namespace tuner {

/// A copy of one buffer in host memory.
struct HostBuffer {
  ElementType type = ElementType::float32;
  std::size_t count = 0;         ///< elements
  std::vector<std::byte> bytes;  ///< count * size of type
};

/// Copies of output buffers, by name.
using HostBuffers = std::map<std::string, HostBuffer>;

/// Element \p index of \p buffer; 64-bit integers are rounded.
double element(const HostBuffer& buffer, std::size_t index);
/// The same as text, with as many digits as distinguish it from other values of its type: `-7`, `0.1`, `nan`.
std::string element_text(const HostBuffer& buffer, std::size_t index);

/// The largest |actual - expected| of all elements, relative to the largest |expected|, so that elements near zero do
/// not dominate; infinity if a NaN meets a number. Precondition: equal counts.
double largest_error(const HostBuffer& actual, const HostBuffer& expected);

/// The first elements of an output.
struct OutputValues {
  std::string buffer;
  std::size_t count = 0;           ///< of all elements
  std::vector<std::string> first;  ///< element_text() of the first few
  std::optional<double> error;     ///< largest_error(), if the expected values are known
};

/// One entry for each of \p actual, with at most \p shown elements. \p expected: empty, or the same buffers.
std::vector<OutputValues> output_values(const HostBuffers& actual, const HostBuffers& expected, std::size_t shown = 4);

}  // namespace tuner
