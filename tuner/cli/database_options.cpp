#include <tuner/cli/database_options.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <cache/paths.hpp>

#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/session/kernel_library.hpp>

namespace tuner::cli {

namespace fs = std::filesystem;

namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

void warn(std::string_view text) { Console(stderr, false).warning(text); }

void add_database_options(Options& options, bool filters) {
  options.text("db", "FILE", "database; default: wisdom.db in the cache folder");
  if (!filters) return;
  options.text("kernel,k", "NAME|FILE.cu", "this kernel only");
  options.text("device-key", "KEY", "this device only, as `tune devices` prints its key");
}

cache::Filter read_filter(const Given& given) {
  cache::Filter filter{given.text("kernel"), given.text("device-key")};
  if (KernelLibrary::is_path(filter.kernel)) filter.kernel = KernelLibrary().find(filter.kernel).name;
  return filter;
}

void require_known_kernel(const cache::Filter& filter, std::span<cache::Database> databases) {
  if (filter.kernel.empty()) return;
  std::set<std::string> names;
  for (const KernelLibrary::Entry& entry : KernelLibrary().list()) names.insert(entry.name);
  for (cache::Database& database : databases)
    for (const cache::KernelSummary& one : cache::kernels(database)) names.insert(one.kernel.name);
  require_known("kernel", filter.kernel, {names.begin(), names.end()});
}

std::vector<cache::DeviceRecord> stored_devices(std::span<cache::Database> databases) {
  std::map<std::string, cache::DeviceRecord> by_key;
  for (cache::Database& database : databases) {
    for (const cache::SessionRecord& one : cache::sessions(database))
      by_key.emplace(one.key.device.key, one.key.device);
    for (const cache::BestRecord& one : cache::best_rows(database)) by_key.emplace(one.device.key, one.device);
  }
  std::vector<cache::DeviceRecord> all;
  for (const auto& [key, device] : by_key) all.push_back(device);
  return all;
}

const cache::DeviceRecord& find_device(const std::vector<cache::DeviceRecord>& known, std::string_view text,
                                       std::string_view option) {
  std::vector<const cache::DeviceRecord*> exact, partial;
  std::string names;
  for (const cache::DeviceRecord& one : known) {
    if (one.key == text || one.name == text) exact.push_back(&one);
    if (lower_case(one.name + '\n' + one.key).find(lower_case(text)) != std::string::npos) partial.push_back(&one);
    names += (names.empty() ? "" : ", ") + in_quotes(one.name.empty() ? one.key : one.name);
  }
  if (exact.size() == 1) return *exact[0];
  if (exact.empty() && partial.size() == 1) return *partial[0];
  throw UsageError(
      fmt::format("{}: {} is {}; there are results of {}", option, in_quotes(text),
                  exact.size() + partial.size() > 0 ? "not one device alone" : "no device of these results",
                  names.empty() ? "none" : names));
}

void require_known_device(const cache::Filter& filter, std::span<cache::Database> databases) {
  if (filter.device_key.empty()) return;
  std::vector<std::string> keys;
  for (const cache::DeviceRecord& device : stored_devices(databases)) keys.push_back(device.key);
  require_known("device", filter.device_key, keys);
}

fs::path database_file(const Given& given) {
  if (given.has("db")) return given.text("db");
  if (const auto place = cache::user_database_file()) return *place;
  throw Error("there is no cache folder: set TUNER_CACHE_DIR or HOME, or give --db FILE");
}

cache::Database open_for_writing(const fs::path& file) {
  cache::OpenOptions options;
  options.warn = warn;
  options.strict = true;
  return cache::Database::open_user(file, options);
}

cache::Database open_for_reading(const fs::path& file, bool damaged) {
  std::error_code error;
  if (!fs::exists(file, error))
    throw Error(fmt::format("{}: no such database{}", file.string(),
                            error ? " (" + error.message() + ')' : "; `tune --kernel NAME` makes one"));
  cache::OpenOptions options;
  options.warn = warn;
  if (damaged) options.check_bytes = -1;
  return cache::Database::open_read_only(file, options);
}

std::vector<cache::Database> open_all_for_reading(const Given& given) {
  if (given.has("db") || !cache::frozen_database_file()) return open_all_of_this_machine(given);
  WisdomOptions options;
  options.warn = warn;
  std::vector<cache::Database> frozen;
  frozen.push_back(std::move(Wisdom(options).user()));
  return frozen;
}

std::vector<cache::Database> open_all_of_this_machine(const Given& given) {
  std::vector<cache::Database> all;
  std::error_code error;
  const auto users = given.has("db") ? std::optional(database_file(given)) : cache::user_database_file();
  if (users && (given.has("db") || fs::exists(*users, error))) all.push_back(open_for_reading(*users));
  if (given.has("db")) return all;
  cache::OpenOptions options;
  options.warn = warn;
  for (cache::Database& shipped : cache::Database::open_all_shipped({}, options)) all.push_back(std::move(shipped));
  return all;
}

WisdomOptions read_only_wisdom(const Given& given) {
  if (given.has("db")) require_database(given.text("db"), "--db");
  WisdomOptions options;
  options.database = given.text("db");
  options.read_only = true;
  options.warn = warn;
  return options;
}

cache::ImportCount import_text_file(cache::Database& into, const std::string& file) {
  constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;  // compressed; read_text() limits what it may hold
  require_input_file(file, kMostBytes, "wisdom text");
  return cache::import_text(into, cache::read_text(file), file);
}

}  // namespace tuner::cli
