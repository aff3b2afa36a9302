#pragma once
/// Finds kernels by name: folders given by the caller, $TUNER_TEMPLATE_PATH (colon-separated), then the templates
/// built into the program. A path to a .cu file is read as it is.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/kernel_spec.hpp>

namespace tuner {

class KernelLibrary {
 public:
  explicit KernelLibrary(std::vector<std::filesystem::path> folders = {});

  struct Entry {
    std::string name;
    std::string origin;  ///< a path, or "built in"
  };
  /// All kernels that find() knows by name, sorted; an earlier folder hides a later one.
  std::vector<Entry> list() const;

  /// Whether \p name_or_path is a path: it contains a slash or ends in .cu.
  static bool is_path(std::string_view name_or_path);
  /// \p name_or_path: a kernel's name, or a path. Throws Error for an unknown
  /// name (with the nearest one and all known ones) or unreadable file, SpecError for a malformed one.
  KernelSpec find(std::string_view name_or_path) const;
  /// What find() finds \p spec with in another process and folder, as long as nothing changes: its file's whole path,
  /// or the name of a template that is built in. Empty for a kernel whose text is neither's.
  static std::string place_of(const KernelSpec& spec);

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace tuner
