#pragma once
/// A first kernel file for a kernel that has none.

#include <filesystem>
#include <string>
#include <vector>

#include <tuner/convert/conversion.hpp>

namespace tuner::convert {

/// The names of the `__global__` functions of \p text, each once.
std::vector<std::string> kernels_of(const std::string& text);

/// Directives beside the untouched \p text of \p file, for its \p kernel: buffers, scalars and sizes from the kernel's
/// arguments, the shape of its block as parameters. The rest is left, as questions. \p folder: see convert_file().
/// Throws Error if there is no such kernel, or if kernel files cannot have the file's name.
Conversion first_file(const std::string& text, const std::string& kernel, const std::filesystem::path& file,
                      const std::filesystem::path& folder);

}  // namespace tuner::convert
