#pragma once
/// The text that NVRTC gets, and properties of a kernel's texts that decide how it is compiled.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/included_file.hpp>

namespace tuner::cuda {

/// \p source, called \p name, with definitions of \p macros, each `NAME=VALUE`, at the place \p at. Given as options,
/// they would also be replaced in NVRTC's own headers, which it reads first. If \p is_precompiled, a precompiled header
/// ends at \p at.
std::string with_macros(const std::string& source, const std::string& name, const std::vector<std::string>& macros,
                        std::size_t at = 0, bool is_precompiled = true);

/// The place in \p source, a text with the headers texts[1], texts[2] …, after the includes at its beginning. 0 if
/// there are none, or if they depend on one of \p macros.
std::size_t end_of_headers(const std::string& source, const std::vector<IncludedFile>& texts,
                           const std::vector<std::string_view>& macros);

/// Whether one of \p texts has designators. Like g++, nvcc accepts `{.x = 1}` in C++17; NVRTC does not.
bool has_designators(const std::vector<IncludedFile>& texts);

/// Whether one of \p texts names one of the operators that CUB 3 left out.
bool names_operators_of_cub(const std::vector<IncludedFile>& texts);

/// Whether NVRTC certainly refuses \p source as it is: it has a main(), or a function that launches kernels.
bool is_program(const std::string& source);

}  // namespace tuner::cuda
