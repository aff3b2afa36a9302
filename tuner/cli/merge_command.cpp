#include <tuner/cli/merge_command.hpp>

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/import_counts.hpp>
#include <tuner/core/error.hpp>

namespace tuner::cli {

int merge_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options, {"files..."});
  if (given.count("help"))
    return print_help(
        "Usage: tune merge OUT IN...\n"
        "Unites databases: OUT, made when it is not there, takes over everything in the others. Of two\n"
        "results for the same problem the later measurement stays.",
        options, "  tune merge all.db node1.db node2.db\n");
  const Texts files = texts_of(given, "files");
  if (files.size() < 2) throw UsageError("merge needs a result and at least one source: tune merge OUT IN...");

  cache::OpenOptions warned;
  warned.warn = [](const std::string& text) { warn(text); };
  for (std::size_t i = 1; i < files.size(); ++i)
    if (!std::filesystem::exists(files[i])) throw Error(fmt::format("{}: no such database", files[i]));
  cache::OpenOptions strict = warned;
  strict.strict = true;
  cache::Database into = cache::Database::open_user(files[0], strict);
  for (std::size_t i = 1; i < files.size(); ++i) {
    auto from = cache::Database::open_shipped(files[i], warned);  // read-only: sources are never changed
    if (!from) throw Error(fmt::format("{}: cannot be merged, see the warning above", files[i]));
    std::printf("%s  %s\n", files[i].c_str(), import_text(cache::merge(into, *from)).c_str());
  }
  return kDone;
}

}  // namespace tuner::cli
