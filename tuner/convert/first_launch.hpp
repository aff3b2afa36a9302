#pragma once
/// The launch of a kernel as a text writes it: `name<<<grid, block>>>(…)`, or `cudaLaunchKernelEx(&config, name, …)`
/// with a `config` that is initialised, or whose members are set, before it. Private to this room.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/scoped_code.hpp>

namespace tuner::convert {

/// The value of \p text, an expression of integers and of constants that \p code defines once.
std::optional<std::int64_t> integer_in(const ScopedCode& code, const std::string& text);

struct WrittenLaunch {
  std::vector<std::string> grid, block;  ///< The extents, as they are written, without `1` at their ends.
  /// Bytes of dynamic shared memory, and the extents of the cluster. Empty: there are none.
  std::string shared;
  std::vector<std::string> cluster;
  /// The values of these attributes. Empty: the launch does not have them.
  std::string dependent, cooperative;
  std::vector<std::string> template_arguments, arguments;
  /// The values, as they are written, of the function's variables that these are computed from. Parameters of the
  /// function's own template have the value of its first call in the text, `run<16>(…)`, or their default.
  std::map<std::string, std::string, std::less<>> locals;
  std::set<std::string, std::less<>> unknown;  ///< parameters of the function's own template without such a value

  /// \p text with the values of its locals.
  std::string with_locals(std::string_view text, int depth = 4) const;
  /// \p argument of the template likewise. Empty if its value is unknown.
  std::string resolved(const std::string& argument) const;
};

/// The first launch of \p kernel in \p code that has template arguments, else the first one.
std::optional<WrittenLaunch> launch_of(const ScopedCode& code, std::string_view kernel);

}  // namespace tuner::convert
