// `tune report`
#include <tuner/cli/commands/program.hpp>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/cli/print/stored_verdict.hpp>
#include <tuner/report/page.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

int run_report(const Given& given) {
  const std::string file = given.text("output");
  if (file.empty()) throw UsageError("report writes one file: tune report -o FILE.html");
  require_output_or_stdout(given, file, OutputKind::report, "-o");

  std::vector<cache::Database> databases = open_all_for_reading(given);
  const cache::Filter filter = read_filter(given, databases);
  std::vector<cache::Database*> all;
  for (cache::Database& one : databases) all.push_back(&one);
  report::Gathered what = report::gather(all, filter);
  if (what.tunings.empty())
    throw Error(fmt::format("there are no results{} to report; `tune KERNEL` finds some",
                            filter.kernel.empty() ? "" : " of " + in_quotes(filter.kernel)));
  add_amounts(what.tunings, KernelsByName(given.has("kernel") ? kernel_named(given.text("kernel")) : std::nullopt));

  const std::string text = report::page(what.tunings, {kVersion, cache::now_ms(), what.databases});
  if (write_or_print(file, text))
    Console(stderr, false)
        .line("{} written: {}, {}", printable(file), plural(what.tunings.size(), "result"),
              format_bytes(static_cast<std::int64_t>(text.size())));
  return kDone;
}

}  // namespace

Command report_command() {
  return {Options("Usage: tune report [KERNEL] [options] -o FILE.html\n"
                  "One HTML file that shows what a database holds: the winner and why, every\n"
                  "trial, what matters. It needs no network. `tune KERNEL --report FILE` tunes and\n"
                  "then writes it.",
                  "  tune report -o report.html\n  tune report reduce --device H200 -o reduce.html\n")
              .add("kernel device db output force")
              .arguments({"kernel"}),
          run_report};
}

}  // namespace tuner::cli
