#pragma once
/// Facts about a GPU for `tune devices`: names, and values with units.

#include <string>
#include <utility>
#include <vector>

namespace tuner::cuda {

/// One row for each fact, in reading order. Creates no context. Throws Error, CudaError.
std::vector<std::pair<std::string, std::string>> device_report(int ordinal);

}  // namespace tuner::cuda
