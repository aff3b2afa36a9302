// The functions of tuner.h for arrays and databases, and for programs that write kernel files.
#include <tuner/runtime/interfaces/c_interface.hpp>

#include <filesystem>
#include <vector>

#include <cache/exchange/exchange.hpp>
#include <cache/exchange/shipping.hpp>
#include <cache/file/paths.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/query/shipped.hpp>
#include <cache/records/json.hpp>

#include <tuner/array.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/runtime/decide/serving.hpp>

struct tuner_array {
  tuner::detail::ArrayMemory memory;
  std::size_t bytes;
};

namespace tuner::runtime {
namespace {

namespace fs = std::filesystem;

void require_room(const tuner_array* array, const void* memory, std::size_t bytes) {
  require(array, "array");
  if (bytes > 0) require(memory, "the host's memory");
  if (bytes > array->bytes)
    throw Error(ErrorCode::invalid_argument,
                "tuner: the array holds " + std::to_string(array->bytes) + " bytes, not " + std::to_string(bytes));
}

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

tuner_status tuner_array_new(size_t bytes, tuner_array** array) {
  return guarded([&] {
    require(array, "array");
    *array = new tuner_array{detail::ArrayMemory(bytes), bytes};
  });
}

void* tuner_array_data(tuner_array* array) { return array == nullptr ? nullptr : array->memory.address(); }

tuner_status tuner_array_upload(tuner_array* array, const void* from, size_t bytes) {
  return guarded([&] {
    require_room(array, from, bytes);
    array->memory.download(nullptr, 0);  // waits for launches that still read what was there
    array->memory.upload(from, bytes);
  });
}

tuner_status tuner_array_download(const tuner_array* array, void* to, size_t bytes) {
  return guarded([&] {
    require_room(array, to, bytes);
    array->memory.download(to, bytes);
  });
}

void tuner_array_free(tuner_array* array) { delete array; }

tuner_status tuner_possible_name(const char* name, char** possible) {
  return guarded([&] {
    require(name, "name", possible, "possible");
    *possible = callers_text(possible_name(name));
  });
}

tuner_status tuner_kernel_parameters(const char* text, const char* kernel, char** json) {
  return guarded([&] {
    require(text, "text", kernel, "kernel", json, "json");
    const auto found = find_signature(code_of(text), kernel);
    if (!found) throw Error(ErrorCode::not_found, std::string("tuner: the text has no kernel '") + kernel + "'");
    Json parameters = Json::array();
    for (const NamedType& one : found->arguments)
      parameters.push_back({{"name", one.name}, {"type", one.type}, {"is_const", one.is_to_const()}});
    *json = callers_text(text_of_json(parameters));
  });
}

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
      throw Error(ErrorCode::invalid_argument,
                  std::string(frozen) + ": it is not a frozen database; nothing was changed");
    cache::Database from = results_of(paths(databases, count));
    cache::freeze(from, frozen);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace tuner::runtime
