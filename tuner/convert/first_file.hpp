#pragma once
/// A first kernel file for a kernel that has none.

#include <filesystem>
#include <string>
#include <vector>

namespace tuner::convert {

struct FirstFile {
  std::string text;                    ///< the kernel file
  std::vector<std::string> questions;  ///< for its author, also in the text
};

/// The names of the `__global__` functions of \p text, each once.
std::vector<std::string> kernels_of(const std::string& text);

/// The files that \p text of \p file includes and that have such functions, as their paths follow from \p file.
std::vector<std::string> included_files_with_kernels(const std::string& text, const std::filesystem::path& file);

/// Directives beside the untouched \p text of \p file, for its \p kernel: buffers, scalars and sizes from the kernel's
/// arguments, the shape of its block as parameters. The rest is left, as questions. \p folder: of the
/// kernel file; paths in the text are relative to it. Throws Error if there is no such kernel, or if kernel files
/// cannot have the file's name.
FirstFile first_file(const std::string& text, const std::string& kernel, const std::filesystem::path& file,
                     const std::filesystem::path& folder);

}  // namespace tuner::convert
