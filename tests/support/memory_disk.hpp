#pragma once
/// A file system in memory, for tests of disks that are full, cut files short or lose what was renamed.

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cache/file/disk.hpp>

namespace tuner::testing {

class MemoryDisk : public cache::Disk {
 public:
  using Path = std::filesystem::path;

  std::map<Path, std::string> files;
  std::size_t space = std::numeric_limits<std::size_t>::max();  ///< bytes that can still be written
  bool cuts_short = false;                                      ///< stores half of what is written, and says nothing
  cache::Failure rename_failure;
  bool loses_renames = false;  ///< a renamed file is gone, as after a power cut
  bool has_locks = true;
  struct PowerCut {};
  int operations = std::numeric_limits<int>::max();  ///< of writing, until a PowerCut is thrown
  std::chrono::steady_clock::time_point time;

  cache::Failure read(const Path& file, std::size_t limit, std::string& bytes) override {
    const auto found = files.find(file);
    if (found == files.end()) return "No such file or directory";
    bytes = found->second.substr(0, limit);
    return std::nullopt;
  }
  cache::Failure write(const Path& file, std::string_view bytes, unsigned, bool lasts) override {
    use_power();
    const std::size_t stored = std::min(cuts_short ? bytes.size() / 2 : bytes.size(), space);
    files[file] = bytes.substr(0, stored);
    unsynced_.insert(file);
    space -= stored;
    if (space == 0) return "No space left on device";
    if (!lasts) return std::nullopt;
    use_power();
    unsynced_.erase(file);
    return std::nullopt;
  }
  cache::Failure rename(const Path& from, const Path& to) override {
    use_power();
    if (rename_failure) return rename_failure;
    before_.try_emplace(to, files.contains(to) ? std::optional(files[to]) : std::nullopt);
    auto renamed = files.extract(from);
    if (!loses_renames) files[to] = std::move(renamed.mapped());
    if (unsynced_.erase(from) > 0) unsynced_.insert(to);
    return std::nullopt;
  }
  cache::Failure sync_names(const Path& folder) override {
    use_power();
    std::erase_if(before_,
                  [&](const auto& name) { return (folder / name.first.filename()).lexically_normal() == name.first; });
    return std::nullopt;
  }
  /// The worst that a power cut does: what was not synced is empty, and new names either stay or are gone.
  void cut_power(bool names_stay) {
    for (const Path& file : unsynced_) files[file].clear();
    for (auto& [name, bytes] : before_) {
      if (names_stay) continue;
      files.erase(name);
      if (bytes) files[name] = *bytes;
    }
    operations = std::numeric_limits<int>::max();
  }
  void remove(const Path& path) override { files.erase(path); }
  cache::FileStamp stamp_of(const Path& file) override {
    const auto found = files.find(file);
    if (found == files.end()) return {};
    return {{1, 1}, static_cast<std::int64_t>(found->second.size()), 1};
  }
  std::vector<Entry> list(const Path& folder) override {
    std::vector<Entry> found;
    for (const auto& [path, bytes] : files)
      if (path.parent_path() == folder) found.push_back({path, stamp_of(path)});
    return found;
  }
  cache::Failure make_folder(const Path&, unsigned) override { return std::nullopt; }
  std::optional<std::string> exposure_of(const Path&, bool) override { return std::nullopt; }
  Lock lock(const Path& file, std::int64_t byte, std::shared_ptr<void>& held) override {
    if (!has_locks) return Lock::impossible;
    std::weak_ptr<void>& owner = locks_[{file, byte}];
    if (!owner.expired()) return Lock::refused;
    owner = held = std::make_shared<int>();
    return Lock::taken;
  }
  std::chrono::steady_clock::time_point now() override { return time; }

 private:
  void use_power() {
    if (operations-- == 0) throw PowerCut();
  }

  std::set<Path> unsynced_;
  std::map<Path, std::optional<std::string>> before_;  // the names in folders that were not synced since
  std::map<std::pair<Path, std::int64_t>, std::weak_ptr<void>> locks_;
};

}  // namespace tuner::testing
