#include <tuner/cli/commands.hpp>

#include <map>

#include <fmt/format.h>

#include <cache/browse.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/stored_results.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

/// A table for each kernel and device.
std::map<std::pair<std::string, std::string>, Table> best_tables(const std::vector<StoredResult>& rows,
                                                                 const cache::Database& database) {
  std::map<std::pair<std::string, std::string>, Table> tables;
  for (const auto& [row, reference] : rows) {
    const std::string device = row.device.name.empty() ? row.device.key : row.device.name;
    const Table empty({data("kernel"), data("source_hash"), data("device"), data("device_name"), "objective", "choices",
                       "sizes", named("median", "median_ns"), people("interval"), data("low_ns"), data("high_ns"),
                       data("samples"), named("measured", "measured_ms"), named("verified against", "reference"),
                       "configuration", data("driver"), data("compiler"), data("database"), data("shipped")});
    tables.try_emplace({row.kernel.name, device}, empty)
        .first->second.add({row.kernel.name, row.kernel.source_hash, row.device.key, row.device.name,
                            objective_cell(row.kernel.objective), row.problem.choices,
                            Cell(row.problem.sizes, cache::sizes_text(row.problem.sizes)), Cell::ns(row.median_ns),
                            Cell::right(format_interval(row.median_ns, row.low_ns, row.high_ns)), row.low_ns,
                            row.high_ns, row.samples, Cell::instant(row.measured_ms),
                            reference.empty() ? Cell() : Cell(reference), row.configuration, row.environment.driver,
                            row.environment.compiler, database.path().string(), database.is_shipped()});
  }
  return tables;
}

Table sessions_table(const std::vector<cache::SessionRecord>& sessions) {
  Table table({named("started", "started_ms"), "kernel", "objective", data("device"), "choices", "sizes", "strategy",
               "trials", named("by", "origin"), named("state", "finished")});
  for (const cache::SessionRecord& one : sessions)
    table.add({Cell::instant(one.started_ms), one.key.kernel.name, one.key.kernel.objective, one.key.device.key,
               one.key.problem.choices, cache::sizes_text(one.key.problem.sizes), one.strategy, one.trials, one.origin,
               Cell(one.finished_ms.has_value(), one.finished_ms ? "finished" : "interrupted or running")});
  return table;
}

Table kernels_table(cache::Database& database, const cache::Filter& filter) {
  Table table({"kernel", "source", "objective", "problems", "sessions", "trials"});
  for (const cache::KernelSummary& one : cache::kernels(database))
    if (filter.kernel.empty() || one.kernel.name == filter.kernel)
      table.add({one.kernel.name, one.kernel.source_hash.substr(0, 12), one.kernel.objective, one.problems,
                 one.sessions, one.trials});
  return table;
}

std::string text_of(const std::map<std::pair<std::string, std::string>, Table>& tables) {
  std::string text;
  for (const auto& [title, table] : tables)
    text += fmt::format("{}  on {}\n{}\n", printable(title.first), printable(title.second), table.text());
  return text;
}

int run_show(const Given& given) {
  if (given.flag("why")) {
    given.refuse({"missed", "all"}, "with --why");
    return show_why(given);
  }
  given.refuse({"size", "type", "choice"}, "without --why");
  if (given.flag("missed")) {
    given.refuse({"all"}, "with --missed");
    return show_missed(given);
  }
  const bool all = given.flag("all"), json = given.flag("json");
  Json document{{"databases", Json::array()}, {"best", Json::array()}, {"unverified", Json::array()}};
  bool is_known = false;
  std::vector<cache::Database> databases = open_all_for_reading(given);
  const cache::Filter filter = read_filter(given, databases);
  for (cache::Database& database : databases) {
    const std::vector<StoredResult> rows = best_results(database, filter);
    const auto best = best_tables(rows, database),
               unverified = best_tables(unverified_results(database, filter), database);
    const std::string path = database.path().string();
    const bool shipped = database.is_shipped();
    is_known |= !best.empty() || !unverified.empty();
    if (json) {
      document["databases"].push_back({{"path", path}, {"shipped", shipped}, {"frozen", database.is_frozen()}});
      if (all) document["databases"].back()["sessions"] = sessions_table(cache::sessions(database, filter)).json();
      for (const auto& [list, tables] : {std::pair("best", &best), std::pair("unverified", &unverified)})
        for (const auto& [title, table] : *tables)
          for (Json& row : table.json()) document[list].push_back(std::move(row));
      continue;
    }
    print(text_of(best));
    if (!unverified.empty()) print("Compared with nothing, and never served\n" + text_of(unverified));
    if (all)
      print(fmt::format("Kernels\n{}\nSessions\n{}\n", kernels_table(database, filter).text(),
                        sessions_table(cache::sessions(database, filter)).text()));
    print(fmt::format("{} in {}{}\n\n", plural(static_cast<std::int64_t>(rows.size()), "best configuration"),
                      printable(path),
                      shipped                ? " (shipped)"
                      : database.is_frozen() ? " ($TUNER_FROZEN: calls are answered from this file and no other)"
                                             : ""));
  }
  if (json)
    print_json(document);
  else if (!is_known)
    print(fmt::format("nothing is known yet{}; `tune KERNEL` finds out\n",
                      filter.kernel.empty() ? "" : " of " + printable(filter.kernel)));
  return kDone;
}

}  // namespace

Command show_command() {
  Options options(
      "Usage: tune show [KERNEL] [options]\n"
      "       tune show KERNEL --why [options]\n"
      "       tune show [KERNEL] --missed [options]\n"
      "The best known configurations: yours and the shipped ones, or those of the one\n"
      "file that $TUNER_FROZEN names (tune db freeze). --all adds kernels, sessions and\n"
      "their trials.",
      "  tune show reduce\n  tune show --all\n  tune show reduce --why --size n=1e6\n  tune show --missed\n");
  options.flag("why", "the configuration that a call would be served with, from where and why");
  options.flag("missed",
               "the problems that programs called without a result, the most time spent first: calls times the time of "
               "one. `tune --missed` tunes them, `tune db clear missed` forgets them");
  options.add("device all").group("The call that --why is about").add("size type choice kernel db json");
  options.arguments({"kernel"});
  return {options, run_show};
}

}  // namespace tuner::cli
