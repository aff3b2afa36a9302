#pragma once
/// The code that a compiler sees after `#include` and `#if`, as far as that is possible without a compiler. Private to
/// this room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/includes.hpp>

namespace tuner {

struct ExpandedCode {
  std::string code;
  std::vector<std::string> missing;  ///< files that the code includes in quotes and that were not found, each once
};

/// Macros with values that are not decided. Their definitions in the texts do not count.
struct OpenMacros {
  std::vector<std::string> defined;
  std::vector<std::string> perhaps;  ///< that may not even be macros
};

/// The code_of() \p program, the text of \p file, with the files of \p includes in place of their directives. They are
/// looked for beside the file that includes them, beside \p file and in \p folders, in this order. Branches that are
/// not taken are left out. If only a compiler knows, all branches stay, and so do their `#if` and `#endif`. Macros stay
/// as well, each in one line.
ExpandedCode expanded_code(std::string_view program, std::string_view file, const Includes* includes,
                           const std::vector<std::string>& folders, const OpenMacros& open);

/// The value of the integer that \p code, without comments, calls \p name: `#define ROWS 8` or `const int ROWS = 2 *
/// 4;`. Nothing if that is defined elsewhere than in a namespace, by several values, or by anything but other
/// constants.
std::optional<std::int64_t> constant_called(std::string_view code, std::string_view name);

}  // namespace tuner
