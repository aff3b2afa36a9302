#pragma once
/// Tells the headers of a kernel's author from those of the toolkit that have the same names.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/includes.hpp>

namespace tuner {

/// The files that a kernel file includes, and the folders where its author has them.
class AuthorFiles {
 public:
  /// \p folders: ProgramSpec::include_paths. \p includes must outlive this.
  AuthorFiles(const Includes& includes, const std::filesystem::path& file_name,
              const std::vector<std::string>& folders);

  /// The names by which \p path can be included: one for each folder.
  std::vector<std::string> names_of(const std::filesystem::path& path) const;
  /// Whether the author has a file of this name that is no copy of the toolkit's.
  bool has(std::string_view name) const;

  /// \p text of the file \p path, where each `#include` that means the toolkit's header NAME, whatever files the author
  /// has, names what \p place gives for NAME. It stays if that is empty. Such lines are `<NAME>` in a file that is
  /// called NAME itself, and an absolute path `…/include/NAME` of a file that is the toolkit's or does not exist.
  std::string with_toolkit_headers(std::string text, const std::filesystem::path& path,
                                   const std::function<std::string(const std::string& name)>& place) const;

 private:
  /// The toolkit's header that \p name means; empty if it may be another one.
  std::string toolkit_header(const std::string& name, bool in_brackets, const std::vector<std::string>& own) const;

  const Includes& includes_;
  std::vector<std::filesystem::path> folders_;
};

/// Whether \p text is that of one of the toolkit's headers, or of a copy.
bool is_of_toolkit(std::string_view text);

}  // namespace tuner
