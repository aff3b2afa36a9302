#include <cache/store.hpp>

#include <algorithm>
#include <system_error>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cache/paths.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kMaxCopiedBytes = std::int64_t{256} << 20;

}  // namespace

Store::Store(Kind kind, fs::path file, Mode mode, Options options)
    : kind_(std::move(kind)),
      file_(std::move(file)),
      mode_(mode),
      options_(std::move(options)),
      patience_(options_.busy_timeout) {
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
    connection_ = cache::connect(file_, flags, patience_);
  } while (identity_of(file_) != identity_);
}

bool Store::quick_check() {
  std::error_code error;
  const auto size = fs::file_size(file_, error);
  if (options_.skip_check || error || static_cast<std::int64_t>(size) > options_.check_bytes) return true;
  return word(*connection_, "PRAGMA quick_check(1)") == "ok";
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
      auto state = inspect(*connection_, kind_);
      if (state == Contents::foreign) {
        unreplaced.reset();
        set_aside("foreign", "it is a database of another program");
        continue;
      }
      if (state == Contents::newer) {
        const auto version = number(*connection_, "PRAGMA user_version");
        close();
        degrade(fmt::format("it was written by a newer tuner (format {}, this one reads {}); it is left as it is",
                            version, kind_.version));
        return;
      }
      if (state != Contents::empty && !quick_check()) {
        unreplaced.reset();
        set_aside("corrupt", "it is damaged");
        continue;
      }
      if (sqlite3_db_readonly(connection_->getHandle(), "main") == 1) {
        if (state == Contents::ours) {
          degrade("it is read-only");
        } else {
          close();
          degrade("it is read-only and not usable as it is");
        }
        return;
      }
      prepare_for_writing(*connection_, file_, kind_.durable);
      if (options_.max_pages > 0) connection_->exec(fmt::format("PRAGMA max_page_count = {}", options_.max_pages));
      if (state != Contents::ours) create_or_migrate(*connection_, kind_);
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
    switch (inspect(*connection_, kind_)) {
      case Contents::ours:
        if (!quick_check()) drop("it is damaged");
        return;
      case Contents::older:
        return drop("it was made for an older tuner; build it again from its wisdom text");
      case Contents::newer:
        return drop("it was made for a newer tuner");
      case Contents::empty:
      case Contents::foreign:
        return drop(fmt::format("it is no {}", kind_.what));
    }
  } catch (const SQLite::Exception& error) {
    drop(is_damage(error.getErrorCode()) ? "it is damaged" : std::string(error.what()));
  }
}

void Store::open_memory() {
  in_memory_ = true;
  connection_ = connect_memory();
  create_or_migrate(*connection_, kind_);
  connection_->exec("PRAGMA foreign_keys = ON");
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
      patience_.limit = std::min(patience_.limit, std::chrono::milliseconds(1000));
      auto memory = connect_memory();
      sqlite3_backup* backup = sqlite3_backup_init(memory->getHandle(), "main", old->getHandle(), "main");
      const int result = backup == nullptr ? SQLITE_ERROR : sqlite3_backup_step(backup, -1);
      sqlite3_backup_finish(backup);
      if (result == SQLITE_DONE) {
        connection_ = std::move(memory);
        if (inspect(*connection_, kind_) == Contents::ours) {
          connection_->exec("PRAGMA foreign_keys = ON");
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
      damaged = !is_intact(*connection_, kind_);
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
