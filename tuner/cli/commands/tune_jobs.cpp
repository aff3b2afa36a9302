#include <tuner/cli/commands/tune_jobs.hpp>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <cache/file/paths.hpp>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/sub_space.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/records.hpp>

namespace tuner::cli {
namespace {

KernelSpec part_of(const KernelSpec& spec, const SweepRequest& asked) try {
  return sub_space(spec, asked.fix, asked.vary);
} catch (const Error& error) {
  throw UsageError(error.what());
}

/// Adds the problems of the kernel or recording in \p request that are not yet \p known.
void add(TuneRequest request, TuneJobs& jobs, std::set<std::string>& known) {
  TuneJob job;
  if (!request.what.recording.empty()) {
    job.recording = std::make_shared<const Recording>(read_recording(request.what.recording));
    request.tuning.measure.recorded = job.recording->data;
  }
  KernelSpec spec = job.recording ? job.recording->spec : find_kernel(request.what.kernel);
  if (request.sweep.is_part()) spec = part_of(spec, request.sweep);
  job.spec = std::make_shared<const KernelSpec>(std::move(spec));
  const Problems problems = job.recording ? Problems{{job.recording->size}}
                                          : select_problems(*job.spec, request.what.problems, jobs.devices.device);
  request.what.problems = {};
  job.request = std::move(request);
  if (problems.may_be_one)
    job.notes.emplace_back(
        "note      sizes of one problem are given together, as --size nx=64,ny=32; these are several");
  if (problems.shrunk)
    job.notes.emplace_back("size      smaller than the kernel's default, as the host is slow; --size chooses");
  for (const ProblemSize& size : problems.list) {
    job.size = size;
    if (!known.insert(job.spec->program.file + '\n' + job.name()).second) continue;
    jobs.all.push_back(job);
    job.notes.clear();  // once for all sizes
  }
}

void add_line(TuneRequest request, const ListedRequest& line, TuneJobs& jobs, std::set<std::string>& known) try {
  request.what.kernel = line.kernel;
  request.what.problems = line.problems;
  if (line.budget) request.tuning.session.budget = *line.budget;
  if (line.isolation) request.tuning.isolation = *line.isolation;
  add(std::move(request), jobs, known);
} catch (const UsageError& error) {
  throw UsageError(line.place + ": " + error.what());
} catch (const Error& error) {
  throw Error(line.place + ": " + error.what());
}

std::string problem_text(const cache::MissRecord& miss) {
  std::string text = miss.kernel.name;
  for (const std::string& part : {miss.problem.choices, cache::sizes_text(miss.problem.sizes)})
    if (!part.empty()) text += ' ' + part;
  return text;
}

/// Throws Error if the kernel that was called does not exist any more.
void add_miss(TuneRequest request, const cache::MissRecord& miss, TuneJobs& jobs, Console& console) {
  if (miss.file.empty())
    throw Error("kernel '" + miss.kernel.name +
                "' is described in the program that called it: tune it there (tuner::tune), or give the program a "
                "kernel file");
  // Anybody may have written this database, and a kernel file is a program.
  std::error_code error;
  if (!request.database.empty() && KernelLibrary::is_path(miss.file) &&
      !std::filesystem::equivalent(request.what.kernel, miss.file, error))
    throw Error(
        fmt::format("{} names the kernel file {}, which would be compiled and run here: if you trust it, add "
                    "--kernel {}",
                    request.database.string(), miss.file, miss.file));
  request.what.kernel = miss.file;
  TuneJob job;
  job.spec = std::make_shared<const KernelSpec>(find_kernel(miss.file));
  if (job.spec->name != miss.kernel.name)
    throw Error(fmt::format("{} holds the kernel '{}' by now, not '{}'; `tune db clear missed --kernel {}` forgets it",
                            job.spec->program.file, job.spec->name, miss.kernel.name, miss.kernel.name));
  if (to_record(*job.spec, {}).source_hash != miss.kernel.source_hash)
    console.line("note      the kernel has changed since it was called");
  job.request = std::move(request);
  job.size = complete(*job.spec, from_record(miss.problem));
  job.miss = miss;
  jobs.all.push_back(std::move(job));
}

void add_misses(const TuneRequest& request, TuneJobs& jobs, Console& console) {
  if (!request.dry_run && request.database.empty() && cache::frozen_database_file())
    Wisdom(WisdomOptions{}).require_not_frozen("tune what is listed");
  const auto file = request.database.empty() ? cache::user_database_file() : std::optional(request.database);
  std::error_code error;
  std::vector<cache::Database> databases;  // one, or none was made yet
  if (file && std::filesystem::exists(*file, error)) databases.push_back(open_for_reading(*file));
  const cache::Filter filter{.kernel = stored_kernel(request.what.kernel, databases),
                             .device_key = jobs.devices.device.key.text()};
  std::vector<cache::MissRecord> misses;
  if (!databases.empty()) misses = cache::misses(databases[0], filter);
  if (misses.empty()) console.line("missed    nothing is listed for " + jobs.devices.device.name);
  for (const cache::MissRecord& miss : misses) {
    console.line("missed    {} of {}: {}, {}{}", ++jobs.misses, misses.size(), problem_text(miss),
                 plural(miss.calls, "call"),
                 miss.spent_ns() > 0 ? ", about " + format_ns(miss.spent_ns()) + " in them" : "");
    try {
      add_miss(request, miss, jobs, console);
    } catch (const std::exception& failure) {
      console.error(failure.what());
    }
  }
}

}  // namespace

TuneJobs read_jobs(const TuneRequest& request, const DeviceChoice& devices, Console& console) {
  TuneJobs jobs{request, devices, {}, request.what.missed ? "missed" : request.what.list.empty() ? "" : "problems"};
  const std::vector<ListedRequest> lines = std::exchange(jobs.request.what.list, {});
  if (request.what.missed) add_misses(jobs.request, jobs, console);
  std::set<std::string> known;
  for (const ListedRequest& line : lines) add_line(jobs.request, line, jobs, known);
  if (jobs.list.empty()) add(jobs.request, jobs, known);
  return jobs;
}

}  // namespace tuner::cli
