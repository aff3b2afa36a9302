#include <tuner/cli/database_options.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <cache/paths.hpp>

#include <tuner/cli/output_file.hpp>
#include <tuner/cli/stored_devices.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {

namespace fs = std::filesystem;

void warn(std::string_view text) { Console(stderr, false).warning(text); }

void add_database_options(po::options_description& options, bool filters) {
  options.add_options()("db", po::value<std::string>()->value_name("FILE"),
                        "database; default: wisdom.db in the cache folder");
  if (!filters) return;
  auto add = options.add_options();
  add("kernel,k", po::value<std::string>()->value_name("NAME|FILE.cu"), "this kernel only");
  add("device-key", po::value<std::string>()->value_name("KEY"), "this device only, as `tune devices` prints its key");
}

cache::Filter read_filter(const po::variables_map& given) {
  cache::Filter filter{text_of(given, "kernel"), text_of(given, "device-key")};
  if (KernelLibrary::is_path(filter.kernel)) filter.kernel = KernelLibrary().find(filter.kernel).name;
  return filter;
}

void require_known_kernel(const cache::Filter& filter, std::span<cache::Database> databases) {
  if (filter.kernel.empty()) return;
  std::set<std::string> names;
  for (const KernelLibrary::Entry& entry : KernelLibrary().list()) names.insert(entry.name);
  for (cache::Database& database : databases)
    for (const cache::KernelSummary& one : cache::kernels(database)) names.insert(one.kernel.name);
  if (!names.contains(filter.kernel))
    throw UsageError(unknown_name("kernel", filter.kernel, {names.begin(), names.end()}));
}

void require_known_device(const cache::Filter& filter, std::span<cache::Database> databases) {
  if (filter.device_key.empty()) return;
  std::vector<std::string> keys;
  for (const cache::DeviceRecord& device : stored_devices(databases)) keys.push_back(device.key);
  if (std::find(keys.begin(), keys.end(), filter.device_key) == keys.end())
    throw UsageError(unknown_name("device", filter.device_key, keys));
}

fs::path database_file(const po::variables_map& given) {
  if (given.count("db")) return text_of(given, "db");
  if (const auto place = cache::user_database_file()) return *place;
  throw Error("there is no cache folder: set TUNER_CACHE_DIR or HOME, or give --db FILE");
}

cache::Database open_for_writing(const fs::path& file) {
  cache::OpenOptions options;
  options.warn = [](const std::string& text) { warn(text); };
  options.strict = true;
  return cache::Database::open_user(file, options);
}

cache::Database open_for_reading(const fs::path& file, bool damaged) {
  std::error_code error;
  if (!fs::exists(file, error))
    throw Error(fmt::format("{}: no such database{}", file.string(),
                            error ? " (" + error.message() + ')' : "; `tune --kernel NAME` makes one"));
  cache::OpenOptions options;
  options.warn = [](const std::string& text) { warn(text); };
  if (damaged) options.check_bytes = -1;
  return cache::Database::open_read_only(file, options);
}

std::vector<cache::Database> open_all_for_reading(const po::variables_map& given) {
  if (given.count("db") || !cache::frozen_database_file()) return open_all_of_this_machine(given);
  WisdomOptions options;
  options.warn = warn;
  std::vector<cache::Database> frozen;
  frozen.push_back(std::move(Wisdom(options).user()));
  return frozen;
}

std::vector<cache::Database> open_all_of_this_machine(const po::variables_map& given) {
  std::vector<cache::Database> all;
  std::error_code error;
  const auto users = given.count("db") ? std::optional(database_file(given)) : cache::user_database_file();
  if (users && (given.count("db") || fs::exists(*users, error))) all.push_back(open_for_reading(*users));
  if (given.count("db")) return all;
  cache::OpenOptions options;
  options.warn = [](const std::string& text) { warn(text); };
  for (cache::Database& shipped : cache::Database::open_all_shipped({}, options)) all.push_back(std::move(shipped));
  return all;
}

}  // namespace tuner::cli
