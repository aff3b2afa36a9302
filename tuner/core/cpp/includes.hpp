#pragma once
/// Finds the files that a kernel file includes. A compiled image depends on them, so they are part of its cache key.
/// The result may list an unused file (in a branch that is not taken), but never omits one. Also distinguishes the
/// headers of a kernel's author from those of the toolkit that have the same names.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/included_file.hpp>

namespace tuner {

/// The words of $CXX: a C++ compiler and its options, as in `ccache g++ -I headers`. Empty if it is not set.
std::vector<std::string> words_of_cxx();

struct CodePlace {
  std::string file;
  int line = 0;
  int column = 0;  ///< from 1 on; 0: unknown
};

/// Where the file that a directive names may be, in the order in which compilers look.
class IncludeFolders {
 public:
  /// Beside \p file_name, in \p named, and in the folders of CPATH, CPLUS_INCLUDE_PATH and the options of CXX.
  IncludeFolders(const std::filesystem::path& file_name, const std::vector<std::string>& named);
  /// The places of \p name, first the one beside \p from.
  std::vector<std::filesystem::path> places(const std::string& name, const std::filesystem::path& from) const;
  /// The places for `<name>`.
  std::vector<std::filesystem::path> places(const std::string& name) const;

 private:
  std::vector<std::filesystem::path> folders_;
};

/// `name` of `"name"` or `<name>` at the start of \p text.
std::optional<std::string> included_name(std::string_view text);

/// The names by which \p path can be included: one for each of \p folders.
std::vector<std::string> names_in(const std::vector<std::filesystem::path>& folders, const std::filesystem::path& path);

/// `#line LINE "FILE"` with a line end: compilers number the following lines as in that file.
std::string line_directive(int line, std::string_view file);
/// FILE and LINE of the directive `#line LINE "FILE"`, if \p line is one.
std::optional<CodePlace> place_of_directive(std::string_view line);
/// The file and line of \p at in \p text, which begins as \p file; a `#line` says where another begins.
CodePlace place_in(std::string_view text, std::size_t at, const std::string& file);

/// \p source is the text of \p file_name, and \p folders are those of IncludeFolders. A file that is not found or
/// cannot be read is left to the compiler. Does not throw.
Includes included_files(const std::string& source, const std::filesystem::path& file_name,
                        const std::vector<std::string>& folders = {});

/// \p text of the file \p path, with other names in the directives that name a file (`#include`, `__has_include`). \p
/// place gives them for a path where the file may be; the first that is not empty counts. A name stays if there is
/// none. An `#include_next` of such a file becomes an `#include`.
std::string with_places(std::string text, const std::filesystem::path& path, const IncludeFolders& folders,
                        const std::function<std::string(const std::filesystem::path&)>& place);

/// The files that a kernel file includes, and the folders where its author has them.
class AuthorFiles {
 public:
  /// \p folders: ProgramSpec::include_paths. \p includes must outlive this.
  AuthorFiles(const Includes& includes, const std::filesystem::path& file_name,
              const std::vector<std::string>& folders);

  /// The names by which \p path can be included: one for each folder.
  std::vector<std::string> names_of(const std::filesystem::path& path) const;
  /// Whether the author has a file of this name that is not a copy of the toolkit's.
  bool has(std::string_view name) const;

  /// \p text of the file \p path, where each `#include` that means the toolkit's header NAME, whatever files the author
  /// has, names what \p place gives for NAME. It stays if that is empty. Such lines are `<NAME>` in a file that is
  /// called NAME itself, and an absolute path `…/include/NAME` of a file that is the toolkit's or does not exist.
  std::string with_toolkit_headers(std::string text, const std::filesystem::path& path,
                                   const std::function<std::string(const std::string& name)>& place) const;

 private:
  /// The toolkit's header that \p name means; empty if it may be another header.
  std::string toolkit_header(const std::string& name, bool in_brackets, const std::vector<std::string>& own) const;

  const Includes& includes_;
  std::vector<std::filesystem::path> folders_;
};

/// Whether \p text is that of one of the toolkit's headers, or of a copy.
bool is_of_toolkit(std::string_view text);

}  // namespace tuner
