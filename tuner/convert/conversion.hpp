#pragma once
/// Converts kernels of other tuners to kernel files: directives beside the unchanged kernel.

#include <filesystem>
#include <string>
#include <vector>

namespace tuner::convert {

struct Conversion {
  std::string text;                   ///< the kernel file
  std::vector<std::string> left;      ///< what a person must finish or check, one sentence each; also in the text
  std::filesystem::path source = {};  ///< the kernel's source file that the text names; empty: it has the source
};

/// Converts one of these files:
/// - A T1 description (schema 1.0.0 and the additions of the public hub of benchmarks). It has "ConfigurationSpace".
/// - A Python script that calls Kernel Tuner's tune_kernel.
/// - Kernel Launcher's annotated kernels (`#pragma kernel`), captured launches ("config_space") or wisdom
///   ("tunable_parameters").
/// \p folder: the folder of the kernel file; paths in the text are relative to it. Runs nothing. Reads only \p file and
/// the kernel's source. Throws tuner::Error when the file cannot be converted.
Conversion convert_file(const std::filesystem::path& file, const std::filesystem::path& folder);

/// The same for \p text, the contents of \p file.
Conversion convert_text(const std::string& text, const std::filesystem::path& file,
                        const std::filesystem::path& folder);

/// Throws tuner::Error if writing a kernel file to \p output would replace \p file, the input of \p made, or the
/// kernel's source, even under other names.
void require_other_file(const std::filesystem::path& output, const std::filesystem::path& file, const Conversion& made);

}  // namespace tuner::convert
