#pragma once
/// Removes host code from a kernel's file: `main()`, functions that allocate, launch and print. Compilers that work at
/// run time cannot compile such functions, and device code cannot call them.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// \p text with blanks in place of its host functions; lines and directives keep their places. A host function stands
/// outside of classes and has neither `__global__` nor `__device__` nor `constexpr`, also not in a macro that \p text
/// or one of \p headers defines. Variables that are standard containers, files or streams become blanks too. Expects
/// valid C++; of other text it may remove too much, so check whether the rest compiles. \p needed: expressions. If
/// there are some, kernels that they do not name become blanks too.
std::string without_host_functions(std::string_view text, const std::vector<std::string_view>& headers = {},
                                   const std::vector<std::string>& needed = {});

}  // namespace tuner
