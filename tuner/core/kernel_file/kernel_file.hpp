#pragma once
/// Reads kernel files: CUDA C++ with `#pragma tuner` lines (docs/kernel-files.md). Only these lines are parsed; the
/// rest of the file is left to the compiler.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner {

/// Throws SpecError with line and column, and a suggestion for misspelt directives and names. \p sources: the files
/// that the `source` directives name, in order, if they were read before (ProgramSpec::sources). Others are read now.
KernelSpec parse_kernel_file(std::string_view text, std::string file_name, std::vector<SourceFile> sources = {});
/// The same for the text of a built-in kernel, in two thirds of the time. Such a file was validated by the tests, and
/// it includes no file of its folder: neither is looked at again.
KernelSpec parse_built_in_kernel_file(std::string_view text, std::string file_name);
/// Throws Error if \p path is not a readable regular file of at most kMaxKernelFileBytes, SpecError as above.
KernelSpec read_kernel_file(const std::filesystem::path& path);

/// For each line of \p spec's file that was probably meant to be a directive and is ignored, such as
/// `#pragma tune kernel`: a sentence with its place.
std::vector<std::string> ignored_directives(const KernelSpec& spec);

}  // namespace tuner
