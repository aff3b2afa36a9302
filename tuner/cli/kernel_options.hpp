#pragma once
/// The kernel and the problem sizes that `explain`, `occupancy` and their kin are asked about.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <tuner/cli/options.hpp>
#include <tuner/cli/problems.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner::cli {

/// `--kernel`, `--template-path`, `--size`, `--type`, `--choice`.
void add_kernel_options(Options& options);
/// Throws UsageError without `--kernel`, and tuner::Error when there is no such kernel.
KernelSpec chosen_kernel(const Given& given);
/// The kernel that is called \p name now, or is the file of that name; nothing when only a database knows it. Throws
/// tuner::Error for a file that is no kernel.
std::optional<KernelSpec> kernel_named(const std::string& name);
ProblemOptions problem_options(const Given& given);
/// \p base with what \p text (`block_x=32 vector=4`, of `--config`) names replaced. Throws UsageError for a name the
/// kernel does not have, and where neither gives a parameter its value.
Configuration read_configuration(const KernelSpec& spec, const std::string& text, Configuration base);
std::vector<std::filesystem::path> template_path(const Given& given);

}  // namespace tuner::cli
