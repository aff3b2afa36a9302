#pragma once
/// Reads NVRTC's program log: the numbers that `--ptxas-options=-v` prints for each kernel, the first error, and the
/// text for people. Knows the formats of CUDA 11.4 to 13.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/outcome.hpp>

namespace tuner::cuda {

/// By lowered name. Kernels that the log does not mention are absent.
std::map<std::string, Resources, std::less<>> resources_in_log(std::string_view log);

/// The first error: `mine.cu:14: expected a ";"` for one of the front end, the unchanged line for one of ptxas. The
/// first line, possibly empty, when nothing looks like an error. Says so if it points at one of \p macros.
std::string first_error(std::string_view log, const std::vector<std::string_view>& macros = {});

/// \p log without ptxas's resource lines.
std::string without_resource_lines(std::string_view log);

}  // namespace tuner::cuda
