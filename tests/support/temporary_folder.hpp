#pragma once
/// For tests that need files: a folder that no other test, process or build tree has.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tuner::testing {

/// Creates or replaces \p file, and creates the folders above it.
inline void write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

/// All bytes of \p file; none where it cannot be read.
inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

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
  /// As write_file(); the path of the file.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view bytes) const {
    write_file(path_ / name, bytes);
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tuner::testing
