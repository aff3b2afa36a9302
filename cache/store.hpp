#pragma once
/// The SQLite file under Database and ImageCache. It opens or creates the file, sets a damaged one aside, continues in
/// memory (or without) when it cannot write, and warns once. It never touches a file that is not known to be tuner's.
/// Private to this room.

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/connection.hpp>
#include <cache/database.hpp>
#include <cache/file_kind.hpp>
#include <cache/query.hpp>

namespace tuner::cache {

/// Thrown inside Store::read() for a frozen store, in which every row must be sound.
struct DamagedRows : CacheError {
  using CacheError::CacheError;
};

/// Use the statements and connection() only inside read() or write().
class Store : public Statements {
 public:
  enum class Mode { read_write, read_only, memory };

  Store(FileKind kind, std::filesystem::path file, Mode mode, OpenOptions options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& path() const { return file_; }
  /// Where the contents come from: the file, also when it is only read or was copied to memory; otherwise `:memory:`.
  std::string display_path() const;
  Mode mode() const { return mode_; }
  const FileKind& kind() const { return kind_; }
  bool usable() const;
  bool in_memory() const;
  std::string trouble() const;

  /// Runs \p work while no other thread uses the store. Returns a default value when the store cannot be read. All
  /// queries of one call see the same state of the file.
  template <class Work>
  auto read(Work&& work) -> decltype(work()) {
    using Result = decltype(work());
    Result result{};
    guarded_read([&] { result = work(); });
    return result;
  }
  /// Runs \p work in a BEGIN IMMEDIATE transaction. Runs it again from the start when a new file or memory had to
  /// replace the file. Exceptions of \p work roll back and pass through. Returns false when nothing can be written.
  bool write(const std::function<void()>& work);

  /// Warns at most once for each \p topic.
  void warn_once(const std::string& topic, const std::string& message);

 private:
  /// Why a file cannot be used.
  struct Refusal {
    std::string reason;
    const char* suffix = nullptr;  ///< for its new name, if a new file would help
  };

  struct Transaction;
  /// Why a file could not be opened.
  std::string reason_of(const SQLite::Exception& failure) const;
  void guarded_read(const std::function<void()>& work);
  void open_file();
  std::optional<Refusal> open_once();
  std::optional<Refusal> upgrade_open_file();
  void open_read_only();
  void connect(int flags);
  void check_private();
  bool quick_check();
  void open_memory();
  void close();
  /// Copies the file's contents to memory, as far as they can be read. Writes nothing to the file after that.
  void degrade(const std::string& reason);
  /// Renames the file and its journals, unless another process has replaced it already. Returns why that failed.
  std::optional<std::string> set_aside(const Refusal& refusal);
  void drop(const std::string& reason);
  void require_usable();
  /// Whether the open file was written to in place.
  bool is_rewritten() const;
  void report_unreadable(const SQLite::Exception& error);
  /// Returns true when the work should run again, on the store as it is now.
  bool recover(const SQLite::Exception& error);

  FileKind kind_;
  std::filesystem::path file_;
  Mode mode_;
  OpenOptions options_;
  mutable std::recursive_mutex mutex_;
  Patience patience_;
  std::set<std::string> warned_;
  std::string trouble_;
  FileIdentity identity_;       // of the open file
  FileStamp stamp_;             // of the file when it was opened
  bool never_written_ = false;  // it is read without locks
  bool is_tuners_ = false;      // the open file is a database of this kind
  bool in_memory_ = false;
  bool has_contents_ = false;  // memory holds the contents of the file
  int depth_ = 0;
};

}  // namespace tuner::cache
