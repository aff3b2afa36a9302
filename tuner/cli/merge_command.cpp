#include <tuner/cli/merge_command.hpp>

#include <nlohmann/json.hpp>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/import_counts.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>

namespace tuner::cli {

int merge_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  options.add_options()("json", po::bool_switch(), "one JSON document on stdout");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options, {"files..."});
  if (given.count("help"))
    return print_help(
        "Usage: tune merge OUT IN...\n"
        "Unites databases: OUT, made when it is not there, takes over everything in the others. Of two\n"
        "results for the same problem the later measurement stays. A source may have 256 MiB.",
        options, "  tune merge all.db node1.db node2.db\n");
  const Texts files = texts_of(given, "files");
  if (files.size() < 2) throw UsageError("merge needs a result and at least one source: tune merge OUT IN...");

  for (std::size_t i = 1; i < files.size(); ++i) open_for_reading(files[i]);  // before anything is changed
  require_database(files[0], "merge");
  cache::Database into = open_for_writing(files[0]);
  Json sources = Json::array();
  for (std::size_t i = 1; i < files.size(); ++i) {
    cache::Database from = open_for_reading(files[i]);
    const cache::ImportCount count = cache::merge(into, from);
    sources.push_back(counts_json(files[i], count));
    if (!given["json"].as<bool>()) print(counts_text(files[i], count));
  }
  if (given["json"].as<bool>()) print_json({{"database", files[0]}, {"sources", sources}});
  return kDone;
}

}  // namespace tuner::cli
