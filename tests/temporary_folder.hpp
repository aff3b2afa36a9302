#pragma once
/// For tests that need files: a folder that no other test, process or build tree has.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace tuner::testing {

/// Made by the constructor; removed by the destructor with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tuner-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made as " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    // What a test made unreadable must go too; a folder is listed after its permissions were set.
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    for (auto entry = std::filesystem::recursive_directory_iterator(path_, ignored);
         !ignored && entry != std::filesystem::recursive_directory_iterator(); entry.increment(ignored))
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
        std::filesystem::permissions(entry->path(), std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tuner::testing
