#pragma once
/// Outputs that are compared in part (`compare c when i < n`). Finds the numbers to compare, and compares them on the
/// host if they are too scattered for the device. Pure.

#include <cstddef>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

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
