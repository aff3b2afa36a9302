#include <cache/file_kind.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <sqlite3.h>

#include <fmt/format.h>

#include <cache/connection.hpp>

namespace tuner::cache {
namespace {

/// Name and SQL text of the tables and indices.
std::map<std::string, std::string> definitions(SQLite::Database& db) {
  SQLite::Statement query(db, "SELECT name, coalesce(sql, '') FROM sqlite_schema");
  std::map<std::string, std::string> all;
  while (query.executeStep()) all.emplace(query.getColumn(0).getString(), query.getColumn(1).getString());
  return all;
}

int oldest_of(const FileKind& kind) { return kind.oldest > 0 ? kind.oldest : kind.version; }

/// Upgrades a file from \p version to version \p wanted.
void add(SQLite::Database& db, const FileKind& kind, int version, int wanted) {
  for (; version < wanted; ++version) db.exec(kind.additions[static_cast<std::size_t>(version - oldest_of(kind))]);
  db.exec(fmt::format("PRAGMA user_version = {}", oldest_of(kind) << 16 | wanted));
}

std::map<std::string, std::string> definitions(const FileKind& kind, int version) {
  const auto fresh = connect_memory();
  fresh->exec(kind.schema);
  add(*fresh, kind, oldest_of(kind), version);
  return definitions(*fresh);
}

}  // namespace

FormatVersion version_of(SQLite::Database& db) {
  const auto both = number(db, "PRAGMA user_version");
  const int written = static_cast<int>(both & 0xffff), reader = static_cast<int>(both >> 16);
  return {written, reader > 0 ? reader : written};
}

Contents inspect(SQLite::Database& db, const FileKind& kind) {
  // One snapshot: another process may be creating the file, and a half-written one would look foreign.
  std::optional<SQLite::Transaction> snapshot;
  if (sqlite3_get_autocommit(db.getHandle()) != 0) snapshot.emplace(db);
  const auto application = number(db, "PRAGMA application_id");
  const auto version = version_of(db);
  // The definitions of a newer file may use SQL that this SQLite does not know. They are read only without a version.
  if (application == 0 && version.written == 0 && number(db, "SELECT count(*) FROM sqlite_schema") == 0) {
    return Contents::empty;
  }
  if (application != kind.application_id || version.written < 1) return Contents::foreign;
  if (version.written < oldest_of(kind)) return Contents::older;
  if (version.written < kind.version) return Contents::earlier;
  return version.reader <= kind.version ? Contents::ours : Contents::newer;
}

std::string other_version(SQLite::Database& db, const FileKind& kind) {
  const auto version = version_of(db).written;
  if (version > kind.version) {
    return fmt::format("it was written by a newer tuner (format {}, this one reads {})", version, kind.version);
  }
  return fmt::format(
      "it was written by an older tuner (format {}, this one reads {}): its `tune export --all` and `tune db "
      "import` of this one bring its results along",
      version, kind.version);
}

void create(SQLite::Database& db, const FileKind& kind) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  if (inspect(db, kind) == Contents::empty) {  // another process may have been faster
    db.exec(kind.schema);
    db.exec(fmt::format("PRAGMA application_id = {}", kind.application_id));
    add(db, kind, oldest_of(kind), kind.version);
  }
  transaction.commit();
}

void upgrade(SQLite::Database& db, const FileKind& kind) {
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  if (inspect(db, kind) == Contents::earlier)  // another process may have been faster
    add(db, kind, version_of(db).written, kind.version);
  transaction.commit();
}

std::vector<std::string> missing_definitions(SQLite::Database& db, const FileKind& kind) {
  std::vector<std::string> missing;
  const auto present = definitions(db);
  for (const auto& [name, text] : definitions(kind, std::min(version_of(db).written, kind.version))) {
    if (!present.contains(name)) missing.push_back(name);
  }
  return missing;
}

bool is_intact(SQLite::Database& db, const FileKind& kind) {
  const auto wanted = definitions(kind, kind.version), present = definitions(db);
  const bool has_all = version_of(db).written > kind.version
                           ? std::includes(present.begin(), present.end(), wanted.begin(), wanted.end())
                           : present == wanted;
  return has_all && word(db, "PRAGMA integrity_check(1)") == "ok" && word(db, "PRAGMA foreign_key_check").empty();
}

}  // namespace tuner::cache
