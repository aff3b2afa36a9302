#pragma once
/// Reads NVRTC's program log, in the formats of CUDA 11.4 to 13. With `--ptxas-options=-v` it contains each kernel's
/// resources.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/host_code.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner::cuda {

/// The resources of each kernel, by its lowered name. Kernels that the log does not mention are absent.
std::map<std::string, Resources, std::less<>> resources_in_log(std::string_view log);

/// The first error: `mine.cu:14: expected a ";"` for one of the front end, the unchanged line for one of ptxas. The
/// first line, possibly empty, when nothing looks like an error. If the error points at one of \p macros, the result
/// says so.
std::string first_error(std::string_view log, const std::vector<std::string_view>& macros = {});

/// All errors of the front end, with the places that instantiate what they refuse.
std::vector<RefusedCode> refused_code(std::string_view log);

/// \p log without ptxas's resource lines.
std::string without_resource_lines(std::string_view log);

}  // namespace tuner::cuda
