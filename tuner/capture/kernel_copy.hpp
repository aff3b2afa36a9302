#pragma once
/// A kernel's text and all that it is read with, put elsewhere so that it stays the same kernel: what is stored for the
/// copy is what the original is served with.

#include <filesystem>

#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// Writes the kernel file of \p spec, its sources, what they include and its files of numbers below \p folder, where
/// they stand as they do to each other, from the texts that \p spec has where it has them. What the file names by an
/// absolute path, and what is found by CPATH, stays where it is. Answers with the path of the kernel file, relative to
/// \p folder. Throws Error for what cannot be read or written.
std::filesystem::path copy_kernel(const KernelSpec& spec, const std::filesystem::path& folder);

}  // namespace tuner
