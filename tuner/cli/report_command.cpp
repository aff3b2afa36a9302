#include <tuner/cli/commands.hpp>

#include <cstdio>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/kernel_amounts.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/report/page.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

int run_report(const Given& given) {
  const std::string file = given.text("output"), kernel = given.text("kernel");
  if (file.empty()) throw UsageError("report writes one file: tune report -o FILE.html");
  require_output_or_stdout(given, file, OutputKind::report, "-o");

  std::vector<cache::Database> databases = open_all_for_reading(given);
  cache::Filter filter;
  const bool is_path = KernelLibrary::is_path(kernel);
  filter.kernel = is_path ? KernelLibrary(template_path(given)).find(kernel).name : kernel;
  if (given.has("device"))
    filter.device_key = find_device(stored_devices(databases), given.text("device"), "--device").key;
  std::vector<cache::Database*> all;
  for (cache::Database& one : databases) all.push_back(&one);
  report::Gathered what = report::gather(all, filter);
  if (what.tunings.empty())
    throw Error(fmt::format("there are no results{} to report; `tune --kernel NAME` finds some",
                            filter.kernel.empty() ? "" : " of " + in_quotes(filter.kernel)));
  add_amounts(what.tunings, template_path(given), is_path ? kernel : "");

  report::PageOptions page{kVersion, cache::now_ms(), what.databases, {}};
  const std::string text = report::page(what.tunings, page);
  if (!write_or_print(file, text)) return kDone;
  std::fprintf(stderr, "%s written: %s, %s\n", printable(file).c_str(),
               plural(static_cast<std::int64_t>(what.tunings.size()), "result").c_str(),
               format_bytes(static_cast<std::int64_t>(text.size())).c_str());
  return kDone;
}

}  // namespace

Command report_command() {
  Options options(
      "Usage: tune report [options] -o FILE.html\n"
      "One HTML file that shows what a database holds: the winner and why, every trial, what matters.\n"
      "It needs no network. `tune … --report FILE` writes it while tuning runs.",
      "  tune report -o report.html\n  tune report --kernel reduce --device H200 -o reduce.html\n");
  options.text("output,o", "FILE.html", "what is written; `-` is stdout");
  options.text("db", "FILE", "database; default: wisdom.db in the cache folder");
  options.text("kernel,k", "NAME|FILE.cu", "this kernel only");
  options.text("device,d", "NAME", "this device only: its name, a part of it, or its key");
  options.texts("template-path", "DIR", "look for kernels here first");
  options.flag("force,f", "replace a file that tuner did not write");
  return {options, run_report};
}

}  // namespace tuner::cli
