#pragma once
/// The files that a source includes, with their texts.

#include <optional>
#include <string>
#include <vector>

namespace tuner {

struct IncludedFile {
  std::string path;  ///< relative to the same folder as the path of the including file
  std::string text;

  friend bool operator==(const IncludedFile&, const IncludedFile&) = default;
};

struct Includes {
  std::vector<IncludedFile> files;  ///< in the order in which they are found, each once
  /// Why there may be more files. Either a macro names one and has a definition that is not a name in quotes, or the
  /// text is too long. An image that is compiled from such a source must not be kept.
  std::optional<std::string> unknown;
};

}  // namespace tuner
