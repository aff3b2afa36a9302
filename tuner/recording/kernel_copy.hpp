#pragma once
/// Copies a kernel with all its files, so that it stays the same kernel: results for the copy serve the original.

#include <filesystem>

namespace tuner {

struct KernelSpec;

/// Copies the kernel file of \p spec, its sources, its includes and its files of numbers below \p folder, and keeps
/// their relative places. Uses the texts in \p spec if it has them. Files named by an absolute path, or found by CPATH
/// or CPLUS_INCLUDE_PATH, stay where they are. Returns the path of the kernel file relative to \p folder. Throws Error
/// when something cannot be read or written.
std::filesystem::path copy_kernel(const KernelSpec& spec, const std::filesystem::path& folder);

}  // namespace tuner
