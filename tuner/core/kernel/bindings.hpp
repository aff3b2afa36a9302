#pragma once
/// The names that expressions of a kernel may use, with their values for a problem, a device and a configuration; and
/// the numbers that a kernel file gives as expressions.

#include <cstdint>

#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

struct DeviceLimits;
class Expression;
struct KernelSpec;
struct ProblemSize;
struct Tolerance;

/// The names that expressions of \p spec may use, with their values: sizes, choices and device limits (`warp_size`,
/// `sm_count`, `max_threads_per_block`, `max_shared_bytes`, `cc`, …; docs/kernel-files.md).
Bindings bindings(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);
/// The same with the values of \p configuration added.
Bindings bindings(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                  const Configuration& configuration);
/// Adds the limits of a device under the names of docs/kernel-files.md.
void bind_device_limits(Bindings& bindings, const DeviceLimits& limits);

/// \p amount (`bytes`, `flops` or `accumulates` of \p spec) for \p size. Throws EvaluationError with its place if its
/// evaluation fails or gives a negative number.
std::int64_t evaluate_amount(const KernelSpec& spec, const Expression& amount, const ProblemSize& size,
                             const DeviceLimits& limits);

/// The largest number of launches from the device that \p configuration has pending at once; 0 for a kernel that makes
/// none. Precondition: why_invalid() finds no reason.
std::int64_t pending_device_launches(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                     const Configuration& configuration);

/// The kernel's tolerance, or u * (16 + sqrt(terms)) for floating types. The rounding errors of a sum grow with the
/// square root of its number of terms (Higham and Mary, "A new approach to probabilistic rounding error analysis",
/// 2019).
Tolerance tolerance_for(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits, ElementType type);

}  // namespace tuner
