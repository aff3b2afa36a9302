#include <tuner/cli/database_options.hpp>

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include <cache/paths.hpp>

#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>

namespace tuner::cli {

void warn(std::string_view text) { Console(stderr, false).warning(text); }

void add_database_options(po::options_description& options, bool filters) {
  options.add_options()("db", po::value<std::string>()->value_name("FILE"),
                        "database; default: wisdom.db in the cache folder");
  if (!filters) return;
  auto add = options.add_options();
  add("kernel,k", po::value<std::string>()->value_name("NAME"), "this kernel only");
  add("device-key", po::value<std::string>()->value_name("KEY"), "this device only, as `tune devices` prints its key");
}

cache::Database open_database(const po::variables_map& given, bool must_exist) {
  std::filesystem::path file = text_of(given, "db");
  if (file.empty()) {
    const auto place = cache::user_database_file();
    if (!place) throw Error("there is no cache folder: set TUNER_CACHE_DIR or HOME, or give --db FILE");
    file = *place;
  }
  if (must_exist && !std::filesystem::exists(file))
    throw Error(fmt::format("{}: no such database yet; `tune --kernel NAME` makes one", file.string()));
  cache::OpenOptions options;
  options.warn = [](const std::string& text) { warn(text); };
  if (must_exist) return cache::Database::open_read_only(file, options);
  options.strict = true;
  return cache::Database::open_user(file, options);
}

cache::Filter read_filter(const po::variables_map& given) {
  return {text_of(given, "kernel"), text_of(given, "device-key"), {}};
}

}  // namespace tuner::cli
