#pragma once
/// Removes redundant lines from kernel files. Internal to the room.

#include <functional>
#include <string>

#include <tuner/core/kernel_spec.hpp>

namespace tuner::convert {

/// \p text, a kernel file that \p read accepts, without the lines `instantiate`, `define`, `block` and `arguments` that
/// the kernel's own text implies. Throws whatever \p read throws for \p text.
std::string without_what_its_kernel_says(const std::string& text,
                                         const std::function<KernelSpec(const std::string&)>& read);

}  // namespace tuner::convert
