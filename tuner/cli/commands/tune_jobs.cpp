#include <tuner/cli/commands/tune_jobs.hpp>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <cache/file/paths.hpp>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/sub_space.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/recording/launch_recording.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner::cli {
namespace {

KernelSpec part_of(const KernelSpec& spec, const SweepRequest& asked) try {
  return sub_space(spec, asked.fix, asked.vary);
} catch (const Error& error) {
  throw UsageError(error.what());
}

/// Throws UsageError if \p spec cannot be tuned as \p given says.
TuneJob job_of(KernelSpec spec, const TuningOptions& tuning, const TuneArguments& given) {
  if (given.together && spec.sizes.empty())
    throw UsageError("--together finds a rule by size, and kernel '{}' has no sizes: tune it without --together",
                     spec.name);
  TuneJob job{std::make_shared<const KernelSpec>(std::move(spec)), {}, tuning};
  if (const std::string* const why = unknown_headers(*job.spec))
    job.notes.push_back("note      earlier results are not used: " + *why);
  return job;
}

std::vector<std::string> notes_on(const Recording& recording, const std::filesystem::path& folder,
                                  const Device& device) {
  std::vector<std::string> notes{fmt::format(
      "recording {}, launched {}on {}", folder.string(),
      recording.configuration ? fmt::format("with {} ", recording.configuration->text()) : "", recording.device_name)};
  if (answers(recording.spec, recording.data))
    notes.emplace_back("note      the kernel has no reference: the outputs of the recorded launch count as right");
  if (recording.device_key != device.key.text())
    notes.push_back("note      this is not the device of the recording: calls on " + recording.device_name +
                    " are not served with this");
  return notes;
}

/// A kernel or recording, with the options and limits of its line or of the command line.
struct Named {
  const TuneSubject& what;
  TuningOptions tuning;
};

/// Adds the problems of \p named that are not yet \p known.
void add(Named named, TuneJobs& jobs, std::set<std::string>& known) {
  const Device& device = jobs.request.devices.device;
  const SweepRequest& sweep = jobs.arguments.sweep;
  std::optional<Recording> recording;
  if (!named.what.recording.empty()) {
    recording = read_recording(named.what.recording);
    named.tuning.measure.recorded = recording->data;
  }
  KernelSpec spec = recording ? recording->spec : find_kernel(named.what.kernel);
  if (sweep.is_part()) spec = part_of(spec, sweep);
  TuneJob job = job_of(std::move(spec), named.tuning, jobs.arguments);
  const Problems problems =
      recording ? Problems{{recording->size}} : select_problems(*job.spec, named.what.problems, device);
  if (recording)
    for (std::string& note : notes_on(*recording, named.what.recording, device)) job.notes.push_back(std::move(note));
  if (problems.may_be_one)
    job.notes.emplace_back(
        "note      sizes of one problem are given together, as --size nx=64,ny=32; these are several");
  if (problems.shrunk)
    job.notes.emplace_back("size      smaller than the kernel's default, as the host is slow; --size chooses");
  for (const ProblemSize& size : problems.list) {
    job.size = size;
    if (!known.insert(job.spec->program.file + '\n' + job.name()).second) continue;
    jobs.request.jobs.push_back(job);
    job.notes.clear();  // once for all sizes
  }
}

/// Throws UsageError if \p line measures nothing and an option of the command line needs measurements.
void check_effort(const ListedRequest& line, const TuningOptions& tuning) {
  if (tuning.effort != Effort::none) return;
  const char* const option = !tuning.resume                    ? "--force"
                             : !tuning.measure.verify          ? "--unverified"
                             : !tuning.measure.metrics.empty() ? "--metrics"
                                                               : nullptr;
  if (option != nullptr)
    throw UsageError("{} has no effect with {}, which measures nothing", option,
                     line.effort ? "--effort none" : kNoEffort);
}

void add_line(const ListedRequest& line, TuneJobs& jobs, std::set<std::string>& known) try {
  TuneSubject what;
  what.kernel = line.kernel;
  what.problems = line.problems;
  Named named{what, jobs.arguments.tuning};
  if (line.budget || line.effort) {
    named.tuning.effort = line.effort;
    named.tuning.session.budget = line.budget.value_or(Budget());
  }
  check_effort(line, named.tuning);
  if (line.isolation) named.tuning.isolation = *line.isolation;
  add(std::move(named), jobs, known);
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
void add_miss(const cache::MissRecord& miss, TuneJobs& jobs, Console& console) {
  if (miss.file.empty())
    throw Error("kernel '" + miss.kernel.name +
                "' is described in the program that called it: tune it there (tuner::tune), or give the program a "
                "kernel file");
  // Anybody may have written this database, and a kernel file is a program.
  std::error_code error;
  const TuneArguments& given = jobs.arguments;
  if (!given.database.empty() && KernelLibrary::is_path(miss.file) &&
      !std::filesystem::equivalent(given.what.kernel, miss.file, error))
    throw Error(
        fmt::format("{} names the kernel file {}, which would be compiled and run here: if you trust it, add "
                    "--kernel {}",
                    given.database.string(), miss.file, miss.file));
  TuneJob job = job_of(find_kernel(miss.file), given.tuning, given);
  if (job.spec->name != miss.kernel.name)
    throw Error(fmt::format("{} holds the kernel '{}' by now, not '{}'; `tune db clear missed --kernel {}` forgets it",
                            job.spec->program.file, job.spec->name, miss.kernel.name, miss.kernel.name));
  if (to_record(*job.spec, {}).source_hash != miss.kernel.source_hash)
    console.line("note      the kernel has changed since it was called");
  job.size = complete(*job.spec, from_record(miss.problem));
  job.miss = miss;
  jobs.request.jobs.push_back(std::move(job));
}

void add_misses(TuneJobs& jobs, Console& console) {
  const TuneArguments& given = jobs.arguments;
  const Device& device = jobs.request.devices.device;
  if (!given.dry_run && given.database.empty() && cache::frozen_database_file())
    Wisdom(WisdomOptions{}).require_not_frozen("tune what is listed");
  const auto file = given.database.empty() ? cache::user_database_file() : std::optional(given.database);
  std::error_code error;
  std::vector<cache::Database> databases;  // one, or none was made yet
  if (file && std::filesystem::exists(*file, error)) databases.push_back(open_for_reading(*file));
  const cache::Filter filter{.kernel = stored_kernel(given.what.kernel, databases), .device_key = device.key.text()};
  std::vector<cache::MissRecord> misses;
  if (!databases.empty()) misses = cache::misses(databases[0], filter);
  if (misses.empty()) console.line("missed    nothing is listed for " + device.name);
  for (const cache::MissRecord& miss : misses) {
    console.line("missed    {} of {}: {}, {}{}", ++jobs.misses, misses.size(), problem_text(miss),
                 plural(miss.calls, "call"),
                 miss.spent_ns() > 0 ? ", about " + format_ns(miss.spent_ns()) + " in them" : "");
    try {
      add_miss(miss, jobs, console);
    } catch (const std::exception& failure) {
      console.error(failure.what());
    }
  }
}

/// Output about one kernel while it is tuned, or about all its problems together, has one writer.
bool has_one_writer(const TuneArguments& arguments) {
  return arguments.dry_run || !arguments.report.empty() || arguments.sweep.needs_trials() ||
         !arguments.tuning.hosts.empty();
}

}  // namespace

TuneJobs make_jobs(const TuneArguments& arguments, const DeviceChoice& devices, Console& console) {
  TuneJobs jobs{arguments, {}, arguments.what.missed ? "missed" : arguments.what.list.empty() ? "" : "problems"};
  jobs.request.devices = devices;
  jobs.request.database = arguments.database;
  jobs.request.is_one_kernel = jobs.list.empty();
  jobs.request.one_at_a_time = has_one_writer(arguments);
  jobs.request.without_ceilings = arguments.without_ceilings;
  if (arguments.what.missed) add_misses(jobs, console);
  std::set<std::string> known;
  for (const ListedRequest& line : arguments.what.list) add_line(line, jobs, known);
  if (jobs.list.empty()) add({arguments.what, arguments.tuning}, jobs, known);
  return jobs;
}

}  // namespace tuner::cli
