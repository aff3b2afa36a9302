#pragma once
/// The facts about a GPU that people look up, as names and values with units, for `tune devices`.

#include <string>
#include <utility>
#include <vector>

namespace tuner::cuda {

/// One row each, in reading order. Creates no context. Throws Error, CudaError.
std::vector<std::pair<std::string, std::string>> device_report(int ordinal);

}  // namespace tuner::cuda
