#include <tuner/cli/cache_command.hpp>

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include <cache/browse.hpp>
#include <cache/image_cache.hpp>
#include <cache/paths.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/format.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/error.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

int stats(const po::variables_map& given) {
  cache::Database database = open_database(given, true);
  const cache::Statistics about = cache::statistics(database);
  const auto number = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  std::vector<std::pair<std::string, std::string>> lines{
      {"database", about.path},
      {"size", fmt::format("{}, {} of it free", format_bytes(about.file_bytes), format_bytes(about.free_bytes))},
      {"schema", fmt::format("version {}, SQLite {}, journal {}", about.schema_version, about.sqlite_version,
                             about.journal_mode)},
      {"write-ahead log", about.wal_state},
      {"best",
       fmt::format("{} for {} of {} on {}", plural(about.best, "best configuration"), plural(about.problems, "problem"),
                   plural(about.kernels, "kernel"), plural(about.devices, "device"))},
      {"trials",
       fmt::format("{}, {} failed, in {} ({} interrupted or running)", number(about.trials),
                   number(about.failed_trials), plural(about.sessions, "session"), number(about.unfinished_sessions))},
      {"quarantine", plural(about.quarantined, "configuration")}};
  if (const auto folder = cache::user_cache_dir()) {
    const cache::ImageCacheStats images = cache::ImageCache(*folder).stats();
    lines.emplace_back("images",
                       fmt::format("{}, {}", plural(images.images, "compiled image"), format_bytes(images.file_bytes)));
  }
  for (const fs::path& file : cache::shipped_database_files()) lines.emplace_back("shipped", file.string());
  std::fputs(facts(lines).c_str(), stdout);
  return kDone;
}

int doctor(const po::variables_map& given) {
  cache::Database database = open_database(given, true);
  const std::vector<std::string> findings = cache::doctor(database);
  for (const std::string& finding : findings) std::printf("%s\n", finding.c_str());
  if (findings.empty()) {
    std::printf("%s is sound\n", database.path().c_str());
    return kDone;
  }
  std::printf("%s: %s. Rows with a wrong checksum are never served; `tune export` writes what is good.\n",
              database.path().c_str(), plural(static_cast<std::int64_t>(findings.size()), "finding").c_str());
  return kFailed;
}

/// Lets configurations that crashed or hung be tried and served again.
int lift(const po::variables_map& given) {
  (void)open_database(given, true);  // what is not there is not made
  cache::Database database = open_database(given, false);
  const auto lifted = cache::lift_quarantine(database, read_filter(given), text_of(given, "configuration"));
  std::printf("%s lifted from quarantine\n", plural(lifted, "configuration").c_str());
  return kDone;
}

/// Removes compiled images always, and results only when asked to by name.
int clear(const po::variables_map& given) {
  const auto folder = cache::user_cache_dir();
  if (folder) {
    cache::ImageCache(*folder).clear();
    std::printf("compiled images in %s removed\n", folder->c_str());
  }
  if (!given["results"].as<bool>()) {
    std::printf("results are kept; --results removes them too\n");
    return kDone;
  }
  const std::string named = text_of(given, "db");
  const auto place = named.empty() ? cache::user_database_file() : std::optional<fs::path>(named);
  if (!place) throw Error("there is no cache folder: set TUNER_CACHE_DIR or HOME, or give --db FILE");
  if (!named.empty()) (void)open_database(given, true);  // nothing but a wisdom database is removed
  bool removed = false;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) removed |= fs::remove(place->string() + suffix);
  std::printf("%s %s\n", place->c_str(), removed ? "removed" : "was not there");
  return kDone;
}

}  // namespace

int cache_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  add_database_options(options, true);
  auto add = options.add_options();
  add("configuration", po::value<std::string>()->value_name("TEXT"), "lift: this configuration only");
  add("results", po::bool_switch(), "clear: remove the results too, not only compiled images");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options, {"action..."});
  if (given.count("help"))
    return print_help(
        "Usage: tune cache [stats|doctor|lift|clear] [options]\n"
        "stats: what the cache holds. doctor: checks every row. lift: lets configurations that crashed or hung be\n"
        "tried again (all, or those of --kernel, --device-key, --configuration). clear: removes compiled images.",
        options, "  tune cache\n  tune cache doctor --db results.db\n");
  Texts actions = texts_of(given, "action");
  if (actions.empty()) actions = {"stats"};
  if (actions.size() != 1) throw UsageError("cache does one thing at a time: tune cache stats, doctor, lift or clear");
  if (actions[0] == "stats") return stats(given);
  if (actions[0] == "doctor") return doctor(given);
  if (actions[0] == "lift") return lift(given);
  if (actions[0] == "clear") return clear(given);
  throw UsageError(unknown_name("action", actions[0], {"stats", "doctor", "lift", "clear"}));
}

}  // namespace tuner::cli
