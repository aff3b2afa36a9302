#pragma once
/// Outputs that are compared in part (`compare c when i < n`): which numbers of them, and how they are compared where
/// they lie too scattered to do so on the device. Pure.

#include <cstddef>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/measure/host_reference.hpp>

namespace tuner {

/// Numbers of a buffer from `begin` up to, but without, `end`.
struct NumberRun {
  std::size_t begin = 0, end = 0;
};

/// Those of \p count numbers whose element `i` meets \p when, in order; an element is \p components of them. Throws
/// EvaluationError where \p when has no answer.
std::vector<NumberRun> runs_where(const Expression& when, std::size_t count, int components, const Bindings& names);

/// Numbers in \p runs.
std::size_t count_of(const std::vector<NumberRun>& runs);

/// As Backend::compare(), of \p runs of two buffers of one type and size.
Comparison compare_on_host(const std::vector<NumberRun>& runs, const HostBuffer& actual, const HostBuffer& expected,
                           const Tolerance& tolerance);

}  // namespace tuner
