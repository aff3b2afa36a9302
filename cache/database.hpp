#pragma once
/// A database of tuning results: the user's own or a shipped one. Several processes may use one file; several threads
/// may share one Database (operations take turns).
///
/// What stands at a path is changed only when it is known to be tuner's: a damaged database is set aside (renamed) and
/// a new one begun when it was opened for writing and says that it is one, or has the name and place of the user's own.
/// Any other file is left as it is.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cache/error.hpp>
#include <cache/records.hpp>

namespace tuner::cache {

class Store;

/// Version of the schema (rows.hpp), stored in user_version.
inline constexpr int kSchemaVersion = 6;
/// 'CAT1', stored as application_id.
inline constexpr int kApplicationId = 0x43415431;

struct OpenOptions {
  WarningSink warn = {};
  /// How long to wait for other processes before going on in memory.
  std::chrono::milliseconds busy_timeout{10'000};
  /// Files up to this size are checked for damage (quick_check) when opened; larger ones cost too much for that and
  /// rely on row checksums. tune's doctor checks everything.
  std::int64_t check_bytes = std::int64_t{2} << 20;
  /// Shipped files are compared with the SHA-256 of their manifest, which reads them whole.
  bool check_digest = true;
  /// Trouble is thrown (CacheError) when it is met, at opening and at writing, instead of going on in memory or
  /// without: for commands whose success means that it is stored.
  bool strict = false;
  /// For tests: bounds the file (PRAGMA max_page_count, pages of 4096 bytes); 0: unbounded.
  int max_pages = 0;
};

/// Whether a file that begins with \p bytes is a database of whatever program: by the 16 bytes of SQLite's file format,
/// section 1.3, the last of which is zero.
inline bool is_database(std::string_view bytes) { return bytes.starts_with(std::string_view("SQLite format 3\0", 16)); }
/// The same of the regular file at \p path; false where none can be read.
bool is_database_file(const std::filesystem::path& path);

class Database {
 public:
  /// Opens or creates the user's database; missing folders are created with mode 0700, the file with 0600. Never fails
  /// unless \p options are strict: what cannot be used or written is replaced by memory, with exactly one warning.
  static Database open_user(const std::filesystem::path& file, OpenOptions options = {});
  /// Opens any database to read it; nothing on the disk is created, renamed or written (but for a commit that was
  /// interrupted, which the next reader has to take back). Throws CacheError when it cannot be used, or read on.
  static Database open_read_only(const std::filesystem::path& file, OpenOptions options = {});
  /// Opens a shipped database read-only. nullopt, with one warning, when it is missing, damaged, not ours, of another
  /// version, or its SHA-256 differs from the one in `MANIFEST.sha256` beside it.
  static std::optional<Database> open_shipped(const std::filesystem::path& file, OpenOptions options = {});
  /// Every usable database of shipped_database_files(\p application), in that order.
  static std::vector<Database> open_all_shipped(const std::filesystem::path& application = {},
                                                OpenOptions options = {});
  /// Opens a database that `tune freeze` made and checks all of it. Throws CacheError when it is missing, damaged, not
  /// frozen or of another version: to go on with other wisdom would be to answer otherwise than other processes.
  static Database open_frozen(const std::filesystem::path& file, OpenOptions options = {});
  /// A database that ends with the process.
  static Database in_memory(OpenOptions options = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::filesystem::path& path() const;  ///< empty for in_memory()
  bool read_only() const;
  bool is_shipped() const { return shipped_; }
  bool is_frozen() const;  ///< opened by open_frozen()
  /// True when nothing written now will be found by the next process.
  bool is_in_memory() const;
  /// The answer of the last open or write that went wrong; empty when all is well.
  std::string trouble() const;

  /// Remembers that \p configuration killed or hung the process that ran it for \p problem. Until that is lifted it is
  /// neither served nor named best on this device for problems that are alike (alike()): a larger or smaller one may
  /// well run, and the next size may well not. Not for what merely could not run, such as for want of memory.
  void quarantine(const DeviceRecord& device, const KernelRecord& kernel, const ProblemRecord& problem,
                  const std::string& configuration, const std::string& reason);
  /// What holds for one kernel source and problem on one device, ordered by problem and configuration; and damaged
  /// records that may have held for them.
  std::vector<QuarantineRecord> quarantined(const std::string& device_key, const KernelRecord& kernel,
                                            const ProblemRecord& problem);
  /// Lets \p configuration be served again for problems like \p problem. See also cache::lift_quarantine (browse.hpp).
  void lift_quarantine(const std::string& device_key, const KernelRecord& kernel, const ProblemRecord& problem,
                       const std::string& configuration);

  /// For the files of this room.
  Store& store() { return *store_; }

 private:
  explicit Database(std::unique_ptr<Store> store, bool shipped = false);
  std::unique_ptr<Store> store_;
  bool shipped_ = false;
};

/// The journal mode for a file: "WAL" only where it is safe. SQLite 3.7.0 to 3.51.2 can lose a committed WAL reset
/// (fixed in 3.51.3, 3.50.7 and 3.44.6), and WAL needs memory shared between processes, which network file systems
/// do not give (sqlite.org/wal.html).
const char* journal_mode(int sqlite_version, bool network_file_system);

}  // namespace tuner::cache
