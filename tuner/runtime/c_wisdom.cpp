// The functions of tuner.h for databases.
#include <tuner/runtime/c_interface.hpp>

#include <filesystem>
#include <vector>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/exchange.hpp>
#include <cache/paths.hpp>
#include <cache/shipped.hpp>

#include <tuner/runtime/serving.hpp>

namespace tuner::runtime {
namespace {

namespace fs = std::filesystem;

cache::OpenOptions strictly() {
  cache::OpenOptions options;
  options.warn = [](const std::string& message) { Serving::process().warn(message); };
  options.strict = true;
  return options;
}

fs::path file_of(const char* database) {
  if (database != nullptr && *database != '\0') return database;
  if (const auto users = cache::user_database_file()) return *users;
  throw Error(ErrorCode::cache, "tuner: there is no cache folder: set TUNER_CACHE_DIR or HOME, or name a database");
}

cache::Database opened(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) throw Error(ErrorCode::not_found, file.string() + ": no such database");
  return cache::Database::open_read_only(file, strictly());
}

/// The paths of a caller's databases.
std::vector<fs::path> paths(const char* const* databases, std::size_t count) {
  if (count > 0) require(databases, "databases");
  std::vector<fs::path> all;
  for (std::size_t i = 0; i < count; ++i) {
    require(databases[i], "a database's path");
    all.emplace_back(databases[i]);
  }
  return all;
}

/// The results of \p files. Only one of several is open at a time.
cache::Database results_of(const std::vector<fs::path>& files) {
  if (files.size() == 1) return opened(files[0]);
  cache::Database all = cache::Database::in_memory(strictly());
  for (const fs::path& file : files) {
    cache::Database one = opened(file);
    cache::merge(all, one);
  }
  return all;
}

}  // namespace

// The attribute in tuner.h is that of the global names, not of these.
#pragma GCC visibility push(default)
extern "C" {

tuner_status tuner_wisdom_export(const char* database, const char* kernel, char** text) {
  return guarded([&] {
    require(text, "text");
    cache::Database from = opened(file_of(database));
    *text = callers_text(cache::export_wisdom(from, {kernel == nullptr ? "" : kernel, {}}));
  });
}

tuner_status tuner_wisdom_import(const char* database, const char* text, const char* source, int64_t* changed) {
  return guarded([&] {
    require(text, "text", source, "source");
    cache::Database into = cache::Database::open_user(file_of(database), strictly());
    const cache::ImportCount count = cache::import_text(into, text, source);
    if (changed != nullptr) *changed = count.best;
  });
}

tuner_status tuner_wisdom_merge(const char* into, const char* const* databases, size_t count, int64_t* changed) {
  return guarded([&] {
    require(into, "into");
    std::vector<cache::Database> sources;  // all are opened first, so that nothing is changed if one cannot be read
    for (const fs::path& file : paths(databases, count)) sources.push_back(opened(file));
    cache::Database united = cache::Database::open_user(into, strictly());
    std::int64_t best = 0;
    for (cache::Database& source : sources) best += cache::merge(united, source).best;
    if (changed != nullptr) *changed = best;
  });
}

tuner_status tuner_wisdom_freeze(const char* frozen, const char* const* databases, size_t count) {
  return guarded([&] {
    require(frozen, "frozen");
    std::error_code error;
    if (fs::exists(fs::symlink_status(frozen, error)) && !cache::is_frozen_file(frozen))
      throw Error(ErrorCode::invalid_argument, std::string(frozen) + ": it is no frozen database; nothing was changed");
    cache::Database from = results_of(paths(databases, count));
    cache::freeze(from, frozen);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace tuner::runtime
