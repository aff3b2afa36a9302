// `tune db clear`.
#include <tuner/cli/db_actions.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include <cache/browse.hpp>
#include <cache/images.hpp>
#include <cache/paths.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

/// The answer, for programs and for people.
struct Cleared {
  Json document = Json::object();
  std::string text;
};

/// Opens a database for writing. Throws Error if there is none: it is not created to be cleared.
cache::Database open_to_clear(const fs::path& file) {
  open_for_reading(file);
  return open_for_writing(file);
}

void clear_images(Cleared& cleared) {
  cleared.document["images"] = 0;
  const auto folder = cache::user_cache_dir();
  if (!folder) return;
  cleared.document["images"] = cache::kept_images(*folder).images;
  cache::remove_kept_images(*folder);
  cleared.text += fmt::format("compiled images in {} removed\n", printable(folder->string()));
}

/// The whole file, or only the results of one kernel, of one device or of both.
void clear_results(const Given& given, const fs::path& file, Cleared& cleared) {
  if (!given.has("kernel") && !given.has("device")) {
    bool removed = false;
    for (const char* suffix : {"", "-journal", "-wal", "-shm", ".claims"})
      removed |= fs::remove(file.string() + suffix);
    cleared.document["file_removed"] = removed;
    cleared.text += fmt::format("{} {}\n", printable(file.string()), removed ? "removed" : "was not there");
    return;
  }
  cache::Database database = open_to_clear(file);
  const cache::Removed removed = cache::remove_results(database, read_filter(given, {&database, 1}, DeviceName::whole));
  cleared.document["removed"] = {{"best", removed.best},
                                 {"sessions", removed.sessions},
                                 {"trials", removed.trials},
                                 {"quarantined", removed.quarantined},
                                 {"misses", removed.misses}};
  cleared.text += fmt::format("{}: removed {}, {} with {}, {} in quarantine and {}\n", printable(file.string()),
                              plural(removed.best, "best configuration"), plural(removed.sessions, "session"),
                              plural(removed.trials, "trial"), plural(removed.quarantined, "configuration"),
                              plural(removed.misses, "missed problem"));
}

/// Lets configurations that crashed or hung be tried and served again.
void clear_quarantine(const Given& given, const fs::path& file, Cleared& cleared) {
  cache::Database database = open_to_clear(file);
  const auto lifted =
      cache::lift_quarantine(database, read_filter(given, {&database, 1}, DeviceName::whole), given.text("config"));
  cleared.document["lifted"] = lifted;
  cleared.text += fmt::format("{} lifted from quarantine\n", plural(lifted, "configuration"));
}

void clear_missed(const Given& given, const fs::path& file, Cleared& cleared) {
  cache::Database database = open_to_clear(file);
  const auto forgotten = cache::forget_misses(database, read_filter(given, {&database, 1}, DeviceName::whole));
  cleared.document["forgotten"] = forgotten;
  cleared.text += fmt::format("{} forgotten\n", plural(forgotten, "problem"));
}

}  // namespace

int db_clear(const Given& given) {
  Texts what = given.texts("file");
  if (what.empty()) what = {"images"};
  for (const std::string& one : what)
    require_known("thing to clear", one, {"images", "results", "quarantine", "missed"});
  const auto clears = [&](const char* one) { return std::find(what.begin(), what.end(), one) != what.end(); };
  if (clears("images"))  // they belong to no kernel, device or database
    given.refuse({"db", "kernel", "device", "config"}, "on compiled images: name what it is about, such as results");
  if (!clears("quarantine") || what.size() > 1) given.refuse({"config"}, "without quarantine alone");
  if (given.has("config") && given.text("config").empty())
    throw UsageError("--config is empty: leave it out to mean all");
  Cleared cleared;
  if (what != Texts{"images"}) {
    const fs::path file = database_file(given);
    cleared.document["database"] = file.string();
    if (clears("quarantine")) clear_quarantine(given, file, cleared);
    if (clears("missed")) clear_missed(given, file, cleared);
    if (clears("results")) {
      if (given.has("db")) require_database(file, "clear");
      clear_results(given, file, cleared);
    }
  }
  if (clears("images")) clear_images(cleared);  // last: they stay if anything before fails
  if (what == Texts{"images"}) cleared.text += "results are kept; `tune db clear results` removes them\n";
  return answer(given, cleared.document, cleared.text);
}

}  // namespace tuner::cli
