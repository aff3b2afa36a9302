#pragma once
/// The code that a compiler sees after `#include` and `#if`, as far as that is possible without a compiler. Private to
/// this room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scoped_code.hpp>

namespace tuner {

struct ExpandedCode {
  /// A directive that removes a macro of KnownMacros::defined, or gives it arguments.
  struct Override {
    std::string name, file;
    int line = 0;
  };
  ScopedCode code;
  std::vector<std::string> missing;  ///< files that the code includes in quotes and that were not found, each once
  std::vector<Override> overrides;
};

/// Macros that the texts do not decide, and those that they alone decide.
struct KnownMacros {
  std::vector<std::string> defined = {};  ///< with values that are not decided; definitions in the texts do not count
  std::vector<std::string> perhaps = {};  ///< likewise; they may not even be macros
  std::vector<std::string> own = {};      ///< no compiler and no other file defines them
};

/// The code_of() \p program, the text of \p file, with the files of \p includes in place of their directives. They are
/// looked for in IncludeFolders. Branches that are not taken are left out. If only a compiler knows, all branches stay,
/// and so do their `#if` and `#endif`. Macros stay as well, each in one line. A file with a guard is read once. A
/// second `#include` of it stays, without its name, if only a compiler knows whether the first one counts.
ExpandedCode expanded_code(std::string_view program, std::string_view file, const Includes* includes,
                           const std::vector<std::string>& folders, const KnownMacros& known);

/// The value of \p text, an expression of integer literals: `0x1f`, `1u << 4`. Nothing for other text.
std::optional<std::int64_t> value_of_literals(std::string_view text);
/// The value of the integer \p used in \p code: `#define ROWS 8` or `const int ROWS = 2 * 4;`. Nothing if that is
/// defined elsewhere than in a namespace, by several values, or by anything but other constants.
std::optional<std::int64_t> constant_called(const ScopedCode& code, const UsedName& used);
/// The same for a name of any namespace.
std::optional<std::int64_t> constant_called(const ScopedCode& code, const std::string& name);

}  // namespace tuner
