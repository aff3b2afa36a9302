#pragma once
/// The resilient SQLite file under Database and ImageCache: opens or creates it, sets aside what is damaged, goes on in
/// memory (or without) when it cannot be written, and warns once. A file that is not known to be tuner's own is never
/// touched. Private to this room.

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

/// Thrown inside Store::read() for a store whose every row must be sound: a frozen one.
struct DamagedRows : CacheError {
  using CacheError::CacheError;
};

/// Statements and connection() are to be used inside read() or write() only.
class Store : public Statements {
 public:
  enum class Mode { read_write, read_only, memory };

  Store(FileKind kind, std::filesystem::path file, Mode mode, OpenOptions options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& path() const { return file_; }
  /// Where the contents come from: the file also when it is only read, or continued in memory; else `:memory:`.
  std::string display_path() const;
  Mode mode() const { return mode_; }
  const FileKind& kind() const { return kind_; }
  bool usable() const;
  bool in_memory() const;
  std::string trouble() const;

  /// Runs \p work while no other thread uses the store; a default value when the store cannot be read. All queries of
  /// one call see the same state of the file.
  template <class Work>
  auto read(Work&& work) -> decltype(work()) {
    using Result = decltype(work());
    Result result{};
    guarded_read([&] { result = work(); });
    return result;
  }
  /// Runs \p work in a BEGIN IMMEDIATE transaction. \p work runs again from the start when the file had to be replaced
  /// (by a new one or by memory). Exceptions of \p work roll back and pass through. False when nothing can be written.
  bool write(const std::function<void()>& work);

  /// At most once for each \p topic.
  void warn_once(const std::string& topic, const std::string& message);

 private:
  /// Why a file cannot be used as it is.
  struct Refusal {
    std::string reason;
    const char* suffix = nullptr;  ///< for setting it aside, when a new file would do
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
  /// The file's contents (as far as they can be read) move to memory; nothing is written to the file any more.
  void degrade(const std::string& reason);
  /// Renames the file and its journals unless another process has done so already. Returns why that is impossible.
  std::optional<std::string> set_aside(const Refusal& refusal);
  void drop(const std::string& reason);
  void require_usable();
  void report_unreadable(const SQLite::Exception& error);
  /// True when the work should be tried again, on whatever the store is now.
  bool recover(const SQLite::Exception& error);

  FileKind kind_;
  std::filesystem::path file_;
  Mode mode_;
  OpenOptions options_;
  mutable std::recursive_mutex mutex_;
  Patience patience_;
  std::set<std::string> warned_;
  std::string trouble_;
  FileIdentity identity_;   // of the open file
  FileStamp stamp_;         // of a frozen file when it was opened
  bool is_tuners_ = false;  // the open file is known to be a database of this kind
  bool in_memory_ = false;
  bool has_contents_ = false;  // memory has what the file held
  int depth_ = 0;
};

}  // namespace tuner::cache
