#include <tuner/cli/commands.hpp>

#include <fmt/format.h>

#include <cache/browse.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

/// Null and `-` if no call was timed.
Cell duration(double ns) { return ns > 0 ? Cell::ns(ns) : Cell(nullptr, "-"); }

Table missed_table(const std::vector<cache::MissRecord>& misses) {
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

}  // namespace

int show_missed(const Given& given) {
  const fs::path file = database_file(given);
  std::vector<cache::MissRecord> misses;
  std::error_code error;
  if (given.has("db") || fs::exists(file, error)) {
    cache::Database database = open_for_reading(file);
    misses = cache::misses(database, read_filter(given, {&database, 1}));
  }
  const Table table = missed_table(misses);
  return answer(given, {{"database", file.string()}, {"missed", table.json()}},
                misses.empty() ? "nothing is missed: every call that was remembered has a result by now\n"
                               : fmt::format("{}\n{} in {}; `tune --missed` tunes them\n", table.text(),
                                             plural(static_cast<std::int64_t>(misses.size()), "problem"),
                                             printable(file.string())));
}

}  // namespace tuner::cli
