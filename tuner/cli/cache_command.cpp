#include <tuner/cli/commands.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cache/browse.hpp>
#include <cache/image_cache.hpp>
#include <cache/image_files.hpp>
#include <cache/paths.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

int stats(const Given& given) {
  cache::Database database = open_for_reading(database_file(given));
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
      {"quarantine", plural(about.quarantined, "configuration")},
      {"misses", plural(about.misses, "problem")}};
  if (const auto folder = cache::user_cache_dir()) {
    const cache::ImageCacheStats images = cache::ImageCache(*folder).stats();
    const cache::KeptImages kept = cache::kept_images(*folder);
    lines.emplace_back("images", fmt::format("{}, {}", plural(images.images + kept.images, "compiled image"),
                                             format_bytes(images.file_bytes + kept.bytes)));
  }
  if (const auto frozen = cache::frozen_database_file())
    lines.emplace_back("frozen", frozen->string() + " ($TUNER_FROZEN: calls are answered from that file and no other)");
  for (const fs::path& file : cache::shipped_database_files()) lines.emplace_back("shipped", file.string());
  return answer(given,
                {{"database", about.path},
                 {"bytes", about.file_bytes},
                 {"schema", about.schema_version},
                 {"best", about.best},
                 {"problems", about.problems},
                 {"kernels", about.kernels},
                 {"devices", about.devices},
                 {"sessions", about.sessions},
                 {"unfinished_sessions", about.unfinished_sessions},
                 {"trials", about.trials},
                 {"failed_trials", about.failed_trials},
                 {"quarantined", about.quarantined},
                 {"misses", about.misses}},
                facts(lines));
}

int doctor(const Given& given) {
  cache::Database database = open_for_reading(database_file(given), true);
  const std::vector<std::string> findings = cache::doctor(database);
  std::string text;
  for (const std::string& finding : findings) text += printable(finding) + '\n';
  text += findings.empty()
              ? fmt::format("{} is sound\n", database.path().string())
              : fmt::format("{}: {}. Damaged rows are never served; `tune export` writes what is good.\n",
                            database.path().string(), plural(static_cast<std::int64_t>(findings.size()), "finding"));
  answer(given, {{"database", database.path().string()}, {"findings", findings}}, text);
  return findings.empty() ? kDone : kFailed;
}

/// What crashed or hung and is therefore neither tried nor served.
int quarantine(const Given& given) {
  cache::Database database = open_for_reading(database_file(given));
  Table table({"kernel", data("source_hash"), "choices", "sizes", "configuration", named("since", "created_ms"),
               "reason", "device"});
  const cache::Filter filter = read_filter(given);
  require_known_kernel(filter, std::span(&database, 1));
  for (const cache::QuarantineRecord& one : cache::quarantined(database, filter))
    table.add({one.kernel.name, one.kernel.source_hash, one.problem.choices, cache::sizes_text(one.problem.sizes),
               one.configuration, Cell::instant(one.created_ms), one.reason, one.device_key});
  return answer(given, {{"database", database.path().string()}, {"quarantine", table.json()}},
                table.rows() ? table.text() : "no configuration is in quarantine\n");
}

/// Lets configurations that crashed or hung be tried and served again.
int lift(const Given& given) {
  const fs::path file = database_file(given);
  open_for_reading(file);  // what is not there is not made
  cache::Database database = open_for_writing(file);
  const cache::Filter filter = read_filter(given);
  require_known_kernel(filter, std::span(&database, 1));
  const auto lifted = cache::lift_quarantine(database, filter, given.text("configuration"));
  return answer(given, {{"database", file.string()}, {"lifted", lifted}},
                fmt::format("{} lifted from quarantine\n", plural(lifted, "configuration")));
}

/// Removes all results of one kernel, of one device or of both.
int clear_some_results(const Given& given) {
  // An empty name would match everything.
  for (const char* option : {"kernel", "device-key"})
    if (given.has(option) && given.text(option).empty())
      throw UsageError(fmt::format("--{} is empty: leave it out to mean all", option));
  const fs::path file = database_file(given);
  open_for_reading(file);  // what is not there is not made
  cache::Database database = open_for_writing(file);
  const cache::Filter filter = read_filter(given);
  require_known_kernel(filter, std::span(&database, 1));
  const cache::Removed removed = cache::remove_results(database, filter);
  return answer(given,
                {{"images", 0},
                 {"database", file.string()},
                 {"removed",
                  {{"best", removed.best},
                   {"sessions", removed.sessions},
                   {"trials", removed.trials},
                   {"quarantined", removed.quarantined},
                   {"misses", removed.misses}}}},
                fmt::format("{}: removed {}, {} with {}, {} in quarantine and {}\n", printable(file.string()),
                            plural(removed.best, "best configuration"), plural(removed.sessions, "session"),
                            plural(removed.trials, "trial"), plural(removed.quarantined, "configuration"),
                            plural(removed.misses, "missed problem")));
}

/// Removes compiled images and, when asked to, results. Images belong to no kernel, device or database: where one of
/// those is named, they stay.
int clear(const Given& given) {
  const bool results = given.flag("results");
  for (const char* option : {"db", "kernel", "device-key"})
    if (!results && given.has(option))
      throw UsageError(
          fmt::format("--{} says which results to remove: give --results too. Compiled images are removed "
                      "all together, by `tune cache clear` alone",
                      option));
  if (given.has("kernel") || given.has("device-key")) return clear_some_results(given);
  Json document{{"images", 0}};
  std::string text;
  if (given.has("db")) {
    require_database(database_file(given), "cache clear");
  } else if (const auto folder = cache::user_cache_dir()) {
    cache::ImageCache images(*folder);
    document["images"] = images.stats().images + cache::kept_images(*folder).images;
    images.clear();
    cache::remove_kept_images(*folder);
    text += fmt::format("compiled images in {} removed\n", printable(folder->string()));
  }
  if (results) {
    const fs::path file = database_file(given);
    bool removed = false;
    for (const char* suffix : {"", "-journal", "-wal", "-shm", ".claims"})
      removed |= fs::remove(file.string() + suffix);
    document["database"] = file.string();
    document["file_removed"] = removed;
    text += fmt::format("{} {}\n", printable(file.string()), removed ? "removed" : "was not there");
  } else {
    text += "results are kept; --results removes them too\n";
  }
  return answer(given, document, text);
}

struct CacheAction {
  const char* name;
  int (*run)(const Given& given);
  std::vector<std::string_view> uses;  ///< the options that have an effect, beside --db and --json
};
const std::vector<CacheAction>& actions() {
  static const std::vector<CacheAction> all{{"stats", stats, {}},
                                            {"doctor", doctor, {}},
                                            {"quarantine", quarantine, {"kernel", "device-key"}},
                                            {"lift", lift, {"kernel", "device-key", "configuration"}},
                                            {"clear", clear, {"kernel", "device-key", "results"}}};
  return all;
}

int run_cache(const Given& given) {
  Texts wanted = given.texts("action");
  if (wanted.empty()) wanted = {"stats"};
  if (wanted.size() != 1) throw UsageError("cache does one thing at a time: stats, doctor, quarantine, lift or clear");
  require_known("action", wanted[0], names_of(actions()));
  const CacheAction& action =
      *std::find_if(actions().begin(), actions().end(), [&](const CacheAction& one) { return one.name == wanted[0]; });
  for (const char* option : {"kernel", "device-key", "configuration", "results"})
    if (std::find(action.uses.begin(), action.uses.end(), option) == action.uses.end())
      given.refuse({option}, fmt::format("on `tune cache {}`", action.name));
  return action.run(given);
}

}  // namespace

Command cache_command() {
  Options options(
      "Usage: tune cache [stats|doctor|quarantine|lift|clear] [options]\n"
      "stats: what the cache holds. doctor: checks every row. quarantine: lists configurations that crashed or "
      "hung.\n"
      "lift: lets them be tried again (all, or those of --kernel, --device-key, --configuration).\n"
      "clear: removes compiled images; with --results the results too. With --results and --db FILE it removes that\n"
      "database only. With --results and --kernel or --device-key it removes only what is stored of those: best\n"
      "configurations, sessions with their trials, quarantine and misses.",
      "  tune cache\n  tune cache doctor --db results.db\n  tune cache lift --kernel reduce\n"
      "  tune cache clear --results --kernel reduce\n");
  add_database_options(options, true);
  options.text("configuration", "TEXT", "lift: this configuration only");
  options.flag("results", "clear: remove all results too, or only those that --db, --kernel and --device-key name");
  options.json();
  options.arguments({"action..."});
  return {options, run_cache};
}

}  // namespace tuner::cli
