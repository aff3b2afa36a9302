#pragma once
/// How a text launches a kernel: `name<<<grid, block>>>(…)`. Private to this room.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/scoped_code.hpp>

namespace tuner::convert {

struct WrittenLaunch {
  std::vector<std::string> grid, block;  ///< the extents, as they are written; without `1` at their ends
  std::string shared;                    ///< bytes of dynamic shared memory; empty if there are none
  std::vector<std::string> template_arguments, arguments;
  /// The values, as they are written, of the function's variables that these are computed from.
  std::map<std::string, std::string, std::less<>> locals;
};

/// The first launch of \p kernel in \p code.
std::optional<WrittenLaunch> launch_of(const ScopedCode& code, std::string_view kernel);

}  // namespace tuner::convert
