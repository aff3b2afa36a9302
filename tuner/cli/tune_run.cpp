#include <tuner/cli/tune_run.hpp>

#include <memory>
#include <optional>

#include <fmt/format.h>

#include <cache/exchange.hpp>
#include <cache/session.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/dry_run.hpp>
#include <tuner/cli/interrupt.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/live_report.hpp>
#include <tuner/cli/output_file.hpp>
#include <tuner/cli/progress.hpp>
#include <tuner/cli/report.hpp>
#include <tuner/cli/stored_results.hpp>
#include <tuner/cli/sweep.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/measure/recorded_launch.hpp>
#include <tuner/measure/throughput.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/records.hpp>
#include <tuner/version.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

KernelSpec part_of(KernelSpec spec, const SweepRequest& sweep) {
  return sweep.is_part() ? sub_space(spec, sweep.fix, sweep.vary) : std::move(spec);
}

Json json_impossible(const Sweep& sweep) {
  Json list = Json::array();
  for (const Impossible& one : sweep.impossible)
    list.push_back({{"configuration_text", one.configuration.text()}, {"reason", one.reason}});
  return list;
}

/// The recording that \p request names, or null. Its data become part of \p request.
std::shared_ptr<const Recording> read_requested_recording(TuneRequest& request) {
  if (request.recording.empty()) return nullptr;
  auto recording = std::make_shared<const Recording>(read_recording(request.recording));
  request.tuning.measure.recorded = recording->data;
  return recording;
}

/// One invocation.
class TuneRun {
 public:
  TuneRun(TuneJob job, const std::atomic<bool>& stop, TuneEvents& events, Seat* seat)
      : request_(std::move(job.request)),
        stop_(stop),
        events_(events),
        console_(events.console()),
        out_style_(Style::of(stdout)),
        recording_(std::move(job.recording)),
        shared_spec_(std::move(job.spec)),
        spec_(*shared_spec_),
        choice_(std::move(job.devices)),
        problems_(std::move(job.problems)),
        is_share_(seat != nullptr),
        seat_(seat ? *seat : own_seat_) {
    if (seat_.measured) choice_.device = *seat_.measured;
    if (unknown_headers() != nullptr) request_.tuning.resume = request_.tuning.learn_from_elsewhere = false;
  }

  int run() {
    introduce();
    if (request_.dry_run) return dry_run();
    if (!request_.database.empty()) require_database(request_.database, "--db");
    if (!request_.log.empty()) {
      require_output(request_.log, OutputKind::trial_log, request_.force, "--log");
      log_ = std::make_unique<TrialLog>(request_.log, console_);
    }
    open_wisdom();
    if (!request_.sweep.csv.empty()) require_output(request_.sweep.csv, OutputKind::table, request_.force, "--csv");
    for (const std::string& name : request_.sweep.by) best_by({{subject(problems_.list.front()), {}, {}}}, name);
    if (!request_.report.empty()) {
      require_output(request_.report, OutputKind::report, request_.force, "--report");
      report_ = std::make_unique<LiveReport>(request_.report, wisdom(), request_.tuning, console_);
    }
    try {
      const int code = tune_all();
      finish_report();
      return report_ && !report_->all_written() ? std::max(code, kFailed) : code;
    } catch (...) {
      finish_report();  // the page must not wait for more
      throw;
    }
  }

 private:
  int tune_all() {
    Json results = Json::array();
    int code = kDone;
    for (const ProblemSize& size : problems_.list) {
      if (stop_) break;
      code = std::max(code, tune_or_tell(size, results));
    }
    if (request_.json) events_.on_document(document(std::move(results)));
    show_sweeps();
    if (log_ && !log_->all_written()) code = kFailed;
    return stop_ ? kInterrupted : code;
  }

  /// One problem that cannot be tuned does not end the others.
  int tune_or_tell(const ProblemSize& size, Json& results) {
    if (problems_.list.size() == 1) return tune(size, results);
    try {
      return tune(size, results);
    } catch (const WorkerError&) {  // the others would fail too
      throw;
    } catch (const Error& failure) {
      if (fails_for_all_ || failure.code() == ErrorCode::cache) throw;
      console_.error(fmt::format("{}: {}", size.text(), failure.what()));
      failed_.push_back({{"kernel", spec_.name}, {"problem", to_json(size)}, {"error", failure.what()}});
      return kFailed;
    }
  }

  void finish_report() {
    if (report_) report_->finish(spec_, choice_.device, problems_.list);
  }

  void open_wisdom() {
    if (seat_.wisdom) return;
    WisdomOptions options;
    options.database = request_.database;
    Console& console = seat_.console ? *seat_.console : console_;  // which lives as long
    options.warn = [&console](std::string_view text) { console.warning(text); };
    seat_.wisdom = std::make_unique<Wisdom>(options);
  }

  Wisdom& wisdom() const { return *seat_.wisdom; }

  Subject subject(const ProblemSize& size) const {
    const Objective& objective = request_.tuning.session.objective;
    std::vector<std::string> metrics = expand_metrics(request_.tuning.measure.metrics);
    std::erase(metrics, objective.metric());  // it has its own column
    return {&spec_,
            &size,
            &choice_.device,
            objective,
            std::move(metrics),
            request_.trade_off,
            request_.tuning.measure.verify,
            weaker_reference(spec_, request_.tuning.measure.recorded)};
  }

  void introduce() {
    console_.line(fmt::format("kernel    {} ({})", spec_.name, spec_.file));
    console_.line(fmt::format("device    {}, {}: {}{}", choice_.device.name, choice_.device.environment.compiler,
                              choice_.reason, lanes_text()));
    if (recording_) introduce_recording();
    if (const std::string* const why = unknown_headers())
      console_.line("note      earlier results are not used: " + *why);
    if (problems_.may_be_one) console_.line(kSizesOfOneProblem);
    if (problems_.shrunk)
      console_.line("size      smaller than the kernel's default, as the host is slow; --size chooses");
  }

  std::string lanes_text() const {
    const std::size_t hosts = request_.tuning.hosts.size();
    if (hosts > 0)
      return fmt::format("; {} of other ranks share the work", plural(static_cast<std::int64_t>(hosts), "device"));
    if (choice_.more.empty()) return {};
    std::string numbers = std::to_string(choice_.device.index);
    for (const int one : choice_.more) numbers += fmt::format(", {}", one);
    return fmt::format("; {} share the work", numbers);
  }

  void introduce_recording() {
    console_.line(
        fmt::format("recording {}, launched {}on {}", request_.recording.string(),
                    recording_->configuration ? fmt::format("with {} ", recording_->configuration->text()) : "",
                    recording_->device_name));
    if (answers(spec_, request_.tuning.measure.recorded))
      console_.line("note      the kernel has no reference: right is what the recorded launch left");
    if (recording_->device_key != choice_.device.key.text())
      console_.line(
          fmt::format("note      this is not the device of the recording: calls on {} are not served with this",
                      recording_->device_name));
  }

  int dry_run() {
    const auto& limit = request_.tuning.session.budget.wall_time;
    const StopHook stop = [&limit, start = Clock::now()] { return limit && seconds_since(start) >= limit->count(); };
    Json spaces = Json::array();
    for (const ProblemSize& size : problems_.list) {
      if (request_.json)
        spaces.push_back(json_space(spec_, size, choice_.device, stop));
      else
        events_.on_text(space_text(spec_, size, choice_.device, stop));
    }
    if (request_.json)
      events_.on_document({{"tuner", kVersion}, {"kernel", spec_.name}, {"spaces", std::move(spaces)}});
    return kDone;
  }

  int tune(const ProblemSize& size, Json& results) {
    console_.line("problem   " + size.text());
    // A stored result has no metrics.
    const bool asked = request_.force || unknown_headers() != nullptr || recording_ || needs_trials() ||
                       request_.tuning.measure.cold == false || !request_.tuning.measure.verify ||
                       !request_.tuning.measure.metrics.empty() || was_interrupted(size);
    if (!asked) {
      const cache::WisdomMatch match = wisdom().lookup(spec_, size, choice_.device, request_.tuning.session.objective);
      if (match.tier == cache::Tier::exact) return answer(size, match, results);
      if (match && !wisdom().frozen())
        console_.line(fmt::format("cache     nothing for exactly this ({}); tuning", match.reason));
    }
    fails_for_all_ = true;
    wisdom().require_not_frozen("tune");
    require_compiler();
    fails_for_all_ = false;
    measure_ceilings_once();
    return report(size, measure(size), results);
  }

  int answer(const ProblemSize& size, const cache::WisdomMatch& match, Json& results) {
    take_ceilings(choice_.device, match.best->device);
    const Throughput rate = throughput(spec_, size, choice_.device, match.best->median_ns);
    if (rate.bytes_per_second && !rate.ceiling_rate) measure_ceilings_once();
    Subject what = subject(size);
    events_.on_result({match.best->configuration, match.best->median_ns, std::nullopt, true, {}});
    if (!match.shipped) what.reference = reference_of(wisdom().user(), *match.best);
    if (request_.json)
      results.push_back(json_known_answer(what, match));
    else
      events_.on_text(known_answer(what, match, out_style_));
    return kDone;
  }

  SessionResult measure(const ProblemSize& size) {
    TuningOptions options = request_.tuning;
    set_default_budget(options.session.budget);
    options.session.stop = &stop_;
    options.more_devices = choice_.more;
    ProgressObserver progress(console_);
    progress.set_verbose(request_.verbose);
    std::vector<Observer*> all{&progress, &events_};
    if (log_) all.push_back(log_.get());
    if (report_) all.push_back(report_.get());
    Observers observers(std::move(all));
    // One context for all problems: opening it takes longer than many a problem.
    if (options.isolation == Isolation::none && !seat_.backend) seat_.backend = open_backend(choice_.device);
    SessionResult result;
    try {
      result = tune_kernel(spec_, size, choice_.device, wisdom(), options, &observers, seat_.backend.get());
    } catch (const Error&) {
      if (progress.trials() > 0) console_.warning(what_is_kept());
      throw;
    }
    console_.end_status();
    if (is_share_ && result.stop_reason == StopReason::device_lost)
      throw DeviceLostError("the device cannot be used any more: a kernel left it in an unknown state");
    return result;
  }

  void note(const SessionResult& result) {
    ProblemResult line;
    if (result.best) {
      line.configuration = result.best->configuration.text();
      line.median_ns = result.best->measurement()->median_ns;
    }
    for (const Trial& trial : result.trials)  // the latest counts
      if (trial.configuration == spec_.default_configuration && trial.measurement())
        line.default_ns = trial.measurement()->median_ns;
    for (std::size_t i = 0; i < result.lanes.size(); ++i)
      if (result.lanes[i].unusable) line.lost.push_back(i);
    events_.on_result(std::move(line));
  }

  int report(const ProblemSize& size, const SessionResult& result, Json& results) {
    const Subject what = subject(size);
    note(result);
    if (needs_trials()) sweeps_.push_back({what, result.trials, {}});
    if (request_.sweep.is_part())
      sweeps_.back().impossible = impossible_configurations(spec_, size, choice_.device.limits);
    if (request_.json) {
      results.push_back(json_result(what, result, database_text()));
      if (request_.sweep.is_part()) results.back()["impossible"] = json_impossible(sweeps_.back());
    } else {
      if (!request_.quiet) events_.on_text('\n' + table(what, result) + '\n');
      if (!request_.quiet) events_.on_text(failure_summary(result.trials, out_style_));
      if (const std::string text = front(what, result.trials); !text.empty()) events_.on_text(text + "\n");
      if (result.best) events_.on_text(winner(what, result, database_text(), out_style_));
      if (request_.sweep.is_part())
        console_.line("note      this was part of the space: what calls are served with stays as it was");
    }
    if (stop_) console_.line("interrupted: " + what_is_kept());
    if (result.best) return require_stored();
    if (stop_) return kDone;
    console_.error(no_winner(what, result));
    return kFailed;
  }

  std::string what_is_kept() const {
    if (wisdom().user().is_in_memory()) return "what was measured is not kept, as it could not be stored";
    if (unknown_headers() != nullptr) return "what was measured is kept";
    return fmt::format("what was measured is kept; the same command continues from here{}",
                       request_.force ? " without --force" : "");
  }

  /// Whether trials are asked for, and not only the best configuration.
  bool needs_trials() const {
    return request_.sweep.is_part() || !request_.sweep.csv.empty() || !request_.sweep.by.empty();
  }

  std::string table(const Subject& what, const SessionResult& result) const {
    if (request_.sweep.is_part()) return sweep_table(sweeps_.back(), out_style_, request_.sweep.rows);
    if (request_.sweep.all_rows()) return sweep_table({what, result.trials, {}}, out_style_, request_.sweep.rows);
    return best_table(what, result.trials, out_style_, request_.sweep.rows);
  }

  /// Prints what concerns all problems together.
  void show_sweeps() {
    for (const std::string& name : request_.sweep.by)
      if (!request_.json) events_.on_text(by_table(best_by(sweeps_, name), name, out_style_) + '\n');
    if (request_.sweep.csv.empty()) return;
    if (write_or_print(request_.sweep.csv, sweep_csv(sweeps_)))
      console_.line("table     written to " + request_.sweep.csv.string());
  }

  /// Success means that the next run finds the result.
  int require_stored() {
    if (!wisdom().user().is_in_memory()) return kDone;
    console_.error("the result is not stored, see the warning above");
    return kFailed;
  }

  /// Why earlier results may be of another kernel; null if they cannot be.
  const std::string* unknown_headers() const {
    for (const auto& includes : {spec_.includes, spec_.reference_includes})
      if (includes && includes->unknown) return &*includes->unknown;
    return nullptr;
  }

  /// Whether the last session of exactly this problem was cut short. This run then continues it.
  bool was_interrupted(const ProblemSize& size) {
    const cache::SessionKey key{context_of(spec_, size, choice_.device, request_.tuning.session.objective),
                                conditions_text(request_.tuning, spec_)};
    const auto last = cache::last_session(wisdom().user(), key);
    return last && !last->finished_ms && last->trials > 0;
  }

  void set_default_budget(Budget& budget) {
    if (request_.sweep.is_part()) return;
    if (budget.wall_time || budget.trials || budget.fraction || budget.target || budget.until_unlikely) return;
    const int seconds = traits(choice_.device.key).is_gpu ? 60 : 30;
    budget.wall_time = std::chrono::seconds(seconds);
    console_.line(fmt::format("budget    {} s (--budget or --trials chooses)", seconds));
  }

  /// One clear message instead of as many failed trials.
  void require_compiler() const {
    if (choice_.device.environment.compiler != "none") return;
    throw Error("the host backend needs a C++ compiler and found none: install g++ or clang++, or set CXX to one");
  }

  /// A failure is only a warning: rates are then shown without their fraction of the ceiling.
  void measure_ceilings_once() {
    if (seat_.measured) return;
    try {
      measure_ceilings(choice_.device);
    } catch (const Error& error) {
      console_.warning(fmt::format("how fast this device streams could not be measured: {}", error.what()));
    }
    seat_.measured = choice_.device;
  }

  std::string database_text() const {
    const cache::Database& user = wisdom().user();
    return user.is_in_memory() ? "memory only (see the warning above)" : user.path().string();
  }

  Json document(Json results) const {
    Json document{{"tuner", kVersion},
                  {"kernel", spec_.name},
                  {"file", spec_.file},
                  {"device", to_json(choice_.device)},
                  {"device_reason", choice_.reason},
                  {"strategy", request_.tuning.session.strategy},
                  {"seed", request_.tuning.session.seed},
                  {"interrupted", stop_.load()},
                  {"results", std::move(results)}};
    if (!failed_.empty()) document["failed"] = failed_;
    for (const std::string& name : request_.sweep.by) document["by"][name] = json_by(best_by(sweeps_, name));
    return document;
  }

  TuneRequest request_;
  const std::atomic<bool>& stop_;
  TuneEvents& events_;
  Console& console_;
  Style out_style_;
  std::shared_ptr<const Recording> recording_;
  std::shared_ptr<const KernelSpec> shared_spec_;
  const KernelSpec& spec_;
  DeviceChoice choice_;
  Problems problems_;
  const bool is_share_;
  Seat own_seat_;
  Seat& seat_;
  std::unique_ptr<TrialLog> log_;
  std::vector<Sweep> sweeps_;  // of the problems so far, where their trials are asked for
  std::unique_ptr<LiveReport> report_;
  Json failed_ = Json::array();  // of several problems
  bool fails_for_all_ = false;
};

}  // namespace

TuneJob read_job(TuneRequest request, std::optional<DeviceChoice> devices) {
  TuneJob job;
  job.recording = read_requested_recording(request);
  job.spec = std::make_shared<const KernelSpec>(
      part_of(job.recording ? job.recording->spec : find_kernel(request.kernel), request.sweep));
  job.devices = devices ? std::move(*devices) : choose_alike(request.device);
  job.problems = job.recording ? Problems{{job.recording->size}}
                               : select_problems(*job.spec, request.problems, job.devices.device);
  job.request = std::move(request);
  return job;
}

int run_job(TuneJob job, const std::atomic<bool>& stop, TuneEvents& events, Seat* seat) {
  return TuneRun(std::move(job), stop, events, seat).run();
}

}  // namespace tuner::cli
