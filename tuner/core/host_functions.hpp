#pragma once
/// Removes host code from a kernel's file: `main()`, functions that allocate, launch and print. Compilers that work at
/// run time cannot compile such functions, and device code cannot call them.

#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// \p texts, a kernel's source and the headers of its author, with blanks in place of their host functions; lines and
/// directives keep their places. A host function stands outside of classes and has neither `__global__` nor
/// `__device__` nor `constexpr`, also not in a macro that one of \p texts defines. Variables that are standard
/// containers, files or streams become blanks too. Expects valid C++; of other text it may remove too much, so check
/// whether the rest compiles. \p needed: expressions. If there are some, kernels that they do not name become blanks
/// too. \p has_library: types and variables of the C++ library stay.
std::vector<std::string> without_host_functions(const std::vector<std::string_view>& texts,
                                                const std::vector<std::string>& needed = {}, bool has_library = false);

}  // namespace tuner
