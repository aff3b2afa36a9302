#include <tuner/cli/export_header.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include <cache/exchange.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/serving_check.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/convert/tuned_header.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/objective.hpp>
#include <tuner/session/records.hpp>

namespace tuner::cli {
namespace {

/// What the header cannot check for its user.
std::string size_constraints(const KernelSpec& spec) {
  std::string text;
  for (const Constraint& constraint : spec.space.constraints()) {
    const std::vector<std::string>& names = constraint.predicate.names();
    const bool of_size = std::any_of(names.begin(), names.end(), [&](auto& name) { return spec.find_size(name); });
    if (of_size) text += fmt::format("\n  {}", constraint.predicate.text());
  }
  return text.empty() ? "" : "What the kernel demands of sizes is for the caller to see to:" + text;
}

void print_portfolios(const std::vector<convert::PortfolioResult>& portfolios) {
  std::size_t sizes = 0, unmeasured = 0, unmatched = 0;
  for (const convert::PortfolioResult& one : portfolios) {
    const std::string device = one.device.name.empty() ? one.device.key : one.device.name;
    std::fprintf(stderr, "%s\n",
                 fmt::format("{}{}{}: {} for {}: at least {:.3f} of each size's best, {:.3f} on average",
                             printable(device), one.choices.empty() ? "" : ", ", printable(one.choices),
                             plural(static_cast<std::int64_t>(one.configurations), "configuration"),
                             plural(static_cast<std::int64_t>(one.sizes), "size"), one.worst, one.mean)
                     .c_str());
    unmeasured += one.unmeasured;
    unmatched += one.unmatched;
    sizes += one.sizes;
  }
  if (unmeasured + unmatched > 0)
    warn(fmt::format(
        "of {} at {} none of the chosen was measured, and at {} one configuration alone is known: shares of best count "
        "the others. Tunings that measure the same configurations at each size (`--strategy exhaustive`) say more",
        plural(static_cast<std::int64_t>(sizes), "size"), unmeasured, unmatched));
}

}  // namespace

int export_header(const po::variables_map& given) {
  const std::string file = text_of(given, "header");
  if (!given.count("kernel")) throw UsageError("a header is of one kernel: tune export --header FILE --kernel NAME");
  if (file == "-") refuse_options(given, {"force"}, "on standard output");
  if (file != "-") require_output(file, OutputKind::header, given["force"].as<bool>(), "--header");

  const std::optional<KernelSpec> spec = kernel_named(text_of(given, "kernel"));
  convert::TunedOptions options;
  options.kernel = spec ? spec->name : text_of(given, "kernel");
  options.device_key = text_of(given, "device-key");
  if (given.count("portfolio")) {
    options.portfolio = static_cast<std::size_t>(parse_count(text_of(given, "portfolio"), "--portfolio"));
    if (options.portfolio == 0) throw UsageError("--portfolio: at least 1");
  }
  convert::HeaderOptions header;
  if (spec) {
    options.source_hash = to_record(*spec, Objective()).source_hash;
    header.default_configuration = spec->default_configuration;
    header.remark = size_constraints(*spec);
  }
  std::vector<cache::Database> databases = open_all_for_reading(given);
  ServingCheck check(spec);
  options.objection = std::ref(check);
  const convert::TunedResults results = convert::tuned_results(databases, options);
  check.warn();
  const std::string text = convert::header_text(results, header);
  if (file == "-")
    print(text);
  else
    cache::write_text(file, text);

  std::set<std::string> devices;
  for (const convert::TunedSize& row : results.rows) devices.insert(row.device.key);
  print_portfolios(results.portfolios);
  std::fprintf(stderr, "%s\n",
               fmt::format("{} with {} on {}", file == "-" ? "a header" : file + " written,",
                           plural(static_cast<std::int64_t>(results.rows.size()), "size"),
                           plural(static_cast<std::int64_t>(devices.size()), "device"))
                   .c_str());
  return kDone;
}

}  // namespace tuner::cli
