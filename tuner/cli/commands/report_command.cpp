// `tune report`, and the page of `tune --report`.
#include <tuner/cli/commands/report_page.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>

#include <cache/file/disk.hpp>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/commands/program.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/throughput.hpp>
#include <tuner/session/wisdom/records.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

/// The latest measurement of the best configuration. A shipped result has no trials: it gives its median alone.
Trial trial_of_best(const report::Tuning& tuning) {
  const cache::BestRecord& best = *tuning.best;
  const auto at = std::find_if(tuning.trials.rbegin(), tuning.trials.rend(), [&](const report::PlacedTrial& placed) {
    return placed.trial.kind == "ok" && placed.trial.configuration == best.configuration;
  });
  if (at != tuning.trials.rend())
    if (auto trial = from_record(at->trial)) return *std::move(trial);
  Trial trial;
  trial.configuration = Configuration::parse(best.configuration);
  Measurement measurement;
  measurement.median_ns = best.median_ns;
  measurement.cold = best.kernel.objective != "time_hot";
  trial.outcome = measurement;
  return trial;
}

report::Amounts amounts_of(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  constexpr double second = 1e9;
  const Throughput rate = throughput(spec, size, device, second);
  report::Amounts amounts;
  amounts.arithmetic_ceiling = arithmetic_peak(spec, size, device);
  amounts.bytes = rate.bytes_per_second;
  amounts.flops = rate.flops_per_second;
  amounts.written = rate.written;
  if (spec.default_configuration) amounts.default_configuration = spec.default_configuration->text();
  return amounts;
}

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

std::optional<Verdict> stored_verdict(const KernelSpec& spec, const report::Tuning& tuning, const Device& device) {
  if (!tuning.best) return std::nullopt;
  try {
    return explain(spec, from_record(tuning.key.problem), device, trial_of_best(tuning));
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // a configuration of a version to come
  }
}

void add_amounts(std::span<report::Tuning> tunings, KernelsByName kernels) {
  for (report::Tuning& tuning : tunings) {
    const cache::KernelRecord& kernel = tuning.key.kernel;
    const KernelSpec* const spec = kernels.find(kernel.name);
    if (spec == nullptr || to_record(*spec, {kernel.objective}).source_hash != kernel.source_hash) continue;
    try {
      const Device device = from_record(tuning.key.device);
      tuning.amounts = amounts_of(*spec, from_record(tuning.key.problem), device);
      tuning.verdict = stored_verdict(*spec, tuning, device);
    } catch (const Error&) {
      // Sizes that this source does not take: a stranger's database.
    }
  }
}

void write_report(const TuneJobs& jobs, const Device& device, Wisdom& wisdom) {
  const KernelSpec& spec = *jobs.all.front().spec;
  const cache::KernelRecord kernel = to_record(spec, jobs.request.tuning.session.objective);
  std::vector<report::Tuning> found = report::gather(wisdom.databases(), {kernel.name, device.key.text()}).tunings;
  std::erase_if(found, [&](const report::Tuning& one) {
    const auto is_it = [&](const TuneJob& job) { return to_record(job.size) == one.key.problem; };
    return !(one.key.kernel == kernel) || std::none_of(jobs.all.begin(), jobs.all.end(), is_it);
  });
  add_amounts(found, KernelsByName(spec));
  const cache::Database& user = wisdom.user();
  const std::string database = user.is_in_memory() ? "memory" : user.path().string();
  write_or_print(jobs.request.report, report::page(found, {kVersion, cache::now_ms(), {database}}));
}

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
