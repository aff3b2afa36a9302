#include <tuner/cli/show_command.hpp>

#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/browse.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/stored_results.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

std::string best_text(const std::vector<StoredResult>& rows) {
  std::map<std::pair<std::string, std::string>, Table> tables;  // by kernel and device
  for (const auto& [row, reference] : rows) {
    const std::string device = row.device.name.empty() ? row.device.key : row.device.name;
    auto at = tables.find({row.kernel.name, device});
    if (at == tables.end())
      at = tables
               .emplace(std::pair{row.kernel.name, device}, Table({{"objective"},
                                                                   {"choices"},
                                                                   {"sizes"},
                                                                   {"median", Table::Align::right},
                                                                   {"interval", Table::Align::right},
                                                                   {"measured"},
                                                                   {"verified against"},
                                                                   {"configuration"}}))
               .first;
    at->second.add({row.kernel.objective == "time" ? "" : row.kernel.objective, row.problem.choices,
                    cache::sizes_text(row.problem.sizes), format_ns(row.median_ns),
                    format_interval(row.median_ns, row.low_ns, row.high_ns), format_instant(row.measured_ms), reference,
                    row.configuration});
  }
  std::string text;
  for (const auto& [title, table] : tables)
    text += fmt::format("{}  on {}\n{}\n", printable(title.first), printable(title.second), table.text());
  return text;
}

std::string sessions_text(const std::vector<cache::SessionRecord>& sessions) {
  Table table({{"started"},
               {"kernel"},
               {"objective"},
               {"choices"},
               {"sizes"},
               {"strategy"},
               {"trials", Table::Align::right},
               {"by"},
               {"state"}});
  for (const cache::SessionRecord& one : sessions)
    table.add({format_instant(one.started_ms), one.key.kernel.name, one.key.kernel.objective, one.key.problem.choices,
               cache::sizes_text(one.key.problem.sizes), one.strategy, std::to_string(one.trials), one.origin,
               one.finished_ms ? "finished" : "interrupted or running"});
  return table.text();
}

std::vector<cache::KernelSummary> kernels_of(cache::Database& database, const cache::Filter& filter) {
  std::vector<cache::KernelSummary> all = cache::kernels(database);
  std::erase_if(all, [&](const auto& one) { return !filter.kernel.empty() && one.kernel.name != filter.kernel; });
  return all;
}

std::string kernels_text(const std::vector<cache::KernelSummary>& kernels) {
  Table table({{"kernel"},
               {"source"},
               {"objective"},
               {"problems", Table::Align::right},
               {"sessions", Table::Align::right},
               {"trials", Table::Align::right}});
  for (const cache::KernelSummary& one : kernels)
    table.add({one.kernel.name, one.kernel.source_hash.substr(0, 12), one.kernel.objective,
               std::to_string(one.problems), std::to_string(one.sessions), std::to_string(one.trials)});
  return table.text();
}

void add_best(Json& list, const std::vector<StoredResult>& rows, const std::string& database, bool shipped) {
  for (const auto& [row, reference] : rows) {
    Json sizes = Json::object();
    for (const auto& [name, value] : row.problem.sizes) sizes[name] = value;
    list.push_back({{"kernel", row.kernel.name},
                    {"source_hash", row.kernel.source_hash},
                    {"objective", row.kernel.objective},
                    {"device", row.device.key},
                    {"device_name", row.device.name},
                    {"choices", row.problem.choices},
                    {"sizes", sizes},
                    {"driver", row.environment.driver},
                    {"compiler", row.environment.compiler},
                    {"configuration", row.configuration},
                    {"median_ns", row.median_ns},
                    {"low_ns", row.low_ns},
                    {"high_ns", row.high_ns},
                    {"samples", row.samples},
                    {"measured_ms", row.measured_ms},
                    {"database", database},
                    {"shipped", shipped}});
    add_reference(list.back(), reference);
  }
}

Json json_sessions(const std::vector<cache::SessionRecord>& sessions) {
  Json list = Json::array();
  for (const cache::SessionRecord& one : sessions)
    list.push_back({{"kernel", one.key.kernel.name},
                    {"objective", one.key.kernel.objective},
                    {"device", one.key.device.key},
                    {"choices", one.key.problem.choices},
                    {"sizes", cache::sizes_text(one.key.problem.sizes)},
                    {"strategy", one.strategy},
                    {"trials", one.trials},
                    {"origin", one.origin},
                    {"started_ms", one.started_ms},
                    {"finished", one.finished_ms.has_value()}});
  return list;
}

}  // namespace

int show_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  add_database_options(options, true);
  auto add = options.add_options();
  add("stats", po::bool_switch(), "also kernels, sessions and their trials");
  add("json", po::bool_switch(), "one JSON document on stdout");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options);
  if (given.count("help"))
    return print_help(
        "Usage: tune show [options]\nThe best known configurations: yours and the shipped ones, or\n"
        "those of the one file that $TUNER_FROZEN names (tune freeze).",
        options, "  tune show --kernel reduce\n  tune show --stats\n");

  const cache::Filter filter = read_filter(given);
  const bool stats = given["stats"].as<bool>(), json = given["json"].as<bool>();
  Json document{{"databases", Json::array()}, {"best", Json::array()}, {"unverified", Json::array()}};
  std::size_t known = 0;
  std::vector<cache::Database> databases = open_all_for_reading(given);
  require_known_kernel(filter, databases);
  require_known_device(filter, databases);
  for (cache::Database& database : databases) {
    const auto rows = best_results(database, filter), unverified = unverified_results(database, filter);
    const std::string path = database.path().string();
    const bool shipped = database.is_shipped();
    known += rows.size() + unverified.size();
    if (json) {
      document["databases"].push_back({{"path", path}, {"shipped", shipped}, {"frozen", database.is_frozen()}});
      if (stats) document["databases"].back()["sessions"] = json_sessions(cache::sessions(database, filter));
      add_best(document["best"], rows, path, shipped);
      add_best(document["unverified"], unverified, path, shipped);
      continue;
    }
    print(best_text(rows));
    if (!unverified.empty()) print("Compared with nothing, served to nobody\n" + best_text(unverified));
    if (stats)
      print(fmt::format("Kernels\n{}\nSessions\n{}\n", kernels_text(kernels_of(database, filter)),
                        sessions_text(cache::sessions(database, filter))));
    print(fmt::format("{} in {}{}\n\n", plural(static_cast<std::int64_t>(rows.size()), "best configuration"),
                      printable(path),
                      shipped                ? " (shipped)"
                      : database.is_frozen() ? " ($TUNER_FROZEN: calls are answered from this file and no other)"
                                             : ""));
  }
  if (json)
    print_json(document);
  else if (known == 0)
    print(fmt::format("nothing is known yet{}; `tune --kernel NAME` finds out\n",
                      filter.kernel.empty() ? "" : " of " + printable(filter.kernel)));
  return kDone;
}

}  // namespace tuner::cli
