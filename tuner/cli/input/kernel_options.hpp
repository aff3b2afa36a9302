#pragma once
/// The kernel, problem sizes and device that a command is about, and the limits and options of a search.

#include <optional>

#include <tuner/cli/input/options.hpp>
#include <tuner/cli/input/problems.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/objective.hpp>

namespace tuner::cli {

/// The message of a command that needs a kernel.
inline constexpr const char* kWhichKernel =
    "which kernel? Give its name or its file, FILE.cu; `tune list` shows the known ones";
/// Throws UsageError for an unknown name, and tuner::Error for a file without a kernel.
KernelSpec find_kernel(const std::string& name_or_path);
/// The kernel of `--kernel`. Throws UsageError without it, else as find_kernel().
KernelSpec chosen_kernel(const Given& given);
/// The kernel that is called \p name, or the one in the file \p name. Nothing if only a database knows that name.
/// Throws tuner::Error for a file without a kernel.
std::optional<KernelSpec> kernel_named(const std::string& name);
/// Kernels by the names that databases have; each is read once. A stored name is data: it is never opened as a path.
class KernelsByName {
 public:
  /// \p known: a kernel that is read already; nothing: none.
  explicit KernelsByName(std::optional<KernelSpec> known = std::nullopt);
  /// Null if only a database knows \p name.
  const KernelSpec* find(const std::string& name);
  /// The names for which find() was null.
  std::vector<std::string> unknown() const;

 private:
  std::map<std::string, std::optional<KernelSpec>> kernels_;
};

ProblemOptions problem_options(const Given& given);
/// \p base with the values in \p text, as `--config` has them: `block_x=32 vector=4`. Throws UsageError for a name that
/// the kernel does not have, and for a parameter that has a value in neither.
Configuration read_configuration(const KernelSpec& spec, const std::string& text, Configuration base);

/// `--budget`, `--trials`, `--target` and `--until-unlikely`. Throws UsageError.
Budget read_budget(const Given& given, const Objective& objective = {});
/// `--option`. Throws UsageError.
std::map<std::string, double> read_strategy_options(const Given& given);
/// `--seed`. Throws UsageError.
std::uint64_t read_seed(const Given& given);

/// `--as`. Throws UsageError.
Use given_use(const Given& given);

/// `--device`, else $TUNER_DEVICE, else "auto". Throws UsageError for a --device that can name none.
std::string wanted_device(const Given& given);

}  // namespace tuner::cli
