#pragma once
/// Which files a kernel file reads through #include: what a compiled image depends on besides the kernel file's own
/// text. For cache keys, so it may name a file too many (one in a branch that is not taken), never one too few.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct IncludedFile {
  std::string path;  ///< as found: relative to where the including file was named
  std::string text;

  friend bool operator==(const IncludedFile&, const IncludedFile&) = default;
};

struct Includes {
  std::vector<IncludedFile> files;  ///< in the order in which they are met, each once
  /// Why there may be more: a directive whose file is named by a macro, or more text than anybody writes by hand. What
  /// was compiled from such a source must not be kept.
  std::optional<std::string> unknown;
};

/// `#line LINE "FILE"` and the end of the line: what follows is numbered as in that file.
std::string line_directive(int line, std::string_view file);

/// \p source is the text of \p file_name. A file is looked for beside the one that includes it, beside \p file_name, in
/// \p folders and in those of CPATH and CPLUS_INCLUDE_PATH; what is found nowhere belongs to the compiler. Throws
/// nothing: what cannot be read is not there.
Includes included_files(const std::string& source, const std::filesystem::path& file_name,
                        const std::vector<std::string>& folders = {});

}  // namespace tuner
