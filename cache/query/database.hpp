#pragma once
/// A database of tuning results: the user's own or a shipped one. Several processes may use one file. Several threads
/// may share one Database; their operations take turns.
///
/// A file is changed only when it is known to belong to tuner: it says so, or it has the name and place of the user's
/// database. If such a file is damaged when it is opened for writing, it is renamed and a new one is started. Any other
/// file is left as it is.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cache/file/disk.hpp>
#include <cache/records/cache_error.hpp>
#include <cache/records/stored_records.hpp>

namespace tuner::cache {

class Store;

/// Version of the schema (schema.hpp), stored in user_version.
inline constexpr int kSchemaVersion = 10;
/// 'CAT1', stored as application_id.
inline constexpr int kApplicationId = 0x43415431;

struct OpenOptions {
  WarningSink warn = {};
  /// How long to wait for other processes before continuing in memory.
  std::chrono::milliseconds busy_timeout{10'000};
  /// The same for opening and reading; nullopt: as long.
  std::optional<std::chrono::milliseconds> reading_timeout = {};
  /// After this time in memory, the next use tries the file again; later tries take their time.
  std::chrono::milliseconds look_again{1'000};
  /// A damaged file that is tuner's may be renamed, and a new one begun. If not, it counts as unusable.
  bool may_replace = true;
  /// How much of the processor's time one reading may take, and as much again for each 64 MiB of the file. Writing may
  /// take an hour. Reading that takes longer fails; later reading is tried again.
  std::chrono::milliseconds longest_read{60'000};
  /// Files up to this size are checked for damage (quick_check) when they are opened. For larger files this takes too
  /// long; the row checksums protect them, and `tune db check` checks everything. Below 0: nothing is checked.
  std::int64_t check_bytes = std::int64_t{2} << 20;
  /// Compare a shipped file with the SHA-256 in its manifest. This reads the whole file.
  bool check_digest = true;
  /// Throw CacheError at once, when opening or writing fails, instead of continuing in memory or without a database.
  /// For commands that succeed only if the result is stored.
  bool strict = false;
};

/// If the file cannot be read now, every question to a database warns and throws Unavailable, in all headers of this
/// room. Only lookup() returns that as a part of its answer. If memory stands in for the file, the answer is what
/// memory has: see why_unknown().
class Database {
 public:
  /// Opens or creates the user's database. Creates missing folders and the file: for this user alone if it is
  /// user_database_file(), otherwise with the permissions that the umask leaves. Never fails
  /// unless \p options are strict: if the file cannot be used or written, memory replaces it, with one warning.
  /// When the file can be written again, it is used again: what was stored and removed meanwhile is stored and removed
  /// there, in the same order.
  static Database open_user(const std::filesystem::path& file, OpenOptions options = {});
  /// Opens any database for reading. Creates, renames and writes nothing, with one exception: it rolls back a commit
  /// that was interrupted, as every next reader must. Throws CacheError when the file cannot be opened or, later, read.
  static Database open_read_only(const std::filesystem::path& file, OpenOptions options = {});
  /// Opens a shipped database read-only. Returns nullopt, with one warning, when the file is missing, damaged, foreign
  /// or of another version, or when its SHA-256 differs from the one in `MANIFEST.sha256` beside it. Throws Unavailable
  /// when it cannot be read now.
  static std::optional<Database> open_shipped(const std::filesystem::path& file, OpenOptions options = {});
  /// Opens a database that `tune db freeze` made. Reads the file once and checks its seal; every answer comes from that
  /// copy. Throws CacheError when the file is missing, damaged, not frozen or of another version, and later when it was
  /// written to in place. It never falls back to other wisdom, because then this process would get other answers than
  /// the rest of the job.
  static Database open_frozen(const std::filesystem::path& file, OpenOptions options = {});
  /// A database that lives as long as the process.
  static Database in_memory(OpenOptions options = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::filesystem::path& path() const;  ///< empty for in_memory()
  bool is_shipped() const { return shipped_; }
  bool is_frozen() const;  ///< opened by open_frozen()
  /// True when the next process will not find anything that is written now.
  bool is_in_memory() const;
  /// Tries the file again if memory stands in for it. Returns whether memory still does.
  bool retry_file();
  /// Why memory stands in for the file although its contents are not known now; nullopt if they are known, or the file
  /// is of no use. It is tried again at later uses.
  std::optional<std::string> why_unknown() const;
  /// The message of the last open or write that failed; empty when all is well.
  std::string trouble() const;

  /// Records that \p configuration crashed or hung the process that ran it for \p problem. Until lift_quarantine(), it
  /// is neither served nor named best on this device for problems that are alike (see alike()). Much larger or smaller
  /// problems may run well. Not for a configuration that merely could not run, for example for lack of memory.
  void quarantine(const DeviceRecord& device, const KernelRecord& kernel, const ProblemRecord& problem,
                  const std::string& configuration, const std::string& reason);
  /// Everything that is quarantined for one kernel source and problem on one device, sorted by problem and
  /// configuration. Includes damaged records that might refer to them.
  std::vector<QuarantineRecord> quarantined(const std::string& device_key, const KernelRecord& kernel,
                                            const ProblemRecord& problem);
  /// Takes back what quarantine() recorded for \p problem; for problems that are alike it may still fail. See also
  /// browse.hpp.
  void lift_quarantine(const std::string& device_key, const KernelRecord& kernel, const ProblemRecord& problem,
                       const std::string& configuration);

  /// For the files of this room.
  Store& store() { return *store_; }

 private:
  explicit Database(std::unique_ptr<Store> store, bool shipped = false);
  std::unique_ptr<Store> store_;
  bool shipped_ = false;
};

/// Says which commit to a database file was the last.
struct LastCommit {
  FileStamp::Identity file;   ///< device and inode; zeros: there is no such file
  std::uint32_t counter = 0;  ///< changes with each commit
  bool operator==(const LastCommit&) const = default;
};
/// Changes whenever any process commits to \p file, also twice within one step of the clock, and when another file
/// takes its place. Takes no lock and waits for nobody. nullopt: it cannot be read now, ask again.
std::optional<LastCommit> last_commit(const std::filesystem::path& file);

}  // namespace tuner::cache
