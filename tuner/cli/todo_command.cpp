#include <tuner/cli/commands.hpp>

#include <fmt/format.h>

#include <cache/misses.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

/// Null and `-` where none was timed.
Cell duration(double ns) { return ns > 0 ? Cell::ns(ns) : Cell(nullptr, "-"); }

Table todo_table(const std::vector<cache::MissRecord>& misses) {
  Table table({"kernel", data("source_hash"), "choices", "sizes", named("served by", "served"), "calls",
               named("each", "each_ns"), named("spent", "spent_ns"), data("first_ms"), named("last", "last_ms"),
               named("from", "file"), "device"});
  for (const cache::MissRecord& one : misses)
    table.add({one.kernel.name, one.kernel.source_hash, one.problem.choices,
               Cell(one.problem.sizes, cache::sizes_text(one.problem.sizes)), one.served,
               Cell(one.calls, format_count(static_cast<double>(one.calls))), duration(one.each_ns),
               duration(one.spent_ns()), one.first_ms, Cell::instant(one.last_ms),
               one.file.empty() ? Cell(nullptr, "its program") : Cell(one.file), one.device_key});
  return table;
}

int clear_todo(const Given& given, const fs::path& file) {
  open_for_reading(file);  // what is not there is not made
  cache::Database database = open_for_writing(file);
  const cache::Filter filter = read_filter(given);
  const auto forgotten = cache::forget_misses(database, filter);
  if (forgotten == 0) require_known_kernel(filter, {&database, 1});
  return answer(given, {{"database", file.string()}, {"forgotten", forgotten}},
                fmt::format("{} forgotten\n", plural(forgotten, "problem")));
}

int run_todo(const Given& given) {
  const fs::path file = database_file(given);
  if (given.flag("clear")) return clear_todo(given, file);
  std::vector<cache::MissRecord> misses;
  std::error_code error;
  if (given.has("db") || fs::exists(file, error)) {
    cache::Database database = open_for_reading(file);
    const cache::Filter filter = read_filter(given);
    misses = cache::misses(database, filter);
    if (misses.empty()) require_known_kernel(filter, {&database, 1});
  }
  const Table table = todo_table(misses);
  return answer(given, {{"database", file.string()}, {"todo", table.json()}},
                misses.empty() ? "nothing to do: every call that was remembered has a result by now\n"
                               : fmt::format("{}\n{} in {}; `tune --todo` tunes them\n", table.text(),
                                             plural(static_cast<std::int64_t>(misses.size()), "problem"),
                                             printable(file.string())));
}

}  // namespace

Command todo_command() {
  Options options(
      "Usage: tune todo [options]\n"
      "What programs called through the library while no result was known for it, the most time spent first;\n"
      "`tune --todo` tunes it. Spent: calls times the time of one, as the shortest of the first few took.",
      "  tune todo\n  tune todo --clear --kernel reduce\n  tune --todo --budget 5m      tunes them, five minutes "
      "each\n");
  add_database_options(options, true);
  options.flag("clear", "forget them: all, or those of --kernel and --device-key");
  options.json();
  return {options, run_todo};
}

}  // namespace tuner::cli
