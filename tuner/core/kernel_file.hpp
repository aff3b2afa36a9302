#pragma once
/// Reads kernel files: CUDA C++ with `#pragma tuner` lines (docs/kernel-files.md). Not a C++ parser: everything
/// else in the file is left to the compiler.

#include <filesystem>
#include <string>
#include <string_view>

#include <tuner/core/kernel_spec.hpp>

namespace tuner {

/// Throws SpecError with line and column, and a suggestion for misspelt directives and names. \p sources: the files
/// that its `source` directives name, in order, where they are known already (KernelSpec::sources); else they are read.
KernelSpec parse_kernel_file(std::string_view text, std::string file_name, std::vector<SourceFile> sources = {});
/// Throws Error when \p path is no regular file of at most kMaxKernelFileBytes that can be read, SpecError as above.
KernelSpec read_kernel_file(const std::filesystem::path& path);

}  // namespace tuner
