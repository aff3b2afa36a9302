#pragma once
/// Kernels of other tuners as kernel files: directives beside the untouched kernel.

#include <filesystem>
#include <string>
#include <vector>

namespace tuner::convert {

struct Conversion {
  std::string text;               ///< the kernel file
  std::vector<std::string> left;  ///< what is to be finished, or looked at, by hand: a sentence each, also in the text
  std::filesystem::path source = {};  ///< the file that the text names as the kernel's source; empty: the text has it
};

/// From a T1 description (the schema 1.0.0, and what the public hub of benchmarks adds to it), told by an object
/// "ConfigurationSpace", from a Python script that calls Kernel Tuner's tune_kernel, or from Kernel Launcher's
/// annotated kernels (`#pragma kernel`), captured launches ("config_space") and wisdom ("tunable_parameters"). \p
/// folder: where the kernel file will lie, to which the paths in it are relative. Nothing is run, and nothing but \p
/// file and the kernel's source is read. Throws tuner::Error where nothing can be made of the file.
Conversion convert_file(const std::filesystem::path& file, const std::filesystem::path& folder);

/// The same of the text of \p file.
Conversion convert_text(const std::string& text, const std::filesystem::path& file,
                        const std::filesystem::path& folder);

/// Throws tuner::Error when a kernel file written to \p output would replace \p file, from which \p made was made, or
/// the kernel's source, also where they go by other names.
void require_other_file(const std::filesystem::path& output, const std::filesystem::path& file, const Conversion& made);

}  // namespace tuner::convert
