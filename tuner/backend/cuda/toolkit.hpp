#pragma once
/// Where CUDA toolkits and the libraries in them lie on this machine. Looks at folders only; nothing is loaded.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cuda {

/// Folders of a toolkit that hold its libraries.
inline constexpr const char* kLibraryFolders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

/// The value of an environment variable; empty when it is not set.
std::string environment(const char* name);

/// What lies in \p parent with a name that starts with \p prefix, the highest name first.
std::vector<std::filesystem::path> entries_starting_with(const std::filesystem::path& parent, std::string_view prefix);

/// $CUDA_PATH, $CUDA_HOME, /usr/local/cuda*, best first. They need not exist.
std::vector<std::filesystem::path> toolkit_folders();

/// \p packages ("nvidia/cu13/lib") below each Python's folder of packages, best first. They need not exist.
std::vector<std::filesystem::path> python_package_folders(const std::vector<const char*>& packages);

}  // namespace tuner::cuda
