#pragma once
/// The names that a kernel's expressions may use, and their meanings. Private to this room.

#include <tuner/core/expression_tree.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/words.hpp>

namespace tuner {

/// Adds the device's limits under the names of docs/kernel-files.md.
void bind_device_limits(Bindings& bindings, const DeviceLimits& limits);

/// The names for expressions of \p spec: sizes, choices, types, device limits and parameters.
KnownNames known_names(const KernelSpec& spec);

}  // namespace tuner
