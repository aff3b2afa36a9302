#pragma once
/// Files, locks and a clock, as tuner uses them: files are read and written whole, and get their name when they are
/// complete. SQLite's own files go through SQLite. Tests put a file system in memory in place of the real one
/// (tests/support/memory_disk.hpp): it is full, cuts files short, or loses what was renamed.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cache/records/cache_error.hpp>

namespace tuner::cache {

/// Why something failed, for a message; nullopt: it did not.
using Failure = std::optional<std::string>;

/// Changes whenever the contents of a file change, or its permissions. All zeros: there is no such file.
struct FileStamp {
  using Identity = std::pair<std::uint64_t, std::uint64_t>;
  Identity identity;  ///< device and inode
  std::int64_t bytes = 0, written_ns = 0;
  std::int64_t changed_ns = 0;  ///< of the inode: also when the other times were set by hand
  bool operator==(const FileStamp&) const = default;

  /// Whether another change would show. The clocks of file systems have steps, some of two seconds.
  bool is_settled() const;
};

/// Says which file or folder on the way to \p file this user may not use, with its permissions and owner: "/a/b.db has
/// mode 0600 and belongs to root". \p to_write: also to add files beside it. nullopt: the permissions are in order.
std::optional<std::string> obstacle_to(const std::filesystem::path& file, bool to_write);

class Disk {
 public:
  virtual ~Disk() = default;

  /// Reads the first \p limit bytes of a regular file, or all of a shorter one. Never waits.
  virtual Failure read(const std::filesystem::path& file, std::size_t limit, std::string& bytes) = 0;
  /// Writes a new file with the permissions \p mode, reduced by the umask. After a failure, a part of it may be there.
  /// \p lasts: waits until the bytes would outlast a power cut.
  virtual Failure write(const std::filesystem::path& file, std::string_view bytes, unsigned mode, bool lasts) = 0;
  /// Replaces only regular files.
  virtual Failure rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  /// Waits until the names in \p folder would outlast a power cut.
  virtual Failure sync_names(const std::filesystem::path& folder) = 0;
  /// Removes a file, or a folder with everything in it, if it is there.
  virtual void remove(const std::filesystem::path& path) = 0;

  virtual FileStamp stamp_of(const std::filesystem::path& file) = 0;
  struct Entry {
    std::filesystem::path path;
    FileStamp stamp;
  };
  /// The files and folders in \p folder; none when it cannot be read.
  virtual std::vector<Entry> list(const std::filesystem::path& folder) = 0;
  /// Creates \p folder and its missing parents with \p mode, reduced by the umask.
  virtual Failure make_folder(const std::filesystem::path& folder, unsigned mode) = 0;
  /// Explains how somebody else could change or replace the file or folder \p path, and what to do. That is possible
  /// when \p path or a folder above it belongs to another user, or when others can write to it. nullopt when only this
  /// user and root can. A group with the user's name and no other member counts as the user. \p installed: root may own
  /// \p path.
  virtual std::optional<std::string> exposure_of(const std::filesystem::path& path, bool installed = false) = 0;

  enum class Lock { taken, refused, impossible };
  /// Locks one byte of \p file, which is created if it is missing; the byte may lie far beyond its end. Refused while
  /// another object of this process or another holds it. Whoever has \p held holds the lock. The system takes it back
  /// when the process ends in any way.
  virtual Lock lock(const std::filesystem::path& file, std::int64_t byte, std::shared_ptr<void>& held) = 0;
  virtual std::chrono::steady_clock::time_point now() = 0;

  /// Writes \p bytes under another name first, so that readers find the old file or the whole new one. After a failure
  /// the old file is there as it was, and nothing else. \p lasts: also after a power cut, and then the new file stays.
  Failure replace(const std::filesystem::path& file, std::string_view bytes, unsigned mode = 0666, bool lasts = false);
};
Disk& real_disk();

/// Removes what processes left in \p folder that were killed while they wrote a file.
void remove_parts(const std::filesystem::path& folder, Disk& disk);

/// Disk::replace(), after remove_parts(). Throws CacheError instead of returning a failure.
void replace_file(const std::filesystem::path& file, std::string_view bytes, unsigned mode, Disk& disk,
                  bool lasts = true);

/// Replaces \p file; compresses when its name ends in `.gz`. Throws CacheError, and then leaves the old file as it was.
/// Replaces only regular files that are not databases. The caller decides whether such a file may go. \p lasts: as for
/// Disk::replace().
void write_text(const std::filesystem::path& file, std::string_view text, Disk& disk = real_disk(), bool lasts = true);
/// Longer texts (after decompression) are refused.
inline constexpr std::size_t kMaxTextBytes = std::size_t{256} << 20;
/// Reads plain text or gzip, whatever the name is. \p file must be a regular file. Throws CacheError.
std::string read_text(const std::filesystem::path& file, std::size_t limit = kMaxTextBytes, Disk& disk = real_disk());

/// Whether a file that begins with \p bytes is an SQLite database of any program. The file format begins with these 16
/// bytes (sqlite.org/fileformat2.html, section 1.3); the last one is zero.
inline bool is_database(std::string_view bytes) { return bytes.starts_with(std::string_view("SQLite format 3\0", 16)); }
/// The same for the regular file at \p path; false when it cannot be read.
bool is_database_file(const std::filesystem::path& path, Disk& disk = real_disk());

/// The right to do one thing, such as tuning a problem. Of all processes that share a database, one at a time has it.
/// The claim ends with its object. The operating system holds the claim and releases it when the process ends in any
/// way. (A child that was forked meanwhile and never calls exec keeps it too.) Not for work that must never happen
/// twice. Where files cannot be locked, every process gets every claim.
class Claim {
 public:
  /// Takes nothing yet. \p database: an existing file. The locks are on bytes of the empty file `FILE.claims` beside
  /// it. \p what: any text, the same in all processes. Two texts collide with a probability of 2^-62.
  Claim(const std::filesystem::path& database, std::string_view what, Disk& disk = real_disk());

  /// Returns true when this object has the claim. Also returns true when the folder cannot be written to or the file
  /// system has no locks; then no process is kept out. Returns false while another object, in this process or another,
  /// has the claim. Does not wait. After a refusal it asks the file again only after one second, since a thousand
  /// processes may share the file.
  bool take();

 private:
  const std::filesystem::path file_;
  const std::int64_t byte_;
  Disk& disk_;
  std::shared_ptr<void> held_;
  std::optional<std::chrono::steady_clock::time_point> refused_;
};

}  // namespace tuner::cache
