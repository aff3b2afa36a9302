#include <tuner/cli/import_command.hpp>

#include <nlohmann/json.hpp>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/import_counts.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/input_file.hpp>

namespace tuner::cli {

int import_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  add_database_options(options, false);
  options.add_options()("json", po::bool_switch(), "one JSON document on stdout");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options, {"file..."});
  if (given.count("help"))
    return print_help(
        "Usage: tune import [options] FILE...\n"
        "Takes over results from text that `tune export` wrote; all of a file or nothing of it.",
        options, "  tune import h200.wisdom\n");
  if (!given.count("file")) throw UsageError("import reads files: tune import FILE...");

  if (given.count("db")) require_database(text_of(given, "db"), "--db");
  cache::Database database = open_for_writing(database_file(given));
  Json files = Json::array();
  for (const std::string& file : texts_of(given, "file")) {
    require_input_file(file, kMaxWisdomFileBytes, "wisdom text");
    const cache::ImportCount count = cache::import_text(database, cache::read_text(file), file);
    files.push_back(counts_json(file, count));
    if (!given["json"].as<bool>()) print(counts_text(file, count));
  }
  if (given["json"].as<bool>()) print_json({{"database", database.path().string()}, {"files", files}});
  return kDone;
}

}  // namespace tuner::cli
