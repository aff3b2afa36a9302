#pragma once
/// From `--size`, `--type` and `--choice` to the problems a command works on.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {
struct KernelSpec;
}

namespace tuner::cli {

/// On the host backend default sizes shrink until one run moves no more than this: each thread of a kernel costs about
/// twenty nanoseconds there.
inline constexpr std::int64_t kHostDefaultBytes = std::int64_t{16} << 20;

struct ProblemOptions {
  std::vector<std::string> sizes;    ///< each `nx=4096,ny=4096`, or several separated by `;`
  std::vector<std::string> types;    ///< each `float`, or several separated by commas
  std::vector<std::string> choices;  ///< each `operation=sum`, `operation=sum,max` or `operation=sum,finish=atomic`
  std::int64_t host_bytes = kHostDefaultBytes;
};

struct Problems {
  std::vector<ProblemSize> list;  ///< every size with every combination of choices, complete
  /// Sizes that nobody gave were made smaller for the host backend.
  bool shrunk = false;
  /// No two of the given sizes have a name in common: they may be meant for one problem.
  bool may_be_one = false;
};

/// Throws UsageError for what cannot be read and for an unknown size, choice or type (with a suggestion).
Problems select_problems(const KernelSpec& spec, const ProblemOptions& options, const Device& device);

/// The same where \p command looks at one problem alone. Throws UsageError for several.
ProblemSize select_problem(const KernelSpec& spec, const ProblemOptions& options, const Device& device,
                           std::string_view command);

/// Every combination of one of the values of each name.
std::vector<std::map<std::string, std::string>> combinations(
    const std::map<std::string, std::vector<std::string>>& values);

/// A size alone: `16M` when the kernel has one size. Throws as select_problems().
std::map<std::string, std::int64_t> read_sizes(const KernelSpec& spec, const std::string& text);

}  // namespace tuner::cli
