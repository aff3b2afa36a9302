#pragma once
/// Kernel files without what goes without saying. Internal to the room.

#include <functional>
#include <string>

#include <tuner/core/kernel_spec.hpp>

namespace tuner::convert {

/// \p text, a kernel file that \p read takes, without the lines of its kernel that say no more than the kernel's own
/// text does: `instantiate`, `define`, `block` and `arguments`. Throws what \p read throws of \p text.
std::string without_what_its_kernel_says(const std::string& text,
                                         const std::function<KernelSpec(const std::string&)>& read);

}  // namespace tuner::convert
