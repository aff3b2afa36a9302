#pragma once
/// The resilient SQLite file under Database and ImageCache: opens or creates it, sets damaged and foreign files aside,
/// goes on in memory (or without) when it cannot be written, and warns once. Private to this room.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/connection.hpp>
#include <cache/error.hpp>
#include <cache/file_kind.hpp>
#include <cache/file_replacement.hpp>
#include <cache/query.hpp>

namespace tuner::cache {

/// Statements and connection() are to be used inside read() or write() only.
class Store : public Statements {
 public:
  enum class Mode { user, shipped, memory };
  using Kind = FileKind;

  struct Options {
    WarningSink warn;
    std::chrono::milliseconds busy_timeout{10'000};
    std::int64_t check_bytes = 0;
    int max_pages = 0;
    bool skip_check = false;
  };

  Store(Kind kind, std::filesystem::path file, Mode mode, Options options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::filesystem::path& path() const { return file_; }
  std::string display_path() const { return usable_file() ? file_.string() : ":memory:"; }
  Mode mode() const { return mode_; }
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
  bool usable_file() const;
  void guarded_read(const std::function<void()>& work);
  void open_file();
  void open_shipped();
  void connect(int flags);
  void check_private();
  bool quick_check();
  void open_memory();
  void close();
  /// The file's contents (as far as they can be read) move to memory; nothing is written to the file any more.
  void degrade(const std::string& reason);
  /// Renames the file and its journals unless another process has done so already.
  void set_aside(const char* suffix, const std::string& reason);
  void drop(const std::string& reason);
  /// True when the work should be tried again, on whatever the store is now.
  bool recover(const SQLite::Exception& error);
  void run(const char* literal);

  Kind kind_;
  std::filesystem::path file_;
  Mode mode_;
  Options options_;
  mutable std::recursive_mutex mutex_;
  Patience patience_;
  std::set<std::string> warned_;
  std::string trouble_;
  FileIdentity identity_;  // of the open file
  bool in_memory_ = false;
  int depth_ = 0;
};

}  // namespace tuner::cache
