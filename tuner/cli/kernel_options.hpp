#pragma once
/// The kernel and the problems that a command is about: `--kernel`, `--config`, `--size`, `--type` and `--choice`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/options.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/problem_size.hpp>

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
/// \p base with the values in \p text, as `--config` has them: `block_x=32 vector=4`. Throws UsageError for a name that
/// the kernel does not have, and for a parameter that has a value in neither.
Configuration read_configuration(const KernelSpec& spec, const std::string& text, Configuration base);

/// On the host backend default sizes shrink until one run moves no more than this: each thread of a kernel costs about
/// twenty nanoseconds there.
inline constexpr std::int64_t kHostDefaultBytes = std::int64_t{16} << 20;

struct ProblemOptions {
  std::vector<std::string> sizes;    ///< each `nx=4096,ny=4096`, or several separated by `;`
  std::vector<std::string> types;    ///< each `float`, or several separated by commas
  std::vector<std::string> choices;  ///< each `operation=sum`, `operation=sum,max` or `operation=sum,finish=atomic`
  std::int64_t host_bytes = kHostDefaultBytes;
};

ProblemOptions problem_options(const Given& given);

struct Problems {
  std::vector<ProblemSize> list;  ///< every size with every combination of choices, complete
  /// Sizes that nobody gave were made smaller for the host backend.
  bool shrunk = false;
  /// No two of the sizes that were asked for name the same: perhaps they were meant for one problem.
  bool may_be_one = false;
};

/// Throws UsageError for what cannot be read and for an unknown size, choice or type (with a suggestion).
Problems select_problems(const KernelSpec& spec, const ProblemOptions& options, const Device& device);

/// The same where \p command looks at one problem alone. Throws UsageError for several.
ProblemSize select_problem(const KernelSpec& spec, const ProblemOptions& options, const Device& device,
                           std::string_view command);

}  // namespace tuner::cli
