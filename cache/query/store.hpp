#pragma once
/// The SQLite file under Database. It opens or creates the file, sets a damaged one aside, continues in memory when it
/// cannot write, and warns once. It never touches a file that is not known to be tuner's.
/// Private to this room.

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <type_traits>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/file/connection.hpp>
#include <cache/query/database.hpp>

namespace tuner::cache {

class Store {
 public:
  enum class Mode {
    read_write,
    read_only,
    frozen,  ///< read only, and only if its seal is sound
    memory
  };

  Store(std::filesystem::path file, Mode mode, OpenOptions options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& path() const { return file_; }
  /// Where the contents come from: the file, also when it is only read or was copied to memory; otherwise `:memory:`.
  std::string display_path() const;
  bool read_only() const { return mode_ == Mode::read_only || is_frozen(); }
  bool is_frozen() const { return mode_ == Mode::frozen; }
  bool usable() const;
  bool in_memory() const;
  std::string trouble() const;
  /// Why memory stands in for a file whose contents are not known now; nullopt if they are, or the file is of no use.
  std::optional<std::string> why_unknown() const;

  /// Runs \p work while no other thread uses the store. Runs it again from the start when the connection was lost. All
  /// queries of one call see the same state of the file. Returns a default value when the store is of no use, as its
  /// file is damaged. Throws Unavailable when it cannot be read now.
  template <class Work>
  auto read(Work&& work) -> decltype(work()) {
    using Result = decltype(work());
    Result result{};
    guarded_read([&] { result = work(); });
    return result;
  }
  /// Runs \p work in a BEGIN IMMEDIATE transaction and returns its result. Runs it again from the start when a new file
  /// or memory had to replace the file. Exceptions of \p work roll back and pass through. Returns a default value when
  /// nothing can be written.
  ///
  /// If memory stands in for the file, \p work runs once more when the file can be written again. It must own all that
  /// it uses, except this store.
  template <class Work>
  auto write(Work work) -> decltype(work()) {
    using Result = decltype(work());
    if constexpr (std::is_void_v<Result>) {
      guarded_write(std::move(work));
    } else {
      const std::lock_guard lock(mutex_);  // another thread may run the work again
      const auto result = std::make_shared<Result>();
      guarded_write([result, work = std::move(work)]() mutable { *result = work(); });
      return std::move(*result);
    }
  }

  // Use these two only inside read() or write().
  SQLite::Database& connection() { return *connection_; }
  /// Prepares \p sql at its first use.
  SQLite::Statement& statement(const std::string& sql) {
    const auto at = statements_.find(sql);
    return at != statements_.end() ? at->second : statements_.try_emplace(sql, *connection_, sql).first->second;
  }

  /// Whether a write() runs once more, on the file, after it was done in memory. Its caller is gone by then.
  bool is_repeating() const { return is_repeating_; }

  /// Throws SQLite::Exception when the file cannot hold so many rows: its pages go in circles.
  void require_room_for(std::int64_t rows);

  /// If memory stands in for the file, the next use tries it again at once, and waits for it as for any writing: this
  /// may be the last chance.
  void try_file_again();

  /// Warns at most once for each \p topic.
  void warn_once(const std::string& topic, const std::string& message);

 private:
  /// Why a file cannot be used.
  struct Refusal {
    std::string reason;
    const char* suffix = nullptr;  ///< for its new name, if a new file would help
    bool for_now = false;          ///< another try may succeed
    bool is_sound = false;         ///< it is only of an older version
  };

  struct Transaction;
  /// Why a file could not be opened.
  std::string reason_of(const SQLite::Exception& failure) const;
  void guarded_read(const std::function<void()>& work);
  void guarded_write(std::function<void()> work);
  void open_file();
  std::optional<Refusal> open_once();
  void open_read_only();
  std::optional<Refusal> open_to_read();
  /// Reads a frozen file once and checks its seal, without locks, which some file systems lack.
  std::optional<Refusal> open_copy();
  void connect(int flags);
  bool quick_check();
  void open_memory();
  void close();
  /// Copies the file's contents to memory, as far as they can be read, and uses that until return_to_file(). \p
  /// for_now: the file can probably be read later.
  void degrade(const std::string& reason, bool for_now);
  /// If the file can be written again, uses it from now on, and first repeats what was written meanwhile, in order.
  void return_to_file();
  void repeat_writes();
  /// Renames the file and its journals, unless another process has replaced it already. Returns why that failed.
  std::optional<std::string> set_aside(const Refusal& refusal);
  /// The file is of no use, as long as this store lives.
  void drop(const std::string& reason);
  /// The same if the bytes of the file are damaged, too. If not, readings of it failed: throws Unavailable.
  void drop_damaged(const std::string& reason);
  /// Opens the store again if its connection was lost. A strict store throws if it is of no use.
  void make_ready();
  void follow_file();
  /// Whether the open file was written to in place.
  bool is_rewritten() const;
  /// Warns once, and throws.
  [[noreturn]] void report_unavailable(const std::string& reason);
  void report_unreadable(const SQLite::Exception& error);
  /// Returns true when the work should run again, on the store as it is now.
  bool recover(const SQLite::Exception& error, int attempt);
  bool recover_reading(const SQLite::Exception& error, int attempt);

  std::chrono::milliseconds reading_timeout() const { return options_.reading_timeout.value_or(options_.busy_timeout); }

  const std::filesystem::path file_;
  const Mode mode_;
  const OpenOptions options_;
  mutable std::recursive_mutex mutex_;
  Patience patience_;
  std::shared_ptr<SQLite::Database> connection_;
  std::unordered_map<std::string, SQLite::Statement> statements_;  // by text; destroyed before the connection
  std::set<std::string> warned_;
  std::string trouble_;
  FileStamp stamp_;             // of the open file, when it was opened
  bool never_written_ = false;  // it is read without locks
  bool is_tuners_ = false;      // the open file says that it is a wisdom database
  bool dropped_ = false;
  bool was_locked_ = false;  // the last failure: another process held the file
  bool in_memory_ = false;
  bool has_contents_ = false;  // memory holds the contents of the file
  std::optional<std::string> why_unknown_;
  struct InMemory;
  std::unique_ptr<InMemory> meanwhile_;         // since degrade()
  std::vector<std::function<void()>> written_;  // since degrade()
  bool is_repeating_ = false;
  int depth_ = 0;
};

/// One run of a prepared statement. The destructor resets it so that no lock remains. Binds arguments and reads columns
/// in order.
class Query {
 public:
  template <class... Arguments>
  Query(Store& store, const std::string& sql, const Arguments&... arguments)
      : store_(store), statement_(store.statement(sql)) {
    statement_.tryReset();
    statement_.clearBindings();
    (bind(arguments), ...);
  }
  ~Query() { statement_.tryReset(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  void bind(std::integral auto value) { statement_.bind(++bound_, static_cast<std::int64_t>(value)); }
  void bind(double value) { statement_.bind(++bound_, value); }
  void bind(const std::string& value) { statement_.bind(++bound_, value); }
  /// The numbers as they are in memory.
  void bind(const std::vector<double>& values) {
    const void* const bytes = values.empty() ? "" : static_cast<const void*>(values.data());
    const std::size_t size = values.size() * sizeof(double);
    statement_.bind(++bound_, bytes, static_cast<int>(size));
  }
  template <class T>
  void bind(const std::optional<T>& value) {
    if (value) return bind(*value);
    statement_.bind(++bound_);
  }

  /// Throws SQLite::Exception when there are more rows than the file has room for.
  bool next() {
    column_ = 0;
    if (++rows_ % 65536 == 0) store_.require_room_for(rows_);
    return statement_.executeStep();
  }
  /// For statements that change something.
  void run() {
    while (next()) {
    }
  }
  std::int64_t integer() { return statement_.getColumn(column_++).getInt64(); }
  /// NaN when the column is NULL.
  double real() {
    const auto value = statement_.getColumn(column_++);
    return value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble();
  }
  /// Text or blob; empty when the column is NULL.
  std::string text() {
    const auto value = statement_.getColumn(column_++);
    const auto* bytes = static_cast<const char*>(value.getBlob());
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(value.getBytes()));
  }
  /// Whether the next column is NULL.
  bool null() { return statement_.getColumn(column_).isNull(); }
  void skip() { ++column_; }

 private:
  Store& store_;
  SQLite::Statement& statement_;
  int bound_ = 0;
  int column_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace tuner::cache
