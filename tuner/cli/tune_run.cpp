#include <tuner/cli/tune_run.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/report_page.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/problem_spread.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/cli/tune_results.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

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
        console_(output.console()),
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
    {
      std::unique_lock lock(mutex_);
      begin_all(lock);
      for (std::size_t i = 0; i < threads_.size(); ++i) {  // a thread that ends may have begun others
        std::thread thread = std::move(threads_[i]);
        lock.unlock();
        thread.join();
        lock.lock();
      }
    }
    console_.end_status();
    if (report_) report_->finish();  // also after a failure: the page must not wait for more
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
      log_ = std::make_unique<TrialLog>(asked.log, console_);
    }
    if (!asked.sweep.csv.empty()) require_output(asked.sweep.csv, OutputKind::table, asked.force, "--csv");
    const Sweep nothing{subject_of(jobs_.all.front(), seats_.front()), {}, {}};
    for (const std::string& name : asked.sweep.by) best_by({nothing}, name);
    if (asked.report.empty()) return;
    require_output(asked.report, OutputKind::report, asked.force, "--report");
    seats_.front().open_wisdom(asked, console_);
    report_ = std::make_unique<LiveReport>(jobs_, seats_.front().device, *seats_.front().wisdom, console_);
  }

  void introduce_all() {
    if (all_work_together()) return introduce(jobs_.all.front(), jobs_.devices, console_);
    if (!side_by_side_) return;
    std::vector<std::size_t> all(spread_.devices());
    std::iota(all.begin(), all.end(), std::size_t{0});
    console_.line(fmt::format("device    {}, {}: {}", jobs_.devices.device.name,
                              jobs_.devices.device.environment.compiler, jobs_.devices.reason));
    console_.line(fmt::format("problems  {}, spread over {}", entries_.size(), names(all)));
    for (const TuneJob& job : jobs_.all)
      for (const std::string& note : job.notes) console_.line(note);
  }

  void introduce_one(const Share& share) {
    const TuneJob& job = jobs_.all[share.problem];
    if (all_work_together()) {
      if (!request().dry_run) console_.line("problem   " + job.size.text());
      return;
    }
    const std::string heading = fmt::format("problem   {} of {}: {}", share.problem + 1, entries_.size(), job.name());
    if (side_by_side_) return console_.line(heading + ", on " + names(share.devices));
    console_.line((counts_.begun > 1 ? "\n" : "") + heading);
    DeviceChoice devices = jobs_.devices;
    devices.more = job.request.tuning.more_devices;
    introduce(job, devices, console_);
  }

  /// With the lock held, as take_devices(), give_up(), lost_of(), conclude() and show_status().
  void begin_all(std::unique_lock<std::mutex>& lock) {
    while (!stop_ && !fatal_) {
      const std::optional<Share> share = spread_.next();
      if (!share) return;
      ++counts_.begun;
      ++counts_.running;
      take_devices(*share);
      introduce_one(*share);
      if (!side_by_side_) {
        lock.unlock();
        tune(*share);
        lock.lock();
        continue;
      }
      try {
        threads_.emplace_back([this, one = *share] {
          tune(one);
          std::unique_lock guard(mutex_);
          begin_all(guard);
        });
      } catch (const std::system_error& failure) {
        --counts_.running;
        entries_[share->problem].error = fmt::format("no thread can be started for it: {}", failure.what());
        spread_.done(*share);
        conclude(share->problem, {});
      }
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
    listener.report = report_.get();
    listener.tell_trial = [this] {
      if (!side_by_side_) return;
      const std::lock_guard lock(mutex_);
      ++counts_.trials;
      show_status();
    };
    TunedProblem& entry = entries_[share.problem];
    entry.device = &seat.device;
    std::string lost;
    try {
      entry.result = tune_(job, seat, listener);
    } catch (const DeviceLostError& failure) {
      if (all_work_together())
        fail(entry, failure);
      else
        lost = failure.what();
    } catch (const std::exception& failure) {
      fail(entry, failure);
    }
    const std::lock_guard lock(mutex_);
    --counts_.running;
    if (!lost.empty()) {
      if (give_up(share, lost)) return;
      entry.error = first_line(lost);
    } else {
      spread_.done(share, lost_of(share, entry.result));
    }
    conclude(share.problem, beside_others.kept());
  }

  /// A problem that fails does not end the others. But no other problem of the kernel can succeed without workers, a
  /// database or a compiler.
  void fail(TunedProblem& entry, const std::exception& failure) {
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
    console_.warning(taken ? fmt::format("{} {} not used any more: {}", names(share.devices),
                                         share.devices.size() == 1 ? "is" : "are", reason)
                           : fmt::format("{}: {}", names(share.devices), reason));
    console_.warning(name + (!again  ? ": not tuned, it lost its devices twice"
                             : taken ? ": tuned again on another device"
                                     : ": tuned again"));
    return again;
  }

  std::vector<std::size_t> lost_of(const Share& share, const ProblemResult& result) {
    std::vector<std::size_t> lost;
    if (result.lost.size() >= spread_.devices()) return lost;  // another problem may still run on the last one
    for (const std::size_t position : result.lost)
      if (position < share.devices.size()) lost.push_back(share.devices[position]);
    if (!lost.empty())
      console_.warning(fmt::format("{} {} not used any more", names(lost), lost.size() == 1 ? "is" : "are"));
    return lost;
  }

  void conclude(std::size_t problem, const std::string& text) {
    TunedProblem& entry = entries_[problem];
    entry.ended = true;
    ++counts_.ended;
    const std::string name = jobs_.all[problem].name();
    if (!entry.error.empty() && !fatal_) console_.error(name + ": " + entry.error);
    if (!side_by_side_) return;
    if (!text.empty()) output_.text(text);
    const ProblemResult& found = entry.result;
    std::string what = found.is_found() ? format_ns(found.median_ns) : "nothing was found";
    if (const std::string times = against_default(found); !times.empty())
      what += fmt::format(", {}x the default", times);
    if (found.known) what += ", known before";
    console_.line(fmt::format("done      {} of {}: {}, {}", counts_.ended, entries_.size(), name, what));
    show_status();
  }

  void show_status() {
    console_.status([this](std::size_t width) {
      const std::string text = fmt::format("{} of {} problems done, {} running, {}", counts_.ended, entries_.size(),
                                           counts_.running, plural(static_cast<std::int64_t>(counts_.trials), "trial"));
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

  void print_all() {
    if (all_work_together())
      print_sweeps(jobs_, entries_, output_);
    else
      print_table(jobs_, entries_, stop_, output_);
  }

  TuneOutcome outcome() {
    TuneOutcome all;
    for (TunedProblem& entry : entries_) {
      if (!entry.ended && stop_) continue;
      if (!entry.ended) entry.error = "not tuned: no device is left";
      all.code = std::max(all.code, entry.result.code);
    }
    if (request().json) all.document = json_results(jobs_, entries_, stop_);
    try {
      if (!request().dry_run) print_all();
    } catch (const Error& failure) {  // the document is still printed
      console_.error(failure.what());
      all.code = std::max(all.code, kFailed);
    }
    const bool all_written = (!log_ || log_->all_written()) && (!report_ || report_->all_written());
    if (!all_written || entries_.size() < jobs_.misses) all.code = std::max(all.code, kFailed);
    if (stop_) all.code = kInterrupted;
    return all;
  }

  TuneJobs jobs_;
  const std::atomic<bool>& stop_;
  Output& output_;
  Console& console_;
  const TuneProblem& tune_;
  std::unique_ptr<TrialLog> log_;
  std::unique_ptr<LiveReport> report_;

  std::mutex mutex_;  // guards the members below; not held while tuning
  std::vector<TunedProblem> entries_;
  const bool side_by_side_;
  ProblemSpread spread_;
  std::vector<Seat> seats_;  // of the devices; in use by one share at a time
  Counts counts_;
  std::vector<std::thread> threads_;
  std::exception_ptr fatal_;  // ends the command
};

}  // namespace

TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output, const TuneProblem& tune) {
  return TuneRun(std::move(jobs), stop, output, tune).run();
}

TuneOutcome tune_all(TuneJobs jobs, const std::atomic<bool>& stop, Output& output) {
  Console& console = output.console();
  return tune_all(std::move(jobs), stop, output, [&](const TuneJob& job, Seat& seat, TuneListener& listener) {
    if (!job.request.dry_run) seat.open_wisdom(job.request, console);
    ProblemResult result = tune_problem(job, seat, listener, stop);
    if (result.code == kDone && job.miss && !job.request.dry_run) cache::forget_miss(seat.wisdom->user(), *job.miss);
    return result;
  });
}

}  // namespace tuner::cli
