#pragma once
/// Finds the files that a kernel file includes. A compiled image depends on them, so they are part of its cache key.
/// The result may name a file too many (one in a branch that is not taken), but never misses one.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct IncludedFile {
  std::string path;  ///< relative to the same folder as the path of the including file
  std::string text;

  friend bool operator==(const IncludedFile&, const IncludedFile&) = default;
};

struct Includes {
  std::vector<IncludedFile> files;  ///< in the order in which they are found, each once
  /// Why there may be more files: a macro names one, or there is more text than anybody writes by hand. An image that
  /// is compiled from such a source must not be kept.
  std::optional<std::string> unknown;
};

/// `#line LINE "FILE"` with a line end: compilers number the following lines as in that file.
std::string line_directive(int line, std::string_view file);

/// \p source is the text of \p file_name. Included files are looked for beside the file that includes them, beside
/// \p file_name, in \p folders and in the folders of CPATH and CPLUS_INCLUDE_PATH. A file that is not found or cannot
/// be read is left to the compiler. Does not throw.
Includes included_files(const std::string& source, const std::filesystem::path& file_name,
                        const std::vector<std::string>& folders = {});

}  // namespace tuner
