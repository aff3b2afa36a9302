#pragma once
/// The files around a source. Private to this room.

#include <filesystem>
#include <string>
#include <vector>

#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scoped_code.hpp>

namespace tuner::convert {

struct SourceFiles {
  /// In which files are that the source, or a file of its, includes. Found above the source's folder.
  std::vector<std::filesystem::path> include_folders;
  std::vector<IncludedFile> included;
  ScopedCode code;  ///< the source with the files that it includes
};

/// Of the source \p text of \p file.
SourceFiles source_files(const std::string& text, const std::filesystem::path& file);

}  // namespace tuner::convert
