#pragma once
/// The part of validate() for launches. Private to this room.

#include <tuner/core/kernel_file/validate_kernel.hpp>

namespace tuner {

/// Checks the launches of the kernel, of its reference and before each run.
void validate_launches(const Checks& checks);

}  // namespace tuner
