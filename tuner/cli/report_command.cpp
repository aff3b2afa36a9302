#include <tuner/cli/report_command.hpp>

#include <cstdio>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/kernel_amounts.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/stored_devices.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/report/page.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

po::options_description report_options() {
  po::options_description options("Options", 110);
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE.html"), "what is written; `-` is stdout");
  add("db", po::value<std::string>()->value_name("FILE"), "database; default: wisdom.db in the cache folder");
  add("kernel,k", po::value<std::string>()->value_name("NAME|FILE.cu"), "this kernel only");
  add("device,d", po::value<std::string>()->value_name("NAME"), "this device only: its name, a part of it, or its key");
  add("template-path", po::value<Texts>()->value_name("DIR"), "look for kernels here first");
  add("force,f", po::bool_switch(), "replace a file that tuner did not write");
  add_help(options);
  return options;
}

}  // namespace

int report_command(int argc, char** argv) {
  const po::options_description options = report_options();
  const po::variables_map given = parse_options(argc, argv, options);
  if (given.count("help"))
    return print_help(
        "Usage: tune report [options] -o FILE.html\n"
        "One HTML file that shows what a database holds: the winner and why, every trial, what matters.\n"
        "It needs no network. `tune … --report FILE` writes it while tuning runs.",
        options, "  tune report -o report.html\n  tune report --kernel reduce --device H200 -o reduce.html\n");
  const std::string file = text_of(given, "output"), kernel = text_of(given, "kernel");
  if (file.empty()) throw UsageError("report writes one file: tune report -o FILE.html");
  if (file == "-") refuse_options(given, {"force"}, "on standard output");
  if (file != "-") require_output(file, OutputKind::report, given["force"].as<bool>(), "-o");

  std::vector<cache::Database> databases = open_all_for_reading(given);
  cache::Filter filter;
  const bool is_path = KernelLibrary::is_path(kernel);
  filter.kernel = is_path ? KernelLibrary(template_path(given)).find(kernel).name : kernel;
  if (given.count("device"))
    filter.device_key = find_device(stored_devices(databases), text_of(given, "device"), "--device").key;
  std::vector<cache::Database*> all;
  for (cache::Database& one : databases) all.push_back(&one);
  report::Gathered what = report::gather(all, filter);
  if (what.tunings.empty())
    throw Error(fmt::format("there are no results{} to report; `tune --kernel NAME` finds some",
                            filter.kernel.empty() ? "" : " of " + in_quotes(filter.kernel)));
  add_amounts(what.tunings, template_path(given), is_path ? kernel : "");

  report::PageOptions page{kVersion, cache::now_ms(), what.databases, {}};
  const std::string text = report::page(what.tunings, page);
  if (file == "-") {
    print(text);
    return kDone;
  }
  cache::write_text(file, text);
  std::fprintf(stderr, "%s written: %s, %s\n", printable(file).c_str(),
               plural(static_cast<std::int64_t>(what.tunings.size()), "result").c_str(),
               format_bytes(static_cast<std::int64_t>(text.size())).c_str());
  return kDone;
}

}  // namespace tuner::cli
