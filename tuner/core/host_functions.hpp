#pragma once
/// Kernels' files as they are found hold more than kernels: `main()`, functions that allocate, launch and print. No
/// device code can call these, and what compiles kernels at run time cannot compile them.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// \p text with its host functions as blanks; lines and directives stay where they are. A host function is one outside
/// of classes that says neither `__global__` nor `__device__` nor `constexpr`, in words or by a macro that \p text or
/// one of \p headers defines. Declarations of variables by standard containers, files and streams go with them. Reads
/// what a compiler takes; of anything else it may take away too much, so that only its effect is of use: whether the
/// rest compiles.
std::string without_host_functions(std::string_view text, const std::vector<std::string_view>& headers = {});

}  // namespace tuner
