#include <tuner/cli/commands/tune_command.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <future>
#include <numeric>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/commands/report_page.hpp>
#include <tuner/cli/print/output_file.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/error.hpp>
#include <tuner/session/batch/problem_spread.hpp>
#include <tuner/version.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

std::vector<Sweep> sweeps_of(const std::vector<ProblemResult>& all) {
  std::vector<Sweep> sweeps;
  for (const ProblemResult& one : all)
    if (one.sweep) sweeps.push_back(*one.sweep);
  return sweeps;
}

std::string reason(const ProblemResult& one) {
  if (!one.error.empty()) return one.error;
  return one.ended ? "nothing was found" : "interrupted before it began";
}

Json json_failure(const TuneJob& job, const ProblemResult& one) {
  return {{"kernel", job.spec->name}, {"problem", job.size}, {"error", reason(one)}};
}

/// \p results of the kernel of \p job.
Json document(const TuneJob& job, const ProblemResult& one, const DeviceChoice& devices, bool interrupted,
              Json results) {
  Json all{{"tuner", kVersion}, {"kernel", job.spec->name}};
  if (job.request.dry_run) {
    all["spaces"] = std::move(results);
    return all;
  }
  const SessionOptions& session = job.request.tuning.session;
  all.update({{"file", job.spec->program.file},
              {"device", one.device ? *one.device : devices.device},
              {"device_reason", devices.reason},
              {"strategy", session.strategy},
              {"seed", session.seed},
              {"interrupted", interrupted},
              {"results", std::move(results)}});
  return all;
}

/// The speed-up over the kernel's default configuration; empty if that was not measured.
std::string against_default(const ProblemResult& result) {
  return result.default_ns && result.is_found() ? fmt::format("{:.2f}", *result.default_ns / result.median_ns) : "";
}

void print_table(const TuneJobs& jobs, const std::vector<ProblemResult>& all, bool interrupted, Output& output) {
  Table table({"#", "kernel", "problem", "best", "speed-up", "configuration"});
  std::size_t tuned = 0, known = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ProblemResult& found = all[i];
    const bool has = found.is_found();
    table.add({i + 1, jobs.all[i].spec->name, jobs.all[i].size.text(), has ? Cell::ns(found.median_ns) : Cell(),
               has ? Cell::right(against_default(found)) : Cell(),
               has ? found.configuration : first_line(reason(all[i]))});
    tuned += found.code == kDone;
    known += found.known;
  }
  if (!all.empty()) {
    if (!jobs.request.json) output.text('\n' + table.text(Style::of(stdout)));
    output.line("problems  {} of {} done{}{}", tuned, all.size(),
                known > 0 ? fmt::format(", {} of them known before", known) : "",
                interrupted ? "; the same command continues from here" : "");
  }
  if (jobs.misses > 0)
    output.line("missed    {} of {} done{}", tuned, jobs.misses,
                tuned < jobs.misses ? "; the others stay on the list (tune show --missed)" : "");
}

/// `--by` and `--csv`: the trials of all problems of a kernel.
void print_sweeps(const TuneJobs& jobs, const std::vector<ProblemResult>& all, Output& output) {
  const SweepRequest& asked = jobs.request.sweep;
  const std::vector<Sweep> sweeps = sweeps_of(all);
  for (const std::string& name : asked.by)
    if (!jobs.request.json) output.text(best_by(sweeps, name).text(Style::of(stdout)) + '\n');
  if (!asked.csv.empty() && write_or_print(asked.csv, sweeps.empty() ? "" : sweep_rows(sweeps).csv()))
    output.line("table     written to " + asked.csv.string());
}

Json json_results(const TuneJobs& jobs, const std::vector<ProblemResult>& all, bool interrupted) {
  if (!jobs.list.empty()) {
    Json list{{"tuner", kVersion}};
    if (!jobs.request.what.missed) list["interrupted"] = interrupted;
    Json& each = list[jobs.list] = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Json& found = all[i].document;
      each.push_back(found.is_null() ? json_failure(jobs.all[i], all[i])
                                     : document(jobs.all[i], all[i], jobs.devices, interrupted, Json::array({found})));
    }
    return list;
  }
  Json results = Json::array(), failed = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const Json& found = all[i].document; !found.is_null()) results.push_back(found);
    if (!all[i].error.empty()) failed.push_back(json_failure(jobs.all[i], all[i]));
  }
  Json kernel = document(jobs.all.front(), all.front(), jobs.devices, interrupted, std::move(results));
  if (!failed.empty()) kernel["failed"] = std::move(failed);
  if (jobs.request.dry_run) return kernel;
  const std::vector<Sweep> sweeps = sweeps_of(all);
  for (const std::string& name : jobs.request.sweep.by) kernel["by"][name] = best_by(sweeps, name).json();
  return kernel;
}

using Share = ProblemSpread::Share;

/// Output about one kernel while it is tuned, or about all its problems together, has one writer.
bool has_one_writer(const TuneRequest& request) {
  return request.dry_run || !request.report.empty() || request.sweep.needs_trials() || !request.tuning.hosts.empty();
}

class TuneRun {
 public:
  TuneRun(TuneJobs jobs, const std::atomic<bool>& stop, Output& output, const TuneProblem& tune)
      : jobs_(std::move(jobs)),
        stop_(stop),
        output_(output),
        tune_(tune),
        entries_(jobs_.all.size()),
        side_by_side_(entries_.size() > 1 && !jobs_.devices.more.empty() && !has_one_writer(jobs_.request)),
        spread_(most_devices(), all_work_together() ? 1 : 1 + jobs_.devices.more.size()) {
    for (std::size_t i = 0; i < spread_.devices(); ++i) {
      seats_.push_back({jobs_.devices.device, !all_work_together()});
      seats_.back().device.index = ordinal(i);
    }
  }

  TuneOutcome run() {
    if (!entries_.empty() && !request().dry_run) open_outputs();
    introduce_all();
    std::vector<std::future<void>> others;
    const std::size_t devices = spread_.devices();  // the threads change it
    for (std::size_t i = 1; side_by_side_ && i < devices; ++i)
      others.push_back(std::async(kOnAThread, [this] { work(); }));
    work();
    for (std::future<void>& one : others) one.get();
    output_.end_status();
    if (fatal_) std::rethrow_exception(fatal_);
    return outcome();
  }

 private:
  /// The numbers of problems, and of trials that have ended.
  struct Counts {
    std::size_t begun = 0, running = 0, ended = 0, trials = 0;
  };

  const TuneRequest& request() const { return jobs_.request; }
  bool is_one_kernel() const { return jobs_.list.empty(); }
  /// Whether all devices work on one problem at a time, as if they were one.
  bool all_work_together() const { return is_one_kernel() && !side_by_side_; }
  int ordinal(std::size_t device) const {
    return device == 0 ? jobs_.devices.device.index : jobs_.devices.more[device - 1];
  }

  std::vector<std::size_t> most_devices() const {
    std::vector<std::size_t> most;
    for (const TuneJob& job : jobs_.all)
      most.push_back(job.request.tuning.isolation == Isolation::process ? 1 + jobs_.devices.more.size() : 1);
    return most;
  }

  /// Throws for what cannot be written before anything is measured.
  void open_outputs() {
    const TuneRequest& asked = request();
    if (!asked.database.empty()) require_database(asked.database, "--db");
    if (!asked.log.empty()) {
      require_output(asked.log, OutputKind::trial_log, asked.force, "--log");
      log_ = std::make_unique<TrialLog>(asked.log, output_);
    }
    if (!asked.sweep.csv.empty()) require_output(asked.sweep.csv, OutputKind::table, asked.force, "--csv");
    const Sweep nothing{subject_of(jobs_.all.front(), seats_.front()), {}, {}};
    for (const std::string& name : asked.sweep.by) best_by({nothing}, name);
    if (!asked.report.empty()) require_output(asked.report, OutputKind::report, asked.force, "--report");
  }

  void introduce_all() {
    if (all_work_together()) return introduce(jobs_.all.front(), jobs_.devices, output_);
    if (!side_by_side_) return;
    std::vector<std::size_t> all(spread_.devices());
    std::iota(all.begin(), all.end(), std::size_t{0});
    output_.line("device    {}, {}: {}", jobs_.devices.device.name, jobs_.devices.device.environment.compiler,
                 jobs_.devices.reason);
    output_.line("problems  {}, spread over {}", entries_.size(), names(all));
    for (const TuneJob& job : jobs_.all)
      for (const std::string& note : job.notes) output_.line(note);
  }

  void introduce_one(const Share& share) {
    const TuneJob& job = jobs_.all[share.problem];
    if (all_work_together()) {
      if (!request().dry_run) output_.line("problem   " + job.size.text());
      return;
    }
    const std::string heading = fmt::format("problem   {} of {}: {}", share.problem + 1, entries_.size(), job.name());
    if (side_by_side_) return output_.line(heading + ", on " + names(share.devices));
    output_.line((counts_.begun > 1 ? "\n" : "") + heading);
    DeviceChoice devices = jobs_.devices;
    devices.more = job.request.tuning.more_devices;
    introduce(job, devices, output_);
  }

  /// Tunes problems until there are none. Runs on a thread for each device when they are tuned side by side. Holds the
  /// lock except while tuning, as take_devices(), give_up(), lost_of(), conclude() and show_status() need.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const std::optional<Share> share = stop_ || fatal_ ? std::nullopt : spread_.next();
      if (!share && counts_.running == 0) return;
      if (!share) {  // a problem that runs may come back, or its devices be free for another
        changed_.wait(lock);
        continue;
      }
      ++counts_.begun;
      ++counts_.running;
      take_devices(*share);
      introduce_one(*share);
      lock.unlock();
      tune(*share);
      lock.lock();
      changed_.notify_all();
    }
  }

  void take_devices(const Share& share) {
    TuningOptions& tuning = jobs_.all[share.problem].request.tuning;
    tuning.more_devices = jobs_.devices.more;
    if (all_work_together()) return;
    tuning.more_devices.clear();
    for (std::size_t i = 1; i < share.devices.size(); ++i) tuning.more_devices.push_back(ordinal(share.devices[i]));
    if (!side_by_side_) return;
    const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    tuning.compile_workers = std::min<std::size_t>(spread_.part(share, cores), 64);
  }

  void tune(const Share& share) {
    const TuneJob& job = jobs_.all[share.problem];
    Seat& seat = seats_[share.devices.front()];
    Output beside_others(output_, job.name());
    TuneListener listener(side_by_side_ ? beside_others : output_);
    listener.verbose = request().verbose;
    listener.log = log_.get();
    if (side_by_side_)
      listener.tell_trial = [this] {
        const std::lock_guard lock(mutex_);
        ++counts_.trials;
        show_status();
      };
    ProblemResult& entry = entries_[share.problem];
    std::string lost;
    try {
      entry = tune_(job, seat, listener);
    } catch (const DeviceLostError& failure) {
      if (all_work_together())
        fail(entry, failure);
      else
        lost = failure.what();
    } catch (const std::exception& failure) {
      fail(entry, failure);
    }
    entry.device = &seat.device;
    const std::lock_guard lock(mutex_);
    --counts_.running;
    if (!lost.empty()) {
      if (give_up(share, lost)) return;
      entry.error = first_line(lost);
    } else {
      spread_.done(share, lost_of(share, entry));
    }
    conclude(share.problem, beside_others.kept());
  }

  /// A problem that fails does not end the others. But no other problem of the kernel can succeed without workers, a
  /// database or a compiler.
  void fail(ProblemResult& entry, const std::exception& failure) {
    entry.error = failure.what();
    if (!all_work_together()) return;
    const auto* const error = dynamic_cast<const Error*>(&failure);
    if (entries_.size() == 1 || !error || dynamic_cast<const WorkerError*>(error) ||
        error->code() == ErrorCode::cache || jobs_.devices.device.environment.compiler == "none")
      fatal_ = std::current_exception();
  }

  /// Handles a share whose devices cannot be used any more. Returns whether its problem is tuned again.
  bool give_up(const Share& share, const std::string& reason) {
    seats_[share.devices.front()].backend.reset();
    const std::string name = jobs_.all[share.problem].name();
    const std::size_t before = spread_.devices();
    const bool again = spread_.lost(share), taken = spread_.devices() < before;
    output_.warning(taken ? fmt::format("{} {} not used any more: {}", names(share.devices),
                                        share.devices.size() == 1 ? "is" : "are", reason)
                          : fmt::format("{}: {}", names(share.devices), reason));
    output_.warning(name + (!again  ? ": not tuned, it lost its devices twice"
                            : taken ? ": tuned again on another device"
                                    : ": tuned again"));
    return again;
  }

  std::vector<std::size_t> lost_of(const Share& share, const ProblemResult& result) {
    std::vector<std::size_t> lost;
    if (result.lost.size() >= spread_.devices()) return lost;  // another problem may still run on the last one
    for (const std::size_t position : result.lost)
      if (position < share.devices.size()) lost.push_back(share.devices[position]);
    if (!lost.empty()) output_.warning("{} {} not used any more", names(lost), lost.size() == 1 ? "is" : "are");
    return lost;
  }

  void conclude(std::size_t problem, const std::string& text) {
    ProblemResult& entry = entries_[problem];
    entry.ended = true;
    ++counts_.ended;
    const std::string name = jobs_.all[problem].name();
    if (!entry.error.empty() && !fatal_) output_.error(name + ": " + entry.error);
    if (!side_by_side_) return;
    if (!text.empty()) output_.text(text);
    std::string what = entry.is_found() ? format_ns(entry.median_ns) : "nothing was found";
    if (const std::string times = against_default(entry); !times.empty())
      what += fmt::format(", {}x the default", times);
    if (entry.known) what += ", known before";
    output_.line("done      {} of {}: {}, {}", counts_.ended, entries_.size(), name, what);
    show_status();
  }

  void show_status() {
    output_.status([this](std::size_t width) {
      const std::string text = fmt::format("{} of {} problems done, {} running, {}", counts_.ended, entries_.size(),
                                           counts_.running, plural(counts_.trials, "trial"));
      return text.substr(0, width);
    });
  }

  std::string names(const std::vector<std::size_t>& devices) const {
    const bool gpus = traits(jobs_.devices.device.key).is_gpu;
    std::string text = fmt::format("{}{} ", gpus ? "GPU" : "host", gpus && devices.size() > 1 ? "s" : "");
    const char* between = "";
    for (const std::size_t one : devices) text += fmt::format("{}{}", std::exchange(between, ", "), ordinal(one));
    return text;
  }

  TuneOutcome outcome() {
    TuneOutcome all;
    for (ProblemResult& entry : entries_) {
      if (!entry.ended && stop_) continue;
      if (!entry.ended) entry.error = "not tuned: no device is left";
      all.code = std::max(all.code, entry.code);
    }
    if (request().json) all.document = json_results(jobs_, entries_, stop_);
    try {
      if (!request().dry_run && all_work_together()) print_sweeps(jobs_, entries_, output_);
      if (!request().dry_run && !all_work_together()) print_table(jobs_, entries_, stop_, output_);
      if (!request().dry_run && !request().report.empty() && seats_.front().wisdom)
        write_report(jobs_, seats_.front().device, *seats_.front().wisdom);
    } catch (const Error& failure) {  // the document is still printed
      output_.error(failure.what());
      all.code = std::max(all.code, kFailed);
    }
    if ((log_ && !log_->all_written()) || entries_.size() < jobs_.misses) all.code = std::max(all.code, kFailed);
    if (stop_) all.code = kInterrupted;
    return all;
  }

  TuneJobs jobs_;
  const std::atomic<bool>& stop_;
  Output& output_;
  const TuneProblem& tune_;
  std::unique_ptr<TrialLog> log_;

  std::mutex mutex_;  // guards the members below; not held while tuning
  std::vector<ProblemResult> entries_;
  const bool side_by_side_;
  ProblemSpread spread_;
  std::vector<Seat> seats_;  // of the devices; in use by one share at a time
  Counts counts_;
  std::condition_variable changed_;
  std::exception_ptr fatal_;  // ends the command
};

}  // namespace

TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output, const TuneProblem& tune) {
  return TuneRun(std::move(jobs), stop, output, tune).run();
}

TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output) {
  return tune_all(std::move(jobs), stop, output, [&](const TuneJob& job, Seat& seat, TuneListener& listener) {
    if (!job.request.dry_run) seat.open_wisdom(job.request, output);
    ProblemResult result = tune_problem(job, seat, listener, stop);
    if (result.code == kDone && job.miss && !job.request.dry_run) cache::forget_miss(seat.wisdom->user(), *job.miss);
    return result;
  });
}

}  // namespace tuner::cli
