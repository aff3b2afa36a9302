#include <tuner/cli/import_command.hpp>

#include <cstdio>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/import_counts.hpp>

namespace tuner::cli {

int import_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  add_database_options(options, false);
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options, {"file..."});
  if (given.count("help"))
    return print_help(
        "Usage: tune import [options] FILE...\n"
        "Takes over results from text that `tune export` wrote; all of a file or nothing of it.",
        options, "  tune import h200.wisdom\n");
  if (!given.count("file")) throw UsageError("import reads files: tune import FILE...");

  cache::Database database = open_database(given, false);
  for (const std::string& file : texts_of(given, "file")) {
    const cache::ImportCount count = cache::import_text(database, cache::read_text(file), file);
    std::printf("%s  %s\n", file.c_str(), import_text(count).c_str());
  }
  return kDone;
}

}  // namespace tuner::cli
