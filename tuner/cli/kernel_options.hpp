#pragma once
/// The kernel and the problem sizes that a command is about.

#include <optional>

#include <tuner/cli/options.hpp>
#include <tuner/cli/problems.hpp>

namespace tuner::cli {

/// The message of a command that needs a kernel.
inline constexpr const char* kWhichKernel =
    "which kernel? Give its name or its file, FILE.cu; `tune list` shows the known ones";
/// Throws UsageError for a name that no kernel has, and tuner::Error for a file that is no kernel.
KernelSpec find_kernel(const std::string& name_or_path);
/// The kernel of `--kernel`. Throws UsageError without it, else as find_kernel().
KernelSpec chosen_kernel(const Given& given);
/// The kernel that is called \p name, or the one in the file \p name. Nothing if only a database knows that name.
/// Throws tuner::Error for a file that is no kernel.
std::optional<KernelSpec> kernel_named(const std::string& name);
ProblemOptions problem_options(const Given& given);
/// \p base with the values in \p text, as `--config` has them: `block_x=32 vector=4`. Throws UsageError for a name that
/// the kernel does not have, and for a parameter that has a value in neither.
Configuration read_configuration(const KernelSpec& spec, const std::string& text, Configuration base);

}  // namespace tuner::cli
