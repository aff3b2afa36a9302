#pragma once
/// Copies of buffers in host memory. Finds the numbers to compare (`compare c when i < n`), and compares them here if
/// they are too scattered for the device. Shows the outputs of a kernel to a reader. Pure.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/expression.hpp>

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

/// The numbers of a buffer from `begin` to `end`, without `end`.
struct NumberRun {
  std::size_t begin = 0, end = 0;
};

/// The runs among \p count numbers whose element `i` satisfies \p when, in order. An element has \p components numbers.
/// Throws EvaluationError if \p when has no value for an element.
std::vector<NumberRun> runs_where(const Expression& when, std::size_t count, int components, const Bindings& names);

/// The number of numbers in \p runs.
std::size_t count_of(const std::vector<NumberRun>& runs);

/// Like Backend::compare(), for \p runs of two buffers of the same type and size.
Comparison compare_on_host(const std::vector<NumberRun>& runs, const HostBuffer& actual, const HostBuffer& expected,
                           const Tolerance& tolerance);

}  // namespace tuner
