#pragma once
/// Finds kernels by name: in the folders of $TUNER_TEMPLATE_PATH (separated by colons), then among the templates that
/// are built into the program. A path to a .cu file is read as it is.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

struct KernelSpec;

class KernelLibrary {
 public:
  KernelLibrary();

  struct Entry {
    std::string name;
    std::string origin;  ///< a path, or "built in"
  };
  /// All kernels that find() knows by name, sorted. For equal names, the earlier folder wins.
  std::vector<Entry> list() const;

  /// The folders of $TUNER_TEMPLATE_PATH that are not folders, in sentences; empty if all are.
  std::string missing_folders() const;

  /// Whether \p name_or_path is a path: it contains a slash or ends in .cu.
  static bool is_path(std::string_view name_or_path);
  /// Advice for \p name, which no kernel has: "Give your own file by its path: ./NAME.cu".
  static std::string how_to_give_a_file(std::string_view name);
  /// Throws Error for an unknown name (with the nearest one and all known ones) or an unreadable file, and SpecError
  /// for a malformed file.
  KernelSpec find(std::string_view name_or_path) const;
  /// The text with which find() returns \p spec in any process and folder: the absolute path of its file, or the name
  /// of a template that is built in. Empty when neither has the kernel's text.
  static std::string place_of(const KernelSpec& spec);

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace tuner
