#include <tuner/cli/commands/tune_printer.hpp>

#include <algorithm>

#include <tuner/cli/print/output_file.hpp>
#include <tuner/cli/print/stored_verdict.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/error.hpp>
#include <tuner/report/page.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

/// The speed-up over the kernel's default configuration; empty if that was not measured.
std::string against_default(const PrintedResult& printed) {
  return printed.over_default ? fmt::format("{:.2f}", *printed.over_default) : "";
}

/// Writes the page of the problems of \p jobs, which are of one kernel, from what \p wisdom has of them.
void write_report(const TuneJobs& jobs, Wisdom& wisdom) {
  const TuneRequest& request = jobs.request;
  const KernelSpec& spec = *request.jobs.front().spec;
  const cache::KernelRecord kernel = to_record(spec, jobs.arguments.tuning.session.objective);
  std::vector<report::Tuning> found =
      report::gather(wisdom.databases(), {kernel.name, request.devices.device.key.text()}).tunings;
  std::erase_if(found, [&](const report::Tuning& one) {
    const auto is_it = [&](const TuneJob& job) { return to_record(job.size) == one.key.problem; };
    return !(one.key.kernel == kernel) || std::ranges::none_of(request.jobs, is_it);
  });
  add_amounts(found, KernelsByName(spec));
  const cache::Database& user = wisdom.user();
  const std::string database = user.is_in_memory() ? "memory" : user.path().string();
  write_or_print(jobs.arguments.report, report::page(found, {kVersion, cache::now_ms(), {database}}));
}

}  // namespace

TunePrinter::TunePrinter(const TuneJobs& jobs, Output& output)
    : jobs_(jobs), output_(output), how_(spread_of(jobs.request)), entries_(jobs.request.jobs.size()) {
  if (!entries_.empty() && !jobs_.arguments.dry_run) open_outputs();
  introduce_all();
}

void TunePrinter::open_outputs() {
  const TuneArguments& asked = jobs_.arguments;
  if (!asked.database.empty()) require_database(asked.database, "--db");
  if (!asked.log.empty()) {
    require_output(asked.log, OutputKind::trial_log, asked.force, "--log");
    log_ = std::make_unique<TrialLog>(asked.log, output_);
  }
  if (!asked.sweep.csv.empty()) require_output(asked.sweep.csv, OutputKind::table, asked.force, "--csv");
  const Sweep nothing{subject_of(asked, jobs_.request.jobs.front(), jobs_.request.devices.device), {}, {}};
  for (const std::string& name : asked.sweep.by) best_by({nothing}, name);
  if (!asked.report.empty()) require_output(asked.report, OutputKind::report, asked.force, "--report");
}

void TunePrinter::introduce_all() {
  const DeviceChoice& devices = jobs_.request.devices;
  if (how_ == Spread::together) return introduce(jobs_.request.jobs.front(), devices, output_);
  if (how_ != Spread::side_by_side) return;
  std::vector<int> all{devices.device.index};
  all.insert(all.end(), devices.more.begin(), devices.more.end());
  output_.line("device    {}, {}: {}", devices.device.name, devices.device.environment.compiler, devices.reason);
  output_.line("problems  {}, spread over {}", entries_.size(), ordinals_text(devices.device.key, all));
  for (const TuneJob& job : jobs_.request.jobs)
    for (const std::string& note : job.notes) output_.line(note);
}

void TunePrinter::introduce_one(std::size_t problem, const std::vector<int>& devices) {
  const TuneJob& job = jobs_.request.jobs[problem];
  if (how_ == Spread::together) {
    if (!jobs_.arguments.dry_run) output_.line("problem   " + job.size.text());
    return;
  }
  const std::string heading = fmt::format("problem   {} of {}: {}", problem + 1, entries_.size(), job.name());
  if (how_ == Spread::side_by_side)
    return output_.line(heading + ", on " + ordinals_text(jobs_.request.devices.device.key, devices));
  output_.line((begun_ > 1 ? "\n" : "") + heading);
  DeviceChoice its = jobs_.request.devices;
  its.more.assign(devices.begin() + 1, devices.end());
  introduce(job, its, output_);
}

void TunePrinter::describe_spaces() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.device = jobs_.request.devices.device;
    ++begun_;
    introduce_one(i, {entry.device.index});
    try {
      entry.printed = describe_space(jobs_.arguments, jobs_.request.jobs[i], entry.device, output_);
    } catch (const std::exception& failure) {
      if (how_ == Spread::together && entries_.size() == 1) throw;
      entry.printed.error = failure.what();
      output_.error(jobs_.request.jobs[i].name() + ": " + failure.what());
    }
    entry.ended = true;
  }
}

ProblemListener& TunePrinter::on_begin(std::size_t problem, const std::vector<int>& devices) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[problem];
  entry.running = true;
  ++begun_;
  introduce_one(problem, devices);
  const bool beside = how_ == Spread::side_by_side;
  if (beside) entry.beside_others = std::make_unique<Output>(output_, jobs_.request.jobs[problem].name());
  entry.listener = std::make_unique<TuneListener>(beside ? *entry.beside_others : output_);
  entry.listener->verbose = jobs_.arguments.verbose;
  entry.listener->log = log_.get();
  if (beside)
    entry.listener->after_trial = [this] {
      const std::lock_guard status_lock(mutex_);
      ++trials_;
      show_status();
    };
  return *entry.listener;
}

void TunePrinter::on_end(std::size_t problem, ProblemResult result) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[problem];
  const std::string name = jobs_.request.jobs[problem].name();
  entry.device = result.device;
  try {
    entry.printed = print_result(jobs_.arguments, jobs_.request.jobs[problem], result, entry.device, *entry.listener);
  } catch (const std::exception& failure) {  // the other problems continue
    entry.printed = {};
    entry.printed.code = kFailed;
    entry.printed.error = failure.what();
    output_.error(name + ": " + failure.what());
  }
  entry.running = false;
  entry.ended = true;
  ++ended_;
  if (!result.error.empty() && !result.ends_batch) output_.error(name + ": " + result.error);
  if (how_ != Spread::side_by_side) return;
  if (const std::string& text = entry.beside_others->kept(); !text.empty()) output_.text(text);
  std::string what = entry.printed.is_found() ? format_ns(entry.printed.median_ns)
                     : entry.printed.known    ? "not measured"
                                              : "nothing was found";
  if (const std::string times = against_default(entry.printed); !times.empty())
    what += fmt::format(", {}x the default", times);
  if (entry.printed.known && entry.printed.is_found()) what += ", known before";
  output_.line("done      {} of {}: {}, {}", ended_, entries_.size(), name, what);
  show_status();
}

void TunePrinter::show_status() {
  output_.status([this](std::size_t width) {
    const auto running = std::ranges::count_if(entries_, [](const Entry& entry) { return entry.running; });
    const std::string text = fmt::format("{} of {} problems done, {} running, {}", ended_, entries_.size(), running,
                                         plural(trials_, "trial"));
    return text.substr(0, width);
  });
}

void TunePrinter::on_results(Wisdom& wisdom) {
  if (jobs_.arguments.report.empty()) return;
  try {
    write_report(jobs_, wisdom);
  } catch (const std::exception& failure) {
    output_.error(std::string("--report: ") + failure.what());
    all_written_ = false;
  }
}

std::string TunePrinter::reason(const Entry& entry) const {
  if (!entry.printed.error.empty()) return entry.printed.error;
  return entry.ended ? "nothing was found" : "interrupted before it began";
}

Json TunePrinter::json_failure(std::size_t problem) const {
  const TuneJob& job = jobs_.request.jobs[problem];
  return {{"kernel", job.spec->name}, {"problem", job.size}, {"error", reason(entries_[problem])}};
}

/// \p results of the kernel of \p problem.
Json TunePrinter::document(std::size_t problem, bool interrupted, Json results) const {
  const TuneJob& job = jobs_.request.jobs[problem];
  Json all{{"tuner", kVersion}, {"kernel", job.spec->name}};
  if (jobs_.arguments.dry_run) {
    all["spaces"] = std::move(results);
    return all;
  }
  const Entry& entry = entries_[problem];
  const SessionOptions& session = job.tuning.session;
  all.update({{"file", job.spec->program.file},
              {"device", entry.ended ? entry.device : jobs_.request.devices.device},
              {"device_reason", jobs_.request.devices.reason},
              {"strategy", session.strategy},
              {"seed", session.seed},
              {"interrupted", interrupted},
              {"results", std::move(results)}});
  return all;
}

Json TunePrinter::json_results(bool interrupted) const {
  if (!jobs_.list.empty()) {
    Json list{{"tuner", kVersion}};
    if (!jobs_.arguments.what.missed) list["interrupted"] = interrupted;
    Json& each = list[jobs_.list] = Json::array();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Json& found = entries_[i].printed.document;
      each.push_back(found.is_null() ? json_failure(i) : document(i, interrupted, Json::array({found})));
    }
    return list;
  }
  Json results = Json::array(), failed = Json::array();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (const Json& found = entries_[i].printed.document; !found.is_null()) results.push_back(found);
    if (!entries_[i].printed.error.empty()) failed.push_back(json_failure(i));
  }
  Json kernel = document(0, interrupted, std::move(results));
  if (!failed.empty()) kernel["failed"] = std::move(failed);
  if (!prints_tables()) return kernel;
  for (const std::string& name : jobs_.arguments.sweep.by) kernel["by"][name] = best_by(sweeps(), name).json();
  return kernel;
}

std::vector<Sweep> TunePrinter::sweeps() const {
  std::vector<Sweep> all;
  for (const Entry& entry : entries_)
    if (entry.printed.sweep) all.push_back(*entry.printed.sweep);
  return all;
}

void TunePrinter::print_table(bool interrupted) {
  Table table({"#", "kernel", "problem", "best", "speed-up", "configuration"});
  std::size_t tuned = 0, known = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const PrintedResult& found = entries_[i].printed;
    const TuneJob& job = jobs_.request.jobs[i];
    const bool has = found.is_found();
    table.add({i + 1, job.spec->name, job.size.text(), has ? Cell::ns(found.median_ns) : Cell(),
               has ? Cell::right(against_default(found)) : Cell(),
               has || found.known ? found.configuration : first_line(reason(entries_[i]))});
    tuned += found.code == kDone;
    known += has && found.known;
  }
  if (!entries_.empty()) {
    if (!jobs_.arguments.json) output_.text('\n' + table.text(Style::of(stdout)));
    output_.line("problems  {} of {} done{}{}", tuned, entries_.size(),
                 known > 0 ? fmt::format(", {} of them known before", known) : "",
                 interrupted ? "; the same command continues from here" : "");
  }
  if (jobs_.misses > 0)
    output_.line("missed    {} of {} done{}", tuned, jobs_.misses,
                 tuned < jobs_.misses ? "; the others stay on the list (tune show --missed)" : "");
}

/// `--by` and `--csv`: the trials of all problems of a kernel.
void TunePrinter::print_sweeps() {
  const SweepRequest& asked = jobs_.arguments.sweep;
  const std::vector<Sweep> all = sweeps();
  const bool has_finalists = std::ranges::any_of(all, [](const Sweep& one) { return has_finalist(one.trials); });
  if (has_finalists && !asked.by.empty() && !jobs_.arguments.json)
    output_.line("times of the search, also of finalists:");
  for (const std::string& name : asked.by)
    if (!jobs_.arguments.json) output_.text(best_by(all, name).text(Style::of(stdout)) + '\n');
  if (!asked.csv.empty() && write_or_print(asked.csv, all.empty() ? "" : sweep_rows(all).csv()))
    output_.line("table     written to " + asked.csv.string());
}

TuneOutcome TunePrinter::finish(bool interrupted) {
  output_.end_status();
  TuneOutcome all;
  for (Entry& entry : entries_) {
    if (!entry.ended && interrupted) continue;
    if (!entry.ended) entry.printed.error = "not tuned: no device is left";
    all.code = std::max(all.code, entry.printed.code);
  }
  if (jobs_.arguments.json) all.document = json_results(interrupted);
  try {
    if (prints_tables()) how_ == Spread::together ? print_sweeps() : print_table(interrupted);
  } catch (const Error& failure) {  // the document is still printed
    output_.error(failure.what());
    all_written_ = false;
  }
  if (!all_written_ || (log_ && !log_->all_written()) || entries_.size() < jobs_.misses)
    all.code = std::max(all.code, kFailed);
  if (interrupted) all.code = kInterrupted;
  return all;
}

}  // namespace tuner::cli
