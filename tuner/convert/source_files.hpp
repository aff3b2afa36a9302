#pragma once
/// The files around a source. Private to this room.

#include <filesystem>
#include <string>
#include <vector>

#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scoped_code.hpp>

namespace tuner::convert {

struct SourceFiles {
  /// The folders, above the source's own, of files that the source or its included files include.
  std::vector<std::filesystem::path> include_folders;
  std::vector<IncludedFile> included;
  ScopedCode code;  ///< the source with the files that it includes
};

/// The files around the source \p text of \p file.
SourceFiles source_files(const std::string& text, const std::filesystem::path& file);

}  // namespace tuner::convert
