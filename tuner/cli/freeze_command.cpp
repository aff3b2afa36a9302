#include <tuner/cli/freeze_command.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/exchange.hpp>
#include <cache/frozen.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/import_command.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/input_file.hpp>

namespace tuner::cli {
namespace {

/// A database, or wisdom text.
void take_over(cache::Database& all, const std::string& file) {
  if (cache::is_database_file(file) || !std::filesystem::is_regular_file(file)) {
    cache::Database from = open_for_reading(file);
    cache::merge(all, from);
    return;
  }
  require_input_file(file, kMaxWisdomFileBytes, "wisdom database or text");
  cache::import_text(all, cache::read_text(file), file);
}

}  // namespace

int freeze_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  auto add = options.add_options();
  add("db", po::value<Texts>()->multitoken()->composing()->value_name("FILE..."),
      "databases and wisdom texts, united as by merge; default: your database and the shipped ones");
  add("output,o", po::value<std::string>()->value_name("FILE"), "the frozen database");
  add("json", po::bool_switch(), "one JSON document on stdout");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options);
  if (given.count("help"))
    return print_help(
        "Usage: tune freeze [--db FILE...] -o FILE\n"
        "Writes a database for a job of many processes. Where TUNER_FROZEN=FILE is set, every call is answered from\n"
        "that file alone, the same in every process: no other database is read, nobody tunes, nothing is stored. What\n"
        "is not in it is answered from the nearest sizes and devices that are, else with the kernel's default. It\n"
        "holds best results only, one for each problem, kernel source and device, and is never written to again.",
        options, "  tune freeze -o job.db\n  tune freeze --db node1.db node2.db -o job.db\n");
  if (!given.count("output"))
    throw UsageError("freeze needs a name for what it makes: tune freeze --db FILE... -o FILE");

  const std::string output = text_of(given, "output");
  require_output(output, OutputKind::frozen, false, "-o");
  cache::Database all = cache::Database::in_memory({.warn = [](const std::string& text) { warn(text); }});
  Texts sources = texts_of(given, "db");
  if (sources.empty()) {
    for (cache::Database& one : open_all_of_this_machine(given)) {
      cache::merge(all, one);
      sources.push_back(one.path().string());
    }
  } else {
    for (const std::string& file : sources) take_over(all, file);
  }
  const std::int64_t best = cache::freeze(all, output);
  if (given["json"].as<bool>())
    print_json({{"database", output}, {"sources", sources}, {"best", best}});
  else
    print(fmt::format("{}  {} frozen. TUNER_FROZEN={} answers every call from it\n", printable(output),
                      plural(best, "best configuration"), printable(std::filesystem::absolute(output).string())));
  return kDone;
}

}  // namespace tuner::cli
