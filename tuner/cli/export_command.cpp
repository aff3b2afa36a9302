#include <tuner/cli/export_command.hpp>

#include <cstdio>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/export_header.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/cli/export_images.hpp>
#endif
#include <tuner/cli/export_results.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>

namespace tuner::cli {

int export_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  add_database_options(options, true);
  options.add_options()("all", po::bool_switch(), "sessions and every trial too, not only the best");
  options.add_options()("header", po::value<std::string>()->value_name("FILE.hpp"),
                        "a C++17 header of one kernel's best configurations, for programs without tuner");
  options.add_options()("portfolio", po::value<std::string>()->value_name("K"),
                        "of --header: at most K configurations for each device, those that lose least over all sizes");
  add_results_options(options);
#ifdef TUNER_HAS_CUDA
  add_image_options(options);
#endif
  options.add_options()("force,f", po::bool_switch(), "replace a file that tuner did not write");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options, {"file..."});
  if (given.count("help"))
    return print_help(
        "Usage: tune export [options] FILE\n"
        "       tune export --header FILE.hpp --kernel NAME [--portfolio K]\n"
        "       tune export --t4 FILE.json --kernel NAME [--size n=1000]\n"
        "       tune export --images FOLDER [--arch sm_90,compute_90]\n"
        "Writes results as reviewable text, one JSON line each; `-` is stdout, a name in .gz is compressed.",
        options,
        "  tune export --kernel reduce h200.wisdom\n  tune export --all everything.gz\n"
        "  tune export --header tuned_reduce.hpp --kernel reduce --portfolio 4\n");
  const Texts files = texts_of(given, "file");
#ifdef TUNER_HAS_CUDA
  if (given.count("images")) {
    if (!files.empty()) throw UsageError("images go to their folder alone: leave FILE out");
    refuse_options(given, {"all", "header", "portfolio", "t4", "kernel-tuner-cache", "size", "choice"},
                   "with --images");
    return export_images(given);
  }
  refuse_options(given, {"arch"}, "without --images");
#endif
  if (given.count("portfolio") && !given.count("header")) throw UsageError("--portfolio belongs to --header FILE");
  if (given.count("header") || asks_for_results(given)) refuse_options(given, {"all"}, "on a file for other programs");
  if (!asks_for_results(given)) refuse_options(given, {"size", "choice"}, "without --t4 and its kin");
  if (given.count("header")) {
    if (!files.empty()) throw UsageError("one export writes one file: either --header FILE or FILE");
    if (asks_for_results(given)) throw UsageError("--header goes without other formats: export those by themselves");
    return export_header(given);
  }
  if (asks_for_results(given)) {
    if (!files.empty()) throw UsageError("FILE is what holds results for tuner; give the others without it");
    return export_results(given);
  }
  if (files.size() != 1) throw UsageError("export writes one file: tune export FILE");
  if (files[0] == "-") refuse_options(given, {"force"}, "on standard output");

  if (files[0] != "-") require_output(files[0], OutputKind::wisdom_text, given["force"].as<bool>(), "export");
  cache::Database database = open_for_reading(database_file(given));
  const cache::Filter filter = read_filter(given);
  require_known_kernel(filter, std::span(&database, 1));
  require_known_device(filter, std::span(&database, 1));
  const std::string text =
      given["all"].as<bool>() ? cache::export_all(database, filter) : cache::export_wisdom(database, filter);
  if (files[0] == "-") {
    print(text);
  } else {
    cache::write_text(files[0], text);
    std::fprintf(stderr, "%s written\n", files[0].c_str());
  }
  return kDone;
}

}  // namespace tuner::cli
