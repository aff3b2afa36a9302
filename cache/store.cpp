#include <cache/store.hpp>

#include <algorithm>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cache/database.hpp>
#include <cache/paths.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kMaxCopiedBytes = std::int64_t{256} << 20;

bool is_damage(int code) {
  code &= 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT;
}

/// The words of SQLite for what made a file unwritable, made a little more helpful.
std::string explain(const SQLite::Exception& error) {
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "another process holds it locked";
    case SQLITE_READONLY:
      return "it is read-only";
    case SQLITE_CANTOPEN:
      return "it, its folder or its journal cannot be opened for writing";
    case SQLITE_IOERR:
      return fmt::format("input/output error ({})", error.getErrorStr());
    default:
      return error.what();
  }
}

void execute(SQLite::Database& db, const std::string& sql) { db.exec(sql); }

std::int64_t number(SQLite::Database& db, const char* sql) {
  SQLite::Statement query(db, sql);
  return query.executeStep() ? query.getColumn(0).getInt64() : 0;
}

std::string word(SQLite::Database& db, const char* sql) {
  SQLite::Statement query(db, sql);
  return query.executeStep() ? query.getColumn(0).getString() : std::string();
}

std::vector<std::string> definitions(SQLite::Database& db) {
  SQLite::Statement query(db, "SELECT coalesce(sql, '') FROM sqlite_schema ORDER BY 1");
  std::vector<std::string> all;
  while (query.executeStep()) all.push_back(query.getColumn(0).getString());
  return all;
}

void rollback(SQLite::Database* db) {
  if (db != nullptr && sqlite3_get_autocommit(db->getHandle()) == 0) {
    sqlite3_exec(db->getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

/// While it lives, all reads see the same state of the file.
class Snapshot {
 public:
  explicit Snapshot(SQLite::Database& db) : db_(db), outermost_(sqlite3_get_autocommit(db.getHandle()) != 0) {
    if (outermost_) execute(db_, "BEGIN");
  }
  ~Snapshot() {
    if (outermost_) rollback(&db_);
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  SQLite::Database& db_;
  bool outermost_;
};

}  // namespace

const char* journal_mode(int sqlite_version, bool network_file_system) {
  const bool fixed = sqlite_version >= 3051003 || (sqlite_version >= 3050007 && sqlite_version < 3051000) ||
                     (sqlite_version >= 3044006 && sqlite_version < 3045000);
  return fixed && !network_file_system ? "WAL" : "DELETE";
}

Store::Store(Kind kind, fs::path file, Mode mode, Options options)
    : kind_(std::move(kind)), file_(std::move(file)), mode_(mode), options_(std::move(options)) {
  busy_.timeout = options_.busy_timeout;
  busy_.random = std::random_device{}() ^ (static_cast<std::uint64_t>(::getpid()) << 32);
  if (mode_ == Mode::memory) {
    open_memory();
  } else if (mode_ == Mode::shipped) {
    open_shipped();
  } else {
    open_file();
  }
}

Store::~Store() { close(); }

bool Store::usable() const {
  std::lock_guard lock(mutex_);
  return connection_ != nullptr;
}

bool Store::usable_file() const {
  std::lock_guard lock(mutex_);
  return connection_ != nullptr && !in_memory_;
}

bool Store::in_memory() const {
  std::lock_guard lock(mutex_);
  return in_memory_;
}

std::string Store::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

void Store::warn_once(const std::string& topic, const std::string& message) {
  std::lock_guard lock(mutex_);
  if (!warned_.insert(topic).second) return;
  trouble_ = message;
  if (options_.warn) options_.warn(message);
}

// ---- opening -------------------------------------------------------------------------------------------------------

void Store::connect(int flags) {
  // Where folders cannot be locked, it may be replaced meanwhile: what stood there before and after is what is open.
  do {
    identity_ = identity_of(file_);
    connection_ = std::make_shared<SQLite::Database>(file_.string(), flags);
  } while (identity_of(file_) != identity_);
  sqlite3* handle = connection_->getHandle();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_handler(handle, &Store::busy_handler, &busy_);
  // The file may come from anywhere: no trigger or view of it is ever run, and nothing reaches its internal tables.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  execute(*connection_, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;");
}

/// Waits with jitter, so that no writer starves behind others that happen to be in step.
int Store::busy_handler(void* data, int count) {
  auto& busy = *static_cast<Busy*>(data);
  const auto now = std::chrono::steady_clock::now();
  if (count == 0) busy.deadline = now + busy.timeout;
  if (now >= busy.deadline) return 0;
  busy.random = busy.random * 6364136223846793005u + 1442695040888963407u;
  const std::uint64_t limit_us = std::min<std::uint64_t>(500u << std::min(count, 6), 20'000);
  std::this_thread::sleep_for(std::chrono::microseconds(100 + (busy.random >> 33) % limit_us));
  return 1;
}

Store::State Store::inspect() {
  // Another process may be creating it: half of what was before and half of what is now would look foreign.
  const Snapshot snapshot(*connection_);
  const auto application = number(*connection_, "PRAGMA application_id");
  const auto version = number(*connection_, "PRAGMA user_version");
  if (application == 0 && version == 0 && number(*connection_, "SELECT count(*) FROM sqlite_schema") == 0) {
    return State::empty;
  }
  if (application != kind_.application_id || version < 1) return State::foreign;
  if (version == kind_.version) return State::ours;
  if (version < kind_.version) return State::older;
  std::int64_t reader = 0;
  try {
    if (number(*connection_, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'") != 0) {
      reader = number(*connection_, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'min_reader'");
    }
  } catch (const SQLite::Exception&) {
    // Its schema may use words that this SQLite does not know: that is no damage.
  }
  return reader > 0 && reader <= kind_.version ? State::ours : State::newer;
}

bool Store::quick_check() {
  std::error_code error;
  const auto size = fs::file_size(file_, error);
  if (options_.skip_check || error || static_cast<std::int64_t>(size) > options_.check_bytes) return true;
  return word(*connection_, "PRAGMA quick_check(1)") == "ok";
}

void Store::configure_writable() {
  const bool network = on_network_file_system(file_);
  const std::string wanted = journal_mode(sqlite3_libversion_number(), network);
  const bool wal = word(*connection_, "PRAGMA journal_mode") == "wal";
  if (wal != (wanted == "WAL")) execute(*connection_, "PRAGMA journal_mode = " + wanted);
  // A WAL commit that a power cut takes back leaves the file sound; a rollback journal needs the full order.
  execute(*connection_, !kind_.durable    ? "PRAGMA synchronous = OFF"
                        : wanted == "WAL" ? "PRAGMA synchronous = NORMAL"
                                          : "PRAGMA synchronous = FULL");
  execute(*connection_, "PRAGMA foreign_keys = ON");
  if (options_.max_pages > 0) execute(*connection_, fmt::format("PRAGMA max_page_count = {}", options_.max_pages));
}

void Store::create_or_migrate() {
  execute(*connection_, "BEGIN IMMEDIATE");
  try {
    const auto state = inspect();  // another process may have been faster
    auto version = number(*connection_, "PRAGMA user_version");
    if (state == State::empty) {
      execute(*connection_, kind_.schema);
      if (kind_.migrate) kind_.migrate(*connection_, 0);
      version = kind_.version;
    }
    if (state == State::older) {
      for (; version < kind_.version; ++version) kind_.migrate(*connection_, static_cast<int>(version));
    }
    if (state == State::empty || state == State::older) {
      execute(*connection_, fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kind_.application_id,
                                        kind_.version));
    }
    execute(*connection_, "COMMIT");
  } catch (...) {
    rollback(connection_.get());
    throw;
  }
}

void Store::check_private() {
  const auto check = [](const fs::path& path, const char* what) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return;
    if (info.st_uid != ::geteuid()) throw CacheError(fmt::format("its {} belongs to somebody else", what));
    if ((info.st_mode & 0022) != 0 || S_ISLNK(info.st_mode)) {
      throw CacheError(fmt::format("others can write to its {} (chmod go-w {})", what, path.string()));
    }
  };
  check(file_.parent_path(), "folder");
  check(file_, "file");
}

void Store::open_file() {
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::unique_ptr<FolderLock> unreplaced;  // ends before set_aside(), which waits for all others'
    try {
      if (!make_private_folder(file_.parent_path())) {
        degrade(fmt::format("the folder {} cannot be created", file_.parent_path().string()));
        return;
      }
      if (kind_.must_be_private) check_private();
      unreplaced = std::make_unique<FolderLock>(file_.parent_path(), LOCK_SH);
      std::error_code error;
      const bool existed = fs::exists(file_, error);
      connect(SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      // SQLite creates files with 0644; its journals take over the mode of the file.
      if (!existed) (void)::chmod(file_.c_str(), 0600);
      auto state = inspect();
      if (state == State::foreign) {
        unreplaced.reset();
        set_aside("foreign", "it is a database of another program");
        continue;
      }
      if (state == State::newer) {
        const auto version = number(*connection_, "PRAGMA user_version");
        close();
        degrade(fmt::format("it was written by a newer tuner (format {}, this one reads {}); it is left as it is",
                            version, kind_.version));
        return;
      }
      if (state != State::empty && !quick_check()) {
        unreplaced.reset();
        set_aside("corrupt", "it is damaged");
        continue;
      }
      if (sqlite3_db_readonly(connection_->getHandle(), "main") == 1) {
        if (state == State::ours) {
          degrade("it is read-only");
        } else {
          close();
          degrade("it is read-only and not usable as it is");
        }
        return;
      }
      configure_writable();
      if (state != State::ours) create_or_migrate();
      return;
    } catch (const SQLite::Exception& error) {
      rollback(connection_.get());
      if (is_damage(error.getErrorCode()) || error.getErrorCode() == SQLITE_ERROR ||
          error.getErrorCode() == SQLITE_CONSTRAINT) {
        unreplaced.reset();
        try {
          set_aside("corrupt", fmt::format("it is damaged ({})", error.what()));
        } catch (const std::exception& failure) {
          degrade(failure.what());
          return;
        }
        continue;
      }
      close();
      degrade(explain(error));
      return;
    } catch (const std::exception& error) {
      close();
      degrade(error.what());
      return;
    }
  }
  close();
  degrade("it cannot be replaced");
}

void Store::open_shipped() {
  try {
    connect(SQLite::OPEN_READONLY);
    switch (inspect()) {
      case State::ours:
        if (!quick_check()) drop("it is damaged");
        return;
      case State::older:
        return drop("it was made for an older tuner; build it again from its wisdom text");
      case State::newer:
        return drop("it was made for a newer tuner");
      case State::empty:
      case State::foreign:
        return drop(fmt::format("it is no {}", kind_.what));
    }
  } catch (const SQLite::Exception& error) {
    drop(is_damage(error.getErrorCode()) ? "it is damaged" : std::string(error.what()));
  }
}

void Store::open_memory() {
  in_memory_ = true;
  connection_ = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  create_or_migrate();
  execute(*connection_, "PRAGMA foreign_keys = ON");
}

void Store::close() {
  statements_.clear();
  connection_.reset();
}

// ---- trouble -------------------------------------------------------------------------------------------------------

void Store::drop(const std::string& reason) {
  close();
  warn_once("drop", fmt::format("{} {} is ignored: {}", kind_.what, file_.string(), reason));
}

void Store::degrade(const std::string& reason) {
  statements_.clear();
  auto old = std::move(connection_);
  in_memory_ = true;
  warn_once("degrade", fmt::format("{} {} is not written to: {}; going on {}", kind_.what, file_.string(), reason,
                                   kind_.memory_fallback ? "in memory, new results end with this process" : "without"));
  if (!kind_.memory_fallback) return;
  std::error_code error;
  const auto size = fs::file_size(file_, error);
  if (old && !error && static_cast<std::int64_t>(size) <= kMaxCopiedBytes) {
    try {
      busy_.timeout = std::min(busy_.timeout, std::chrono::milliseconds(1000));
      auto memory = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      sqlite3_backup* backup = sqlite3_backup_init(memory->getHandle(), "main", old->getHandle(), "main");
      const int result = backup == nullptr ? SQLITE_ERROR : sqlite3_backup_step(backup, -1);
      sqlite3_backup_finish(backup);
      if (result == SQLITE_DONE) {
        connection_ = std::move(memory);
        if (inspect() == State::ours) {
          execute(*connection_, "PRAGMA foreign_keys = ON");
          return;
        }
      }
    } catch (const SQLite::Exception&) {
      // What cannot be read cannot be taken along.
    }
  }
  connection_.reset();
  open_memory();
}

void Store::set_aside(const char* suffix, const std::string& reason) {
  close();
  fs::path kept;
  try {
    kept = move_aside(file_, identity_, suffix);
  } catch (const fs::filesystem_error& error) {
    throw CacheError(
        fmt::format("{}, and {} cannot be moved away: {}", reason, error.path1().string(), error.code().message()));
  }
  if (kept.empty()) return;  // another process has replaced it
  warn_once(fmt::format("aside {}", kept.string()),
            fmt::format("{} {}: {}; it was kept as {} and a new one was begun", kind_.what, file_.string(), reason,
                        kept.filename().string()));
}

bool Store::recover(const SQLite::Exception& error) {
  const int code = error.getErrorCode() & 0xff;
  if (mode_ == Mode::shipped) {
    drop(error.what());
    return true;
  }
  if (mode_ == Mode::memory || in_memory_) return false;
  if (code == SQLITE_NOMEM || code == SQLITE_MISUSE || code == SQLITE_TOOBIG || code == SQLITE_RANGE) return false;
  bool damaged = is_damage(code);
  if (code == SQLITE_ERROR || code == SQLITE_CONSTRAINT || code == SQLITE_SCHEMA || code == SQLITE_MISMATCH) {
    // Either our own mistake or a file that is damaged in a way that SQLite does not see: only the latter may cost
    // the user his file.
    try {
      SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      fresh.exec(kind_.schema);
      damaged = definitions(fresh) != definitions(*connection_) ||
                word(*connection_, "PRAGMA integrity_check(1)") != "ok" ||
                !word(*connection_, "PRAGMA foreign_key_check").empty();
    } catch (const SQLite::Exception& again) {
      damaged = is_damage(again.getErrorCode());
    }
    if (!damaged) return false;
  }
  try {
    if (damaged) {
      set_aside("corrupt", fmt::format("it is damaged ({})", error.what()));
      open_file();
    } else if (error.getExtendedErrorCode() == SQLITE_READONLY_DBMOVED) {
      close();
      open_file();
    } else {
      degrade(explain(error));
    }
  } catch (const std::exception& failure) {
    close();
    degrade(failure.what());
  }
  return true;
}

// ---- work ----------------------------------------------------------------------------------------------------------

namespace {
struct Nesting {
  explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  int& depth_;
};
}  // namespace

void Store::run(const char* literal) {
  auto& step = statement(literal);
  step.tryReset();
  step.executeStep();
  step.tryReset();
}

void Store::guarded_read(const std::function<void()>& work) {
  std::lock_guard lock(mutex_);
  if (!connection_) return;
  const bool outermost = depth_ == 0;
  const Nesting nesting(depth_);
  if (!outermost) return work();
  try {
    run("BEGIN");
    work();
    run("COMMIT");
  } catch (const SQLite::Exception& error) {
    rollback(connection_.get());
    const int code = error.getErrorCode() & 0xff;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_IOERR || code == SQLITE_CANTOPEN ||
        !recover(error)) {
      warn_once("read", fmt::format("{} {} cannot be read: {}", kind_.what, file_.string(), explain(error)));
    }
  } catch (...) {
    rollback(connection_.get());
    throw;
  }
}

bool Store::write(const std::function<void()>& work) {
  std::lock_guard lock(mutex_);
  if (mode_ == Mode::shipped) throw CacheError(file_.string() + " is read-only", SQLITE_READONLY, file_.string());
  if (depth_ > 0) {
    work();
    return true;
  }
  const Nesting nesting(depth_);
  for (int attempt = 0; connection_ != nullptr; ++attempt) {
    try {
      run("BEGIN IMMEDIATE");
      work();
      run("COMMIT");
      return true;
    } catch (const SQLite::Exception& error) {
      rollback(connection_.get());
      const std::string message = error.what();
      const int code = error.getExtendedErrorCode();
      if (attempt >= 4 || !recover(error)) {
        throw CacheError(fmt::format("{} {}: {}", kind_.what, display_path(), message), code, file_.string());
      }
    } catch (...) {
      rollback(connection_.get());
      throw;
    }
  }
  return false;
}

}  // namespace tuner::cache
