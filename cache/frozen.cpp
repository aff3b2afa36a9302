#include <cache/frozen.hpp>

#include <array>
#include <bit>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <cache/browse.hpp>
#include <cache/exchange.hpp>
#include <cache/sha256.hpp>
#include <cache/shipped.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

/// Numbers as they are: how SQLite writes them as text differs between its versions.
std::string bytes_of(const SQLite::Column& column) {
  if (!column.isFloat()) return column.getString();
  const auto bytes = std::bit_cast<std::array<char, sizeof(double)>>(column.getDouble());
  return {bytes.begin(), bytes.end()};
}

/// SHA-256 of all columns of all rows that lookups read, their checksums among them. Says the same in later versions,
/// whose records may have more fields.
std::string digest(SQLite::Database& db) {
  std::vector<std::string> texts;
  for (const char* sql : {"SELECT * FROM best", "SELECT * FROM quarantine"}) {
    SQLite::Statement row(db, sql);
    while (row.executeStep())
      for (int i = 0; i < row.getColumnCount(); ++i) texts.push_back(bytes_of(row.getColumn(i)));
  }
  return sha256_of_parts({texts.begin(), texts.end()});
}

}  // namespace

std::int64_t freeze(Database& from, const fs::path& file) {
  auto frozen = Database::in_memory();
  const std::int64_t best = import_text(frozen, export_for_freezing(from), "what is to be frozen").best;
  if (best == 0)
    throw CacheError(
        fmt::format("nothing is frozen: no best result is known in what was given, so that every call would be served "
                    "with its default. `tune --kernel NAME` finds results; {} was not written",
                    file.string()));
  auto& db = frozen.store().connection();
  db.exec("CREATE TABLE frozen(digest TEXT NOT NULL) STRICT");
  SQLite::Statement mark(db, "INSERT INTO frozen VALUES(?)");
  mark.bind(1, digest(db));
  mark.exec();

  const fs::path part = fmt::format("{}.part-{}", file.string(), ::getpid());
  std::error_code error;
  try {
    write_copy(frozen, part);
    (void)Database::open_frozen(part);  // what is not sound now will not be later
    fs::rename(part, file);
  } catch (const fs::filesystem_error& failure) {
    fs::remove(part, error);
    throw CacheError(fmt::format("{} cannot be written: {}", file.string(), failure.code().message()));
  } catch (...) {
    fs::remove(part, error);
    throw;
  }
  return best;
}

bool is_frozen_file(const fs::path& path) try {
  if (!is_database_file(path)) return false;
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
  return is_frozen(db);
} catch (const std::exception&) {
  return false;
}

bool is_frozen(SQLite::Database& db) {
  return number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'frozen'") > 0;
}

std::optional<std::string> why_not_frozen(SQLite::Database& db) {
  if (!is_frozen(db))
    return "it is not frozen, and what a session or an import adds to it would be known to some processes and not to "
           "others: make a frozen one of it with `tune freeze`";
  if (word(db, "PRAGMA integrity_check(1)") != "ok" || word(db, "SELECT digest FROM frozen") != digest(db))
    return "it is damaged, or was changed after it was frozen: copy it again, or make it again with `tune freeze`";
  return std::nullopt;
}

}  // namespace tuner::cache
