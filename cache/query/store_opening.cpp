#include <cache/query/store.hpp>

#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cache/file/disk.hpp>
#include <cache/file/paths.hpp>
#include <cache/file/seal.hpp>
#include <cache/query/schema.hpp>
#include <cache/query/shipped.hpp>

// How a store opens its file, and sets a damaged one aside.

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNoDatabase = "it is not a wisdom database";

/// Creates an empty file with \p mode, reduced by the umask, unless there is one. SQLite would not let a group write to
/// it. Its journals get the mode of the file.
void begin_file(const fs::path& file, unsigned mode) {
  const int created = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
  if (created >= 0) ::close(created);
}

/// Whether a database has neither write permission nor a journal, like shipped ones. Such files are replaced, never
/// written to, and are read without locks. Not in WAL mode, where readers need locks; bytes 18 and 19 are then 2.
bool nobody_writes(const fs::path& file) {
  constexpr auto kWrite = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  std::error_code error;
  if ((fs::status(file, error).permissions() & kWrite) != fs::perms::none || error) return false;
  std::string head;
  return !real_disk().read(file, 20, head) && head.size() == 20 && head[18] == 1 && head[19] == 1 &&
         !fs::exists(file.string() + "-journal", error);
}

bool is_readable(SQLite::Database& db, Contents contents) {
  return contents == Contents::ours || (contents == Contents::older && read_as_this_version(db));
}

}  // namespace

void Store::connect(int flags) {
  // If folders cannot be locked, the file may be replaced meanwhile: opens again until its identity stays the same.
  do {
    stamp_ = real_disk().stamp_of(file_);
    never_written_ = mode_ == Mode::read_only && flags == SQLite::OPEN_READONLY && nobody_writes(file_);
    connection_ = cache::connect(file_, flags, patience_, never_written_);
  } while (real_disk().stamp_of(file_).identity != stamp_.identity);
}

bool Store::quick_check() {
  if (options_.check_bytes < 0) return true;
  if (!has_its_definitions(*connection_)) return false;
  std::error_code error;
  const auto size = fs::file_size(file_, error);
  if (error || static_cast<std::int64_t>(size) > options_.check_bytes) return true;
  return word(*connection_, "PRAGMA quick_check(1)") == "ok";
}

void Store::open_file() {
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto refusal = open_once();
    if (!refusal) return;
    if (refusal->suffix != nullptr && !refusal->is_sound) {
      // One failed read or allocation looks like damage, too.
      const Finding finding = examine_twice(file_, patience_.limit);
      if (finding == Finding::sound) continue;
      if (finding == Finding::unknown) return degrade("it cannot be read completely now", /*for_now=*/true);
    }
    if (refusal->suffix != nullptr && !is_tuners_ && file_ != user_database_file()) {
      refusal = Refusal{refusal->reason + "; it is left as it is: give another name, or move it away"};
    }
    if (refusal->suffix == nullptr) return degrade(refusal->reason, refusal->for_now);
    if (const auto failure = set_aside(*refusal)) return degrade(*failure, /*for_now=*/false);
  }
  degrade("it cannot be opened or replaced", /*for_now=*/true);
}

std::optional<Store::Refusal> Store::open_once() {
  was_locked_ = false;
  const WorkLimit limit(patience_, options_.longest_read);
  is_tuners_ = false;
  std::error_code error;
  try {
    const fs::file_status status = fs::status(file_, error);  // asked once: it may be moved away now
    if (fs::exists(status) && !fs::is_regular_file(status)) return Refusal{"it is not a regular file"};
    const bool is_users_own = file_ == user_database_file();
    if (const auto why = real_disk().make_folder(file_.parent_path(), is_users_own ? 0700 : 0777))
      return Refusal{fmt::format("the folder {} cannot be created: {}", file_.parent_path().string(), *why)};
    const FolderLock unreplaced(file_.parent_path(), LOCK_SH, patience_.limit);
    begin_file(file_, is_users_own ? 0600 : 0666);
    connect(SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    is_tuners_ = number(*connection_, "PRAGMA application_id") == kApplicationId;
    const auto state = inspect(*connection_);
    if (state == Contents::foreign) return Refusal{kNoDatabase, "foreign"};
    if (state == Contents::newer || state == Contents::older) {
      const bool may_move =
          state == Contents::older && is_users_own && sqlite3_db_readonly(connection_->getHandle(), "main") == 0;
      std::string reason = other_version(*connection_);
      close();
      if (may_move) return Refusal{.reason = std::move(reason), .suffix = "older", .is_sound = true};
      return Refusal{reason + "; it is left as it is"};
    }
    if (cache::is_frozen(*connection_))
      return Refusal{"it is frozen: every process of a job gets the same answers from it"};
    if (state != Contents::empty && !quick_check()) return Refusal{"it is damaged", "corrupt"};
    if (sqlite3_db_readonly(connection_->getHandle(), "main") == 1) {
      if (state == Contents::ours) return Refusal{read_only_reason(file_)};
      close();
      return Refusal{read_only_reason(file_) + "; it is not usable as it is"};
    }
    if (state == Contents::empty) {
      connection_->exec("PRAGMA synchronous = OFF");  // a power cut can lose only an empty file
      create(*connection_);
    }
    prepare_for_writing(*connection_);
    return std::nullopt;
  } catch (const SQLite::Exception& failure) {
    rollback(connection_.get());
    close();
    require_memory(failure);
    was_locked_ = (failure.getErrorCode() & 0xff) == SQLITE_BUSY;
    return Refusal{reason_of(failure), may_be_damage(failure) ? "corrupt" : nullptr, is_passing(failure, file_)};
  } catch (const std::bad_alloc&) {
    close();
    throw;
  } catch (const std::exception& failure) {
    close();
    return Refusal{failure.what()};
  }
}

void Store::open_read_only() {
  for (int attempt = 0;; ++attempt) {
    try {
      const auto refusal = open_to_read();
      if (!refusal) return;
      // One failed read or allocation looks like damage, too.
      if (refusal->suffix == nullptr) return drop(refusal->reason);
      if (attempt > 0) return drop_damaged(refusal->reason);
    } catch (const SQLite::Exception& failure) {
      rollback(connection_.get());
      close();
      require_memory(failure);
      if (is_passing(failure, file_)) report_unavailable(explain(failure, file_, !read_only()));
      if (!may_be_damage(failure)) return drop(reason_of(failure));
      if (attempt > 0) return drop_damaged(reason_of(failure));
    }
  }
}

void Store::drop_damaged(const std::string& reason) {
  const WorkLimit limit(patience_, options_.longest_read);
  close();
  const auto bytes = bytes_of_file(file_, 0, kMaxCopiedBytes);
  const auto is_sound = [&] {
    const auto copy = connect_bytes(*bytes);
    limit_work(*copy, patience_);
    return examine(*copy, file_) == Finding::sound;
  };
  if (!bytes || is_sound()) report_unavailable("a reading of it failed: " + reason);
  drop(reason);
}

std::optional<Store::Refusal> Store::open_to_read() {
  const WorkLimit limit(patience_, options_.longest_read);
  std::error_code error;
  if (!fs::is_regular_file(file_, error)) return Refusal{why_no_file(file_)};
  if (is_frozen()) return open_copy();
  connect(SQLite::OPEN_READONLY);
  std::optional<Contents> state;
  try {
    state = inspect(*connection_);
  } catch (const SQLite::Exception& failure) {
    if ((failure.getErrorCode() & 0xff) != SQLITE_READONLY) throw;
    // A commit was interrupted: the next reader must roll it back.
    const FolderLock unreplaced(file_.parent_path(), LOCK_SH, options_.busy_timeout);
    connect(SQLite::OPEN_READWRITE);
    connection_->exec("PRAGMA query_only = ON");
    state = inspect(*connection_);
  }
  if (state == Contents::empty || state == Contents::foreign) return Refusal{kNoDatabase};
  if (!is_readable(*connection_, *state)) return Refusal{other_version(*connection_)};
  if (cache::is_frozen(*connection_)) return open_copy();
  if (!quick_check()) return Refusal{"it is damaged", "corrupt"};
  return std::nullopt;
}

std::optional<Store::Refusal> Store::open_copy() {
  close();
  never_written_ = false;
  stamp_ = real_disk().stamp_of(file_);
  if (stamp_.bytes > kMaxCopiedBytes)
    return Refusal{fmt::format("it has more than {} bytes, which is too much for a frozen database", kMaxCopiedBytes)};
  const auto bytes = bytes_of_file(file_, 0, kMaxCopiedBytes);
  if (!bytes) report_unavailable("a reading of it failed");
  const auto database = unsealed(*bytes);
  connection_ = connect_bytes(database.value_or(*bytes));
  limit_work(*connection_, patience_);
  const Contents state = inspect(*connection_);
  if (state == Contents::empty || state == Contents::foreign) return Refusal{kNoDatabase};
  if (!is_readable(*connection_, state)) return Refusal{other_version(*connection_)};
  if (!cache::is_frozen(*connection_)) return Refusal{kNotFrozen};
  if (!database || !has_its_definitions(*connection_)) return Refusal{kFrozenIsDamaged};
  return std::nullopt;
}

std::string Store::reason_of(const SQLite::Exception& failure) const {
  if (failure.getErrorCode() == SQLITE_NOTADB) {
    return "it is not a wisdom database, or is damaged from its first bytes on";
  }
  if (is_frozen() && is_damage(failure.getErrorCode())) return kFrozenIsDamaged;
  return may_be_damage(failure) ? fmt::format("it is damaged ({})", failure.what())
                                : explain(failure, file_, !read_only());
}

void Store::open_memory() {
  in_memory_ = true;
  auto memory = connect_memory();
  create(*memory);
  memory->exec("PRAGMA foreign_keys = ON");
  connection_ = std::move(memory);
}

std::optional<std::string> Store::set_aside(const Refusal& refusal) {
  if (!options_.may_replace) return refusal.reason;
  close();
  try {
    const auto kept = move_aside(file_, stamp_.identity, refusal.suffix, options_.busy_timeout);
    if (kept.empty()) return std::nullopt;  // another process has replaced it
    warn_once(fmt::format("aside {}", kept.string()),
              fmt::format("wisdom database {}: {}; it was kept as {} and a new one was begun{}", file_.string(),
                          refusal.reason, kept.filename().string(),
                          refusal.is_sound ? ". FILE is " + kept.filename().string() : ""));
    return std::nullopt;
  } catch (const fs::filesystem_error& error) {
    return fmt::format("{}, and {} cannot be moved away: {}", refusal.reason, error.path1().string(),
                       error.code().message());
  }
}

}  // namespace tuner::cache
