#include <tuner/cli/todo_command.hpp>

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/misses.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

/// `-` where none was timed.
std::string duration(double ns) { return ns > 0 ? format_ns(ns) : "-"; }

std::string todo_text(const std::vector<cache::MissRecord>& misses) {
  Table table({{"kernel"},
               {"choices"},
               {"sizes"},
               {"served by"},
               {"calls", Table::Align::right},
               {"each", Table::Align::right},
               {"spent", Table::Align::right},
               {"last"},
               {"from"},
               {"device"}});
  for (const cache::MissRecord& one : misses)
    table.add({one.kernel.name, one.problem.choices, cache::sizes_text(one.problem.sizes), one.served,
               format_count(static_cast<double>(one.calls)), duration(one.each_ns), duration(one.spent_ns()),
               format_instant(one.last_ms), one.file.empty() ? "its program" : one.file, one.device_key});
  return table.text();
}

Json json_todo(const std::vector<cache::MissRecord>& misses) {
  const auto known = [](double ns) { return ns > 0 ? Json(ns) : Json(); };
  Json list = Json::array();
  for (const cache::MissRecord& one : misses) {
    Json sizes = Json::object();
    for (const auto& [name, value] : one.problem.sizes) sizes[name] = value;
    list.push_back({{"kernel", one.kernel.name},
                    {"source_hash", one.kernel.source_hash},
                    {"file", one.file.empty() ? Json() : Json(one.file)},
                    {"device", one.device_key},
                    {"choices", one.problem.choices},
                    {"sizes", sizes},
                    {"served", one.served},
                    {"calls", one.calls},
                    {"each_ns", known(one.each_ns)},
                    {"spent_ns", known(one.spent_ns())},
                    {"first_ms", one.first_ms},
                    {"last_ms", one.last_ms}});
  }
  return list;
}

int clear_todo(const fs::path& file, const cache::Filter& filter, bool json) {
  open_for_reading(file);  // what is not there is not made
  cache::Database database = open_for_writing(file);
  const auto forgotten = cache::forget_misses(database, filter);
  if (forgotten == 0) require_known_kernel(filter, {&database, 1});
  if (json)
    print_json({{"database", file.string()}, {"forgotten", forgotten}});
  else
    print(fmt::format("{} forgotten\n", plural(forgotten, "problem")));
  return kDone;
}

}  // namespace

int todo_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  add_database_options(options, true);
  auto add = options.add_options();
  add("clear", po::bool_switch(), "forget them: all, or those of --kernel and --device-key");
  add("json", po::bool_switch(), "one JSON document on stdout");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options);
  if (given.count("help"))
    return print_help(
        "Usage: tune todo [options]\n"
        "What programs called through the library while no result was known for it, the most time spent first;\n"
        "`tune --todo` tunes it. Spent: calls times the time of one, as the shortest of the first few took.",
        options,
        "  tune todo\n  tune todo --clear --kernel reduce\n  tune --todo --budget 5m      tunes them, five minutes "
        "each\n");

  const fs::path file = database_file(given);
  const bool json = given["json"].as<bool>();
  if (given["clear"].as<bool>()) return clear_todo(file, read_filter(given), json);
  std::vector<cache::MissRecord> misses;
  std::error_code error;
  if (given.count("db") || fs::exists(file, error)) {
    cache::Database database = open_for_reading(file);
    const cache::Filter filter = read_filter(given);
    misses = cache::misses(database, filter);
    if (misses.empty()) require_known_kernel(filter, {&database, 1});
  }
  if (json)
    print_json({{"database", file.string()}, {"todo", json_todo(misses)}});
  else if (misses.empty())
    print("nothing to do: every call that was remembered has a result by now\n");
  else
    print(fmt::format("{}\n{} in {}; `tune --todo` tunes them\n", todo_text(misses),
                      plural(static_cast<std::int64_t>(misses.size()), "problem"), printable(file.string())));
  return kDone;
}

}  // namespace tuner::cli
