#pragma once
/// The files of numbers that a kernel file names.

#include <filesystem>
#include <string>
#include <vector>

namespace tuner {

struct KernelSpec;

/// The location of a file that \p spec names as \p path. A relative path starts from the folder of the kernel file.
std::filesystem::path beside(const KernelSpec& spec, const std::string& path);
/// The files that inputs of \p spec are filled from, as written.
std::vector<std::string> fill_files(const KernelSpec& spec);
/// The files of numbers that \p spec names, each once. Measurements depend on their contents.
std::vector<std::filesystem::path> data_files(const KernelSpec& spec);

}  // namespace tuner
