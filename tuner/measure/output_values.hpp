#pragma once
/// What a kernel left in its outputs, as a reader wants to see it. Pure.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/measure/host_reference.hpp>

namespace tuner {

/// Copies of output buffers, by name.
using HostBuffers = std::map<std::string, HostBuffer>;

/// Element \p index of \p buffer; 64-bit integers are rounded.
double element(const HostBuffer& buffer, std::size_t index);
/// The same in as many digits as tell it from its neighbours: `-7`, `0.1`, `nan`.
std::string element_text(const HostBuffer& buffer, std::size_t index);

/// The largest |actual - expected| over all elements, relative to the largest |expected|, so that elements near zero
/// do not hide the others; infinity when a NaN meets a number. Precondition: equal counts.
double largest_error(const HostBuffer& actual, const HostBuffer& expected);

/// The first elements of an output.
struct OutputValues {
  std::string buffer;
  std::size_t count = 0;           ///< elements in all
  std::vector<std::string> first;  ///< element_text() of the first few
  std::optional<double> error;     ///< largest_error(), where there is something to compare with
};

/// One entry for each of \p actual, with at most \p shown elements. \p expected: empty, or the same buffers.
std::vector<OutputValues> output_values(const HostBuffers& actual, const HostBuffers& expected, std::size_t shown = 4);

}  // namespace tuner
