#include <cache/query/store.hpp>

#include <algorithm>
#include <system_error>

#include <SQLiteCpp/Backup.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <cache/file/disk.hpp>
#include <cache/file/paths.hpp>
#include <cache/query/schema.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kBytesOfLongestRead = std::int64_t{64} << 20;
constexpr std::chrono::milliseconds kPatienceAfterALock{50};
constexpr std::chrono::minutes kLongestInMemory{1};  // before the file is tried again

}  // namespace

/// While memory stands in for the file.
struct Store::InMemory {
  std::chrono::milliseconds pause{};
  bool is_last_chance = false;
  std::chrono::steady_clock::time_point look_again = std::chrono::steady_clock::now() + pause;
};

Store::Store(fs::path file, Mode mode, OpenOptions options)
    : file_(std::move(file)), mode_(mode), options_(std::move(options)), patience_(reading_timeout()) {
  if (mode_ == Mode::memory) {
    open_memory();
  } else if (read_only()) {
    open_read_only();
  } else {
    open_file();
  }
}

Store::~Store() { close(); }

bool Store::usable() const {
  std::lock_guard lock(mutex_);
  return !dropped_;
}

std::string Store::display_path() const {
  std::lock_guard lock(mutex_);
  return !dropped_ && (!in_memory_ || has_contents_) ? file_.string() : ":memory:";
}

bool Store::in_memory() const {
  std::lock_guard lock(mutex_);
  return in_memory_;
}

std::string Store::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

std::optional<std::string> Store::why_unknown() const {
  std::lock_guard lock(mutex_);
  return why_unknown_;
}

void Store::warn_once(const std::string& topic, const std::string& message) {
  std::lock_guard lock(mutex_);
  if (!warned_.insert(topic).second) return;
  trouble_ = message;
  if (options_.warn) options_.warn(message);
}

void Store::close() {
  statements_.clear();
  connection_.reset();
}

/// Rolls back unless commit() was called. It may take \p longest of the processor's time.
struct Store::Transaction {
  Transaction(Store& owner, const char* begin, std::chrono::milliseconds longest) : store(owner) {
    rollback(store.connection_.get());  // of one that could not be rolled back
    Query(store, begin).run();
    limit.emplace(store.patience_, longest);
    ++store.depth_;
  }
  ~Transaction() {
    --store.depth_;
    limit.reset();
    rollback(store.connection_.get());
  }
  void commit() { Query(store, "COMMIT").run(); }
  Store& store;
  std::optional<WorkLimit> limit;
};

// ---- trouble -------------------------------------------------------------------------------------------------------

void Store::drop(const std::string& reason) {
  close();
  dropped_ = true;
  if (options_.strict) {
    trouble_ = fmt::format("wisdom database {} cannot be used: {}", file_.string(), reason);
    throw CacheError(trouble_);
  }
  warn_once("drop", fmt::format("wisdom database {} is ignored: {}", file_.string(), reason));
}

void Store::degrade(const std::string& reason, bool for_now) {
  statements_.clear();
  auto old = std::move(connection_);
  if (options_.strict) {
    trouble_ = fmt::format("wisdom database {} cannot be written: {}", file_.string(), reason);
    if (for_now) throw Unavailable(trouble_);
    dropped_ = true;
    throw CacheError(trouble_);
  }
  in_memory_ = true;
  why_unknown_.reset();
  written_.clear();
  meanwhile_ = std::make_unique<InMemory>(InMemory{.pause = options_.look_again});
  warned_.erase("return");
  warn_once("degrade",
            fmt::format("wisdom database {} is not written to: {}; work continues in memory, and new results "
                        "are lost when this process ends unless the file can be written again{}",
                        file_.string(), reason,
                        file_ == user_database_file() ? ", or TUNER_CACHE_DIR names another folder" : ""));
  std::error_code error;
  const auto size = fs::file_size(file_, error);
  if (old && !error && static_cast<std::int64_t>(size) <= kMaxCopiedBytes) {
    try {
      patience_.limit = std::min(patience_.limit, std::chrono::milliseconds(1000));
      auto memory = connect_memory();
      const bool copied = SQLite::Backup(*memory, *old).executeStep(-1) == SQLITE_DONE;
      if (copied && inspect(*memory) == Contents::ours) {
        memory->exec("PRAGMA foreign_keys = ON");
        connection_ = std::move(memory);
        has_contents_ = true;
        return;
      }
    } catch (const SQLite::Exception&) {  // the contents are unknown
    }
  }
  if (for_now) {
    why_unknown_ = reason;
    if (!was_locked_) {  // asking again costs nothing
      meanwhile_->pause = {};
      meanwhile_->look_again = {};
    }
  }
  connection_.reset();
  open_memory();
}

void Store::try_file_again() {
  std::lock_guard lock(mutex_);
  if (!meanwhile_) return;
  meanwhile_->look_again = {};
  meanwhile_->is_last_chance = true;
}

void Store::return_to_file() {
  const auto now = std::chrono::steady_clock::now();
  if (!meanwhile_ || now < meanwhile_->look_again) return;
  meanwhile_->pause = std::min<std::chrono::milliseconds>(2 * meanwhile_->pause, kLongestInMemory);
  meanwhile_->look_again = now + meanwhile_->pause;
  patience_.limit = std::exchange(meanwhile_->is_last_chance, false) ? options_.busy_timeout : kPatienceAfterALock;
  const auto memory = connection_;
  try {
    close();
    in_memory_ = false;
    if (!open_once()) {
      if (!written_.empty()) repeat_writes();
      has_contents_ = false;
      why_unknown_.reset();
      meanwhile_.reset();
      warned_.erase("degrade");
      warn_once("return",
                fmt::format("wisdom database {} is written to again, with what was stored meanwhile", file_.string()));
      trouble_.clear();
      return;
    }
  } catch (const std::exception&) {  // not yet
  }
  close();
  connection_ = memory;
  in_memory_ = true;
  if (was_locked_ && meanwhile_->pause == std::chrono::milliseconds(0)) {
    meanwhile_->pause = options_.look_again;
    meanwhile_->look_again = now + meanwhile_->pause;
  }
}

void Store::repeat_writes() {
  Transaction transaction(*this, "BEGIN IMMEDIATE", std::chrono::hours(1));
  is_repeating_ = true;
  const std::unique_ptr<bool, void (*)(bool*)> until_the_end(&is_repeating_, [](bool* now) { *now = false; });
  for (const auto& work : written_) {
    try {
      work();
    } catch (const CacheError& error) {  // for example, another process has quarantined a configuration meanwhile
      warn_once("repeat", error.what());
    }
  }
  transaction.commit();
  written_.clear();
}

bool Store::recover(const SQLite::Exception& error, int attempt) {
  const int code = error.getErrorCode() & 0xff;
  was_locked_ = code == SQLITE_BUSY;
  rollback(connection_.get());
  require_memory(error);
  if (code == SQLITE_INTERRUPT) return false;  // other work may take less
  if (attempt >= 4 || mode_ == Mode::memory || in_memory_) return false;
  for (const int other : {SQLITE_MISUSE, SQLITE_TOOBIG, SQLITE_RANGE})
    if (code == other) return false;
  if (is_damage(code) || code == SQLITE_ERROR || code == SQLITE_CONSTRAINT || code == SQLITE_SCHEMA ||
      code == SQLITE_MISMATCH) {
    // Either tuner made a mistake, or the file is damaged, or one reading of it failed. Only damage may cost the file.
    close();
    const Finding finding = examine_twice(file_, patience_.limit);
    if (finding == Finding::sound) {
      open_file();
      return is_damage(code) || attempt == 0;
    }
    if (finding == Finding::unknown) {
      degrade("it cannot be read completely now", /*for_now=*/true);
    } else if (const auto failure = set_aside({fmt::format("it is damaged ({})", error.what()), "corrupt"})) {
      degrade(*failure, /*for_now=*/false);
    } else {
      open_file();
    }
  } else if (error.getExtendedErrorCode() == SQLITE_READONLY_DBMOVED) {
    close();
    open_file();
  } else {
    degrade(explain(error, file_, !read_only()), is_passing(error, file_));
  }
  return true;
}

bool Store::recover_reading(const SQLite::Exception& error, int attempt) {
  rollback(connection_.get());
  require_memory(error);
  // Another process may have been stopped while it wrote. Whoever may write to the file takes that back.
  if (is_passing(error, file_) || (error.getErrorCode() & 0xff) == SQLITE_READONLY)
    report_unavailable(explain(error, file_, !read_only()));
  if (!read_only()) return recover(error, attempt);
  if ((error.getErrorCode() & 0xff) == SQLITE_INTERRUPT) return false;
  if (!may_be_damage(error)) {
    drop(reason_of(error));
  } else if (attempt == 0) {  // one reading may have failed
    close();
    open_read_only();
  } else {
    drop_damaged(reason_of(error));
  }
  return true;
}

void Store::report_unavailable(const std::string& reason) {
  const auto message = fmt::format("wisdom database {} cannot be read now: {}", file_.string(), reason);
  if (!options_.strict) warn_once("read", message);
  throw Unavailable(message);
}

void Store::report_unreadable(const SQLite::Exception& error) {
  const auto message =
      fmt::format("wisdom database {} cannot be read: {}", file_.string(), explain(error, file_, !read_only()));
  if (options_.strict) throw CacheError(message);
  warn_once("read", message);
}

// ---- work ----------------------------------------------------------------------------------------------------------

void Store::make_ready() {
  if (dropped_ && options_.strict) throw CacheError(trouble_);
  if (dropped_) return;
  // Processes that start later get other answers than this one.
  if (is_frozen() && connection_ && is_rewritten()) return drop("it was changed while it was in use");
  follow_file();
  if (connection_) return;
  if (in_memory_)
    open_memory();
  else if (read_only())
    open_read_only();
  else
    open_file();
}

bool Store::is_rewritten() const {
  const FileStamp now = real_disk().stamp_of(file_);
  // Other permissions or another link change the inode as well.
  return now.identity == stamp_.identity && (now.bytes != stamp_.bytes || now.written_ns != stamp_.written_ns);
}

void Store::require_room_for(std::int64_t rows) {
  constexpr std::int64_t kLeastBytesOfRow = 64;  // each names a kernel's source or a session
  if (rows * kLeastBytesOfRow > number(*connection_, "PRAGMA page_count") * number(*connection_, "PRAGMA page_size"))
    throw SQLite::Exception("it has more rows than its file has room for", SQLITE_CORRUPT);
}

/// Goes on with the file that has the name now, if another process removed or replaced ours. SQLite would delete the
/// journal of whoever writes to the new one.
void Store::follow_file() {
  if (mode_ != Mode::read_write) return;
  if (in_memory_) return return_to_file();
  if (real_disk().stamp_of(file_).identity != stamp_.identity) close();
}

void Store::guarded_read(const std::function<void()>& work) {
  std::lock_guard lock(mutex_);
  if (depth_ > 0) return work();
  make_ready();
  for (int attempt = 0; connection_ != nullptr; ++attempt) {
    try {
      if (never_written_ && is_rewritten()) {  // SQLite would mix its old pages with new ones
        close();
        connect(SQLite::OPEN_READONLY);
      }
      Transaction transaction(*this, "BEGIN", options_.longest_read * (1 + stamp_.bytes / kBytesOfLongestRead));
      work();
      transaction.commit();
      patience_.limit = reading_timeout();
      return;
    } catch (const SQLite::Exception& error) {
      // A call asks several times: it waits once.
      if ((error.getErrorCode() & 0xff) == SQLITE_BUSY)
        patience_.limit = std::min(patience_.limit, kPatienceAfterALock);
      if (!recover_reading(error, attempt)) return report_unreadable(error);
    }
  }
}

void Store::guarded_write(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (read_only()) throw CacheError(file_.string() + " is read-only");
  if (depth_ > 0) return work();
  make_ready();
  patience_.limit = options_.busy_timeout;
  for (int attempt = 0; connection_ != nullptr; ++attempt) {
    try {
      Transaction transaction(*this, "BEGIN IMMEDIATE", std::chrono::hours(1));
      work();
      transaction.commit();
      if (meanwhile_) written_.push_back(std::move(work));
      return;
    } catch (const SQLite::Exception& error) {
      const std::string message = error.what();
      if (!recover(error, attempt)) {
        throw CacheError(fmt::format("wisdom database {}: {}", display_path(), message));
      }
    }
  }
}

}  // namespace tuner::cache
