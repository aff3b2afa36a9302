// `tune import`, `tune merge` and `tune freeze`: databases out of others.
#include <tuner/cli/commands.hpp>

#include <fmt/format.h>

#include <cache/exchange.hpp>
#include <cache/frozen.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

/// Adds to \p list what was taken over from \p source, or prints it for people.
void tell(const Given& given, const std::string& source, const cache::ImportCount& count, Json& list) {
  list.push_back({{"source", source},
                  {"best", count.best},
                  {"sessions", count.sessions},
                  {"trials", count.trials},
                  {"quarantined", count.quarantined},
                  {"unchanged", count.unchanged}});
  if (given.flag("json")) return;
  print(fmt::format("{}  new: {}, {}, {}, {} in quarantine; known already: {}\n", printable(source),
                    plural(count.best, "best configuration"), plural(count.sessions, "session"),
                    plural(count.trials, "trial"), count.quarantined, count.unchanged));
}

int run_import(const Given& given) {
  if (!given.has("file")) throw UsageError("import reads files: tune import FILE...");
  if (given.has("db")) require_database(given.text("db"), "--db");
  cache::Database database = open_for_writing(database_file(given));
  Json files = Json::array();
  for (const std::string& file : given.texts("file")) tell(given, file, import_text_file(database, file), files);
  if (given.flag("json")) print_json({{"database", database.path().string()}, {"files", files}});
  return kDone;
}

int run_merge(const Given& given) {
  const Texts files = given.texts("files");
  if (files.size() < 2) throw UsageError("merge needs a result and at least one source: tune merge OUT IN...");
  for (std::size_t i = 1; i < files.size(); ++i) open_for_reading(files[i]);  // before anything is changed
  require_database(files[0], "merge");
  cache::Database into = open_for_writing(files[0]);
  Json sources = Json::array();
  for (std::size_t i = 1; i < files.size(); ++i) {
    cache::Database from = open_for_reading(files[i]);
    tell(given, files[i], cache::merge(into, from), sources);
  }
  if (given.flag("json")) print_json({{"database", files[0]}, {"sources", sources}});
  return kDone;
}

/// \p file is a database, or wisdom text.
void take_over(cache::Database& all, const std::string& file) {
  if (!cache::is_database_file(file) && std::filesystem::is_regular_file(file))
    return void(import_text_file(all, file));
  cache::Database from = open_for_reading(file);
  cache::merge(all, from);
}

int run_freeze(const Given& given) {
  if (!given.has("output")) throw UsageError("freeze needs a name for what it makes: tune freeze --db FILE... -o FILE");
  const std::string output = given.text("output");
  require_output(output, OutputKind::frozen, false, "-o");
  cache::Database all = cache::Database::in_memory({.warn = warn});
  Texts sources = given.texts("db");
  for (const std::string& file : sources) take_over(all, file);
  if (sources.empty())
    for (cache::Database& one : open_all_of_this_machine(given)) {
      cache::merge(all, one);
      sources.push_back(one.path().string());
    }
  const std::int64_t best = cache::freeze(all, output);
  return answer(given, {{"database", output}, {"sources", sources}, {"best", best}},
                fmt::format("{}  {} frozen. TUNER_FROZEN={} answers every call from it\n", printable(output),
                            plural(best, "best configuration"), printable(std::filesystem::absolute(output).string())));
}

}  // namespace

Command import_command() {
  Options options(
      "Usage: tune import [options] FILE...\n"
      "Takes over results from text that `tune export` wrote; all of a file or nothing of it.",
      "  tune import h200.wisdom\n");
  add_database_options(options, false);
  options.json().arguments({"file..."});
  return {options, run_import};
}

Command merge_command() {
  Options options(
      "Usage: tune merge OUT IN...\n"
      "Unites databases: OUT, made when it is not there, takes over everything in the others. Of two\n"
      "results for the same problem the later measurement stays. A source may have 256 MiB.",
      "  tune merge all.db node1.db node2.db\n");
  options.json().arguments({"files..."});
  return {options, run_merge};
}

Command freeze_command() {
  Options options(
      "Usage: tune freeze [--db FILE...] -o FILE\n"
      "Writes a database for a job of many processes. Where TUNER_FROZEN=FILE is set, every call is answered from\n"
      "that file alone, the same in every process: no other database is read, nobody tunes, nothing is stored. What\n"
      "is not in it is answered from the nearest sizes and devices that are, else with the kernel's default. It\n"
      "holds best results only, one for each problem, kernel source and device, and is never written to again.",
      "  tune freeze -o job.db\n  tune freeze --db node1.db node2.db -o job.db\n");
  options.texts("db", "FILE...",
                "databases and wisdom texts, united as by merge; default: your database and the shipped ones");
  options.text("output,o", "FILE", "the frozen database").json();
  return {options, run_freeze};
}

}  // namespace tuner::cli
