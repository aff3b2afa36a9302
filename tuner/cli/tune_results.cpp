#include <tuner/cli/tune_results.hpp>

#include <fmt/format.h>

#include <tuner/cli/output_file.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

std::vector<Sweep> sweeps_of(const std::vector<TunedProblem>& all) {
  std::vector<Sweep> sweeps;
  for (const TunedProblem& one : all)
    if (one.result.sweep) sweeps.push_back(*one.result.sweep);
  return sweeps;
}

std::string reason(const TunedProblem& one) {
  if (!one.error.empty()) return one.error;
  return one.ended ? "nothing was found" : "interrupted before it began";
}

Json json_failure(const TuneJob& job, const TunedProblem& one) {
  return {{"kernel", job.spec->name}, {"problem", to_json(job.size)}, {"error", reason(one)}};
}

/// \p results of the kernel of \p job.
Json document(const TuneJob& job, const TunedProblem& one, const DeviceChoice& devices, bool interrupted,
              Json results) {
  Json all{{"tuner", kVersion}, {"kernel", job.spec->name}};
  if (job.request.dry_run) {
    all["spaces"] = std::move(results);
    return all;
  }
  const SessionOptions& session = job.request.tuning.session;
  all.update({{"file", job.spec->program.file},
              {"device", to_json(one.device ? *one.device : devices.device)},
              {"device_reason", devices.reason},
              {"strategy", session.strategy},
              {"seed", session.seed},
              {"interrupted", interrupted},
              {"results", std::move(results)}});
  return all;
}

}  // namespace

std::string against_default(const ProblemResult& result) {
  return result.default_ns && result.is_found() ? fmt::format("{:.2f}", *result.default_ns / result.median_ns) : "";
}

void print_table(const TuneJobs& jobs, const std::vector<TunedProblem>& all, bool interrupted, Output& output) {
  Console& console = output.console();
  Table table({"#", "kernel", "problem", "best", "speed-up", "configuration"});
  std::size_t tuned = 0, known = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ProblemResult& found = all[i].result;
    const bool has = found.is_found();
    table.add({i + 1, jobs.all[i].spec->name, jobs.all[i].size.text(), has ? Cell::ns(found.median_ns) : Cell(),
               has ? Cell::right(against_default(found)) : Cell(),
               has ? found.configuration : first_line(reason(all[i]))});
    tuned += found.code == kDone;
    known += found.known;
  }
  if (!all.empty()) {
    if (!jobs.request.json) output.text('\n' + with_dim_titles(table.lines(), Style::of(stdout)));
    console.line(fmt::format("problems  {} of {} done{}{}", tuned, all.size(),
                             known > 0 ? fmt::format(", {} of them known before", known) : "",
                             interrupted ? "; the same command continues from here" : ""));
  }
  if (jobs.misses > 0)
    console.line(fmt::format("missed    {} of {} done{}", tuned, jobs.misses,
                             tuned < jobs.misses ? "; the others stay on the list (tune show --missed)" : ""));
}

void print_sweeps(const TuneJobs& jobs, const std::vector<TunedProblem>& all, Output& output) {
  const SweepRequest& asked = jobs.request.sweep;
  const std::vector<Sweep> sweeps = sweeps_of(all);
  for (const std::string& name : asked.by)
    if (!jobs.request.json) output.text(by_table(best_by(sweeps, name), name, Style::of(stdout)) + '\n');
  if (!asked.csv.empty() && write_or_print(asked.csv, sweep_csv(sweeps)))
    output.console().line("table     written to " + asked.csv.string());
}

Json json_results(const TuneJobs& jobs, const std::vector<TunedProblem>& all, bool interrupted) {
  if (!jobs.list.empty()) {
    Json list{{"tuner", kVersion}};
    if (!jobs.request.missed) list["interrupted"] = interrupted;
    Json& each = list[jobs.list] = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Json& found = all[i].result.document;
      each.push_back(found.is_null() ? json_failure(jobs.all[i], all[i])
                                     : document(jobs.all[i], all[i], jobs.devices, interrupted, Json::array({found})));
    }
    return list;
  }
  Json results = Json::array(), failed = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const Json& found = all[i].result.document; !found.is_null()) results.push_back(found);
    if (!all[i].error.empty()) failed.push_back(json_failure(jobs.all[i], all[i]));
  }
  Json kernel = document(jobs.all.front(), all.front(), jobs.devices, interrupted, std::move(results));
  if (!failed.empty()) kernel["failed"] = std::move(failed);
  if (jobs.request.dry_run) return kernel;
  const std::vector<Sweep> sweeps = sweeps_of(all);
  for (const std::string& name : jobs.request.sweep.by) kernel["by"][name] = json_by(best_by(sweeps, name), name);
  return kernel;
}

}  // namespace tuner::cli
