#include <tuner/cli/missed_tuning.hpp>

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <cache/misses.hpp>
#include <cache/paths.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/interrupt.hpp>
#include <tuner/cli/spread_tuning.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/records.hpp>
#include <tuner/session/wisdom.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

std::string problem_text(const cache::MissRecord& miss) {
  std::string text = miss.kernel.name;
  for (const std::string& part : {miss.problem.choices, cache::sizes_text(miss.problem.sizes)})
    if (!part.empty()) text += ' ' + part;
  return text;
}

TuneRequest request_for(const TuneRequest& all, const cache::MissRecord& miss) {
  TuneRequest one = all;
  one.kernel = miss.file;
  const ProblemSize size = from_record(miss.problem);
  std::string sizes;
  for (const auto& [name, value] : size.sizes) sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ",", name, value);
  if (!sizes.empty()) one.problems.sizes = {sizes};
  for (const auto& [name, value] : size.choices) one.problems.choices.push_back(name + '=' + value);
  return one;
}

/// Throws Error if the kernel that was called does not exist any more.
TuneJob job_for(const TuneRequest& all, const DeviceChoice& choice, const cache::MissRecord& miss, Console& console) {
  if (miss.file.empty())
    throw Error("kernel '" + miss.kernel.name +
                "' is described in the program that called it: tune it there (tuner::tune), or give the program a "
                "kernel file");
  TuneJob job = read_job(request_for(all, miss), choice);
  if (job.spec->name != miss.kernel.name)
    throw Error(fmt::format("{} holds the kernel '{}' by now, not '{}'; `tune db clear missed --kernel {}` forgets it",
                            job.spec->file, job.spec->name, miss.kernel.name, miss.kernel.name));
  if (to_record(*job.spec, {}).source_hash != miss.kernel.source_hash)
    console.line("note      the kernel has changed since it was called");
  job.miss = miss;
  return job;
}

}  // namespace

int tune_missed(const TuneRequest& request, const std::atomic<bool>& stop, TuneEvents& events) {
  if (!request.dry_run && request.database.empty() && cache::frozen_database_file())
    Wisdom(WisdomOptions{}).require_not_frozen("tune what is listed");
  Console& console = events.console();
  const DeviceChoice choice = choose_alike(request.device);
  const auto file = request.database.empty() ? cache::user_database_file() : std::optional(request.database);
  std::error_code error;
  std::vector<cache::Database> databases;  // one, or none was made yet
  if (file && fs::exists(*file, error)) databases.push_back(open_for_reading(*file));
  const cache::Filter filter{.kernel = stored_kernel(request.kernel, databases),
                             .device_key = choice.device.key.text()};
  std::vector<cache::MissRecord> misses;
  if (!databases.empty()) misses = cache::misses(databases[0], filter);
  if (misses.empty()) console.line("missed    nothing is listed for " + choice.device.name);

  std::vector<TuneJob> jobs;
  for (std::size_t i = 0; i < misses.size(); ++i) {
    const cache::MissRecord& miss = misses[i];
    console.line(fmt::format("missed    {} of {}: {}, {}{}", i + 1, misses.size(), problem_text(miss),
                             plural(miss.calls, "call"),
                             miss.spent_ns() > 0 ? ", about " + format_ns(miss.spent_ns()) + " in them" : ""));
    try {
      jobs.push_back(job_for(request, choice, miss, console));
    } catch (const std::exception& failure) {
      console.error(failure.what());
    }
  }
  std::atomic<std::size_t> done = 0;
  const bool all_can_be_tuned = jobs.size() == misses.size();
  const auto tune = [&](TuneJob job, TuneEvents& of_one, Seat& seat) {
    const cache::MissRecord miss = *job.miss;
    const int code = run_job(std::move(job), stop, of_one, &seat);
    if (code == kDone && !request.dry_run) {
      cache::Database database = open_for_writing(*file);
      cache::forget_miss(database, miss);
      ++done;
    }
    return code;
  };
  SpreadResult result;
  if (!jobs.empty()) result = tune_jobs(std::move(jobs), choice, stop, events, tune);
  if (request.json) events.on_document({{"tuner", kVersion}, {"missed", std::move(result.documents)}});
  if (!misses.empty() && !request.dry_run)
    console.line(fmt::format("missed    {} of {} done{}", done.load(), misses.size(),
                             done < misses.size() ? "; the others stay on the list (tune show --missed)" : ""));
  if (stop) return kInterrupted;
  return all_can_be_tuned ? result.code : std::max(result.code, kFailed);
}

}  // namespace tuner::cli
