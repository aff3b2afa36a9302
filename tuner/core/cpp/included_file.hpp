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
  /// Why there may be more files: a macro names one and is not, in each of its definitions, a name in quotes; or there
  /// is more text than anybody writes by hand. An image that is compiled from such a source must not be kept.
  std::optional<std::string> unknown;
};

}  // namespace tuner
