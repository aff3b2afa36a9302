#include <cache/file_kind.hpp>

#include <cstdint>
#include <map>

#include <sqlite3.h>

#include <fmt/format.h>

#include <cache/connection.hpp>

namespace tuner::cache {
namespace {

/// Of tables and indices: name and text.
std::map<std::string, std::string> definitions(SQLite::Database& db) {
  SQLite::Statement query(db, "SELECT name, coalesce(sql, '') FROM sqlite_schema");
  std::map<std::string, std::string> all;
  while (query.executeStep()) all.emplace(query.getColumn(0).getString(), query.getColumn(1).getString());
  return all;
}

std::map<std::string, std::string> definitions(const char* schema) {
  const auto fresh = connect_memory();
  fresh->exec(schema);
  return definitions(*fresh);
}

/// While it lives, all reads see the same state of the file.
class Snapshot {
 public:
  explicit Snapshot(SQLite::Database& db) : db_(db), outermost_(sqlite3_get_autocommit(db.getHandle()) != 0) {
    if (outermost_) db_.exec("BEGIN");
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

Contents inspect(SQLite::Database& db, const FileKind& kind) {
  // Another process may be creating it: half of what was before and half of what is now would look foreign.
  const Snapshot snapshot(db);
  const auto application = number(db, "PRAGMA application_id");
  const auto version = number(db, "PRAGMA user_version");
  if (application == 0 && version == 0 && number(db, "SELECT count(*) FROM sqlite_schema") == 0) {
    return Contents::empty;
  }
  if (application != kind.application_id || version < 1) return Contents::foreign;
  if (version == kind.version) return Contents::ours;
  if (version < kind.version) return Contents::older;
  std::int64_t reader = 0;
  try {
    if (number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'") != 0) {
      reader = number(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'min_reader'");
    }
  } catch (const SQLite::Exception&) {
    // Its schema may use words that this SQLite does not know: that is no damage.
  }
  return reader > 0 && reader <= kind.version ? Contents::ours : Contents::newer;
}

std::string other_version(Contents contents, std::int64_t version, const FileKind& kind) {
  if (contents == Contents::newer) {
    return fmt::format("it was written by a newer tuner (format {}, this one reads {})", version, kind.version);
  }
  return fmt::format(
      "it was written by an older tuner (format {}, this one reads {}): `tune export --all` of that one and `tune "
      "import` of this one bring its results along",
      version, kind.version);
}

void create_or_migrate(SQLite::Database& db, const FileKind& kind) {
  db.exec("BEGIN IMMEDIATE");
  try {
    const auto state = inspect(db, kind);  // another process may have been faster
    auto version = number(db, "PRAGMA user_version");
    if (state == Contents::empty) {
      db.exec(kind.schema);
      if (kind.migrate) kind.migrate(db, 0);
      version = kind.version;
    }
    if (state == Contents::older) {
      for (; version < kind.version; ++version) kind.migrate(db, static_cast<int>(version));
    }
    if (state == Contents::empty || state == Contents::older) {
      db.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kind.application_id, kind.version));
    }
    db.exec("COMMIT");
  } catch (...) {
    rollback(&db);
    throw;
  }
}

std::vector<std::string> missing_definitions(SQLite::Database& db, const char* schema) {
  std::vector<std::string> missing;
  const auto present = definitions(db);
  for (const auto& [name, text] : definitions(schema)) {
    if (!present.contains(name)) missing.push_back(name);
  }
  return missing;
}

bool is_intact(SQLite::Database& db, const FileKind& kind) {
  return definitions(kind.schema) == definitions(db) && word(db, "PRAGMA integrity_check(1)") == "ok" &&
         word(db, "PRAGMA foreign_key_check").empty();
}

}  // namespace tuner::cache
