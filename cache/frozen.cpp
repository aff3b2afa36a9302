#include <cache/frozen.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cache/browse.hpp>
#include <cache/exchange.hpp>
#include <cache/sha256.hpp>
#include <cache/shipped.hpp>
#include <cache/store.hpp>

namespace tuner::cache {
namespace fs = std::filesystem;
namespace {

/// A column as bytes. Floating numbers are not converted to text, because SQLite's versions write them differently.
std::string bytes_of(const SQLite::Column& column) {
  if (!column.isFloat()) return column.getString();
  const auto bytes = std::bit_cast<std::array<char, sizeof(double)>>(column.getDouble());
  return {bytes.begin(), bytes.end()};
}

/// SHA-256 of all columns, checksums included, of all rows that lookups read. Later versions, whose records may have
/// more fields, compute the same.
std::string digest(SQLite::Database& db) {
  std::vector<std::string> texts;
  for (const char* sql : {"SELECT * FROM best", "SELECT * FROM quarantine"}) {
    SQLite::Statement row(db, sql);
    while (row.executeStep())
      for (int i = 0; i < row.getColumnCount(); ++i) texts.push_back(bytes_of(row.getColumn(i)));
  }
  return sha256_of_parts({texts.begin(), texts.end()});
}

// ---- the seal ------------------------------------------------------------------------------------------------------
// The seal is 16 bytes after the last page, which SQLite does not read: a mark and a hash of all bytes before. With it,
// a process reads no rows when it starts. Like the digest, it detects flipped bits and wrong copies, not tampering.

constexpr std::uint64_t kSealMark = 0x6c616573'72656e75;  // "unerseal"
struct Seal {
  std::uint64_t mark = kSealMark, hash = 0;
};

/// Hashes four words at a time, each in its own lane. A change of one word always changes the hash.
class FileHash {
 public:
  /// \p size: a multiple of 32.
  void add(const char* bytes, std::size_t size) {
    for (std::size_t at = 0; at < size; at += sizeof lanes_) {
      std::uint64_t words[4];
      std::memcpy(words, bytes + at, sizeof words);
      for (int i = 0; i < 4; ++i) lanes_[i] = std::rotl(lanes_[i] ^ words[i], 29) * kOdd;
    }
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes_) all = std::rotl(all ^ lane, 31) * kOdd;
    return all;
  }

 private:
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t lanes_[4] = {1, 2, 3, 4};
};

/// The hash of the first \p size bytes of \p file; nullopt when they cannot be read.
std::optional<std::uint64_t> hash_of(std::istream& file, std::uint64_t size) {
  FileHash hash;
  std::vector<char> buffer(std::size_t{1} << 18);
  while (size > 0) {
    const auto part = std::min<std::uint64_t>(size, buffer.size());
    if (part % 32 != 0 || !file.read(buffer.data(), static_cast<std::streamsize>(part))) return std::nullopt;
    hash.add(buffer.data(), part);
    size -= part;
  }
  return hash.value();
}

void add_seal(const fs::path& path) {
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto hash = hash_of(file, fs::file_size(path));
  const Seal seal{.hash = hash.value_or(0)};
  if (!hash || !file.seekp(0, std::ios::end).write(reinterpret_cast<const char*>(&seal), sizeof seal).flush())
    throw CacheError(path.string() + " cannot be written");
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::remove);
}

/// Whether no byte has changed since the file was sealed.
bool is_sealed(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  Seal seal{.mark = 0};
  if (error || size < sizeof seal) return false;
  std::ifstream file(path, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(sizeof seal), std::ios::end)
      .read(reinterpret_cast<char*>(&seal), sizeof seal);
  return file.seekg(0) && seal.mark == kSealMark && hash_of(file, size - sizeof seal) == seal.hash;
}

}  // namespace

std::int64_t freeze(Database& from, const fs::path& file) {
  auto frozen = Database::in_memory();
  const std::int64_t best = copy_for_freezing(frozen, from);
  if (best == 0)
    throw CacheError(
        fmt::format("nothing is frozen: no best result is known in what was given, so that every call would be served "
                    "with its default. `tune KERNEL` finds results; {} was not written",
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
    add_seal(part);
    (void)Database::open_frozen(part);  // must be sound before it replaces the old file
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
           "others: make a frozen one of it with `tune db freeze`";
  if (is_sealed(sqlite3_db_filename(db.getHandle(), "main"))) return std::nullopt;
  if (word(db, "PRAGMA integrity_check(1)") != "ok" || word(db, "SELECT digest FROM frozen") != digest(db))
    return "it is damaged, or was changed after it was frozen: copy it again, or make it again with `tune db freeze`";
  return std::nullopt;
}

}  // namespace tuner::cache
