#include <tuner/cli/commands/database_options.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include <cache/file/disk.hpp>
#include <cache/file/paths.hpp>
#include <cache/query/session.hpp>
#include <cache/query/shipped.hpp>
#include <cache/records/json.hpp>

#include <tuner/cli/input/standard_input.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/cli/print/terminal.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner::cli {

namespace fs = std::filesystem;

namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::vector<std::string> known_kernels(std::span<cache::Database> databases) {
  std::set<std::string> names;
  for (const KernelLibrary::Entry& entry : KernelLibrary().list()) names.insert(entry.name);
  for (cache::Database& database : databases) {
    for (const cache::KernelSummary& one : cache::kernels(database)) names.insert(one.kernel.name);
    for (const cache::MissRecord& one : cache::misses(database)) names.insert(one.kernel.name);
    for (const cache::QuarantineRecord& one : cache::quarantined(database)) names.insert(one.kernel.name);
  }
  return {names.begin(), names.end()};
}

std::string device_names(const std::vector<cache::DeviceRecord>& known) {
  std::vector<std::string> names;
  for (const cache::DeviceRecord& one : known) names.push_back(in_quotes(one.name.empty() ? one.key : one.name));
  return names.empty() ? "none" : listed(names, ", ");
}

}  // namespace

void warn(std::string_view text) { Console(stderr, false).warning(text); }

std::vector<cache::DeviceRecord> stored_devices(std::span<cache::Database> databases) {
  std::map<std::string, cache::DeviceRecord> by_key;
  for (cache::Database& database : databases) {
    for (const cache::SessionRecord& one : cache::sessions(database))
      by_key.emplace(one.key.device.key, one.key.device);
    for (const cache::BestRecord& one : cache::best_rows(database)) by_key.emplace(one.device.key, one.device);
    for (const cache::MissRecord& one : cache::misses(database)) by_key[one.device_key].key = one.device_key;
    for (const cache::QuarantineRecord& one : cache::quarantined(database)) by_key[one.device_key].key = one.device_key;
  }
  std::vector<cache::DeviceRecord> all;
  for (const auto& [key, device] : by_key) all.push_back(device);
  return all;
}

const cache::DeviceRecord& find_device(const std::vector<cache::DeviceRecord>& known, std::string_view text,
                                       std::string_view option, DeviceName as) {
  std::vector<const cache::DeviceRecord*> exact, partial;
  for (const cache::DeviceRecord& one : known) {
    if (one.key == text || one.name == text) exact.push_back(&one);
    if (lower_case(one.name + '\n' + one.key).find(lower_case(text)) != std::string::npos) partial.push_back(&one);
  }
  if (exact.size() == 1) return *exact[0];
  if (exact.empty() && !partial.empty() && as == DeviceName::whole)
    throw UsageError("{} {} is a part of a name: to remove anything, give the whole name or key", option,
                     in_quotes(text));
  if (exact.empty() && partial.size() == 1) return *partial[0];
  if (exact.size() + partial.size() > 0)
    throw UsageError("{}: {} is not one device alone; available: {}", option, in_quotes(text), device_names(known));
  throw UsageError("{}: no results for device {}; available: {}", option, in_quotes(text), device_names(known));
}

std::string stored_kernel(const std::string& text, std::span<cache::Database> databases) {
  if (KernelLibrary::is_path(text)) return KernelLibrary().find(text).name;
  if (!text.empty()) require_known("kernel", text, known_kernels(databases));
  return text;
}

cache::Filter read_filter(const Given& given, std::span<cache::Database> databases, DeviceName as) {
  for (const char* option : {"kernel", "device"})  // an empty name would match everything
    if (given.has(option) && given.text(option).empty())
      throw UsageError("--{} is empty: leave it out to mean all", option);
  cache::Filter filter{stored_kernel(given.text("kernel"), databases)};
  if (as == DeviceName::whole && KernelLibrary::is_path(given.text("kernel")))
    filter.source = to_record(KernelLibrary().find(given.text("kernel")), {}).source_hash;
  if (given.has("device")) {
    const std::string device = given.text("device");
    const std::vector<cache::DeviceRecord> known = stored_devices(databases);
    if (!is_device_name(device)) {
      filter.device_key = find_device(known, device, "--device", as).key;
      return filter;
    }
    filter.device_key = choose_device(device).device.key.text();
    if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.key == filter.device_key; }))
      throw UsageError("--device: no results for device {}; available: {}", in_quotes(device), device_names(known));
  }
  return filter;
}

fs::path database_file(const Given& given) {
  if (given.has("db")) return given.text("db");
  if (const auto place = cache::user_database_file()) return *place;
  throw Error("there is no cache folder: set TUNER_CACHE_DIR or HOME, or give --db FILE");
}

cache::Database open_for_writing(const fs::path& file) {
  return cache::Database::open_user(file, {.warn = warn, .strict = true});
}

cache::Database open_for_reading(const fs::path& file, bool damaged) {
  std::error_code error;
  const bool is_there = fs::exists(file, error);
  if (error)
    throw Error(fmt::format("{} cannot be read: {}", file.string(),
                            cache::obstacle_to(file, /*to_write=*/false).value_or(error.message())));
  if (!is_there) throw Error(fmt::format("{}: no such database; `tune KERNEL` makes one", file.string()));
  cache::OpenOptions options{.warn = warn};
  if (damaged && cache::is_frozen_file(file)) return cache::Database::open_frozen(file, options);
  if (damaged) options.check_bytes = -1;
  return cache::Database::open_read_only(file, options);
}

std::vector<cache::Database> open_all_for_reading(const Given& given) {
  if (given.has("db") || !cache::frozen_database_file()) return open_all_of_this_machine(given);
  std::vector<cache::Database> frozen;
  frozen.push_back(std::move(Wisdom({.database = {}, .warn = warn}).user()));
  return frozen;
}

std::vector<cache::Database> open_all_of_this_machine(const Given& given) {
  std::vector<cache::Database> all;
  if (given.has("db")) {
    all.push_back(open_for_reading(database_file(given)));
    return all;
  }
  std::error_code error;
  if (const auto users = cache::user_database_file(); users && (fs::exists(*users, error) || error))
    all.push_back(open_for_reading(*users));
  for (const fs::path& file : cache::shipped_database_files())
    if (auto shipped = cache::Database::open_shipped(file, {.warn = warn})) all.push_back(std::move(*shipped));
  return all;
}

WisdomOptions read_only_wisdom(const Given& given) {
  if (given.has("db")) require_database(given.text("db"), "--db");
  return {.database = given.text("db"), .warn = warn, .read_only = true};
}

cache::ImportCount take_over(cache::Database& into, const std::string& file) {
  if (file == "-") return cache::import_text(into, standard_input(), "standard input");
  std::error_code error;
  if (cache::is_database_file(file) || !fs::exists(file, error)) {
    cache::Database from = open_for_reading(file);
    return cache::merge(into, from);
  }
  constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;  // compressed; read_text() limits what it may hold
  require_input_file(file, kMostBytes, "wisdom text");
  return cache::import_text(into, cache::read_text(file), file);
}

cache::Database open_results(const std::string& file) {
  if (cache::is_database_file(file)) return open_for_reading(file);
  cache::Database database = cache::Database::in_memory({.warn = warn});
  take_over(database, file);
  return database;
}

}  // namespace tuner::cli
