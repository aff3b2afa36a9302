#include <tuner/cli/commands/tune_command.hpp>

#include <fmt/ranges.h>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/print/metrics.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/throughput.hpp>
#include <tuner/session/batch/stored_answer.hpp>
#include <tuner/session/wisdom/records.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

/// The space that a tuning would search: parameters, constraints, the number of combinations and of valid ones. \p stop
/// ends the count of valid ones; the answer then tells how far it got.
Answer space(const KernelSpec& spec, const ProblemSize& size, const Device& device, const StopHook& stop) {
  Table parameters({named("parameter", "name"), people("count"), "values"});
  for (const TuningParameter& one : spec.space.parameters())
    parameters.add({one.name, one.values.size(), Cell(one.values, listed(texts_of(one.values)))});
  Table constraints({named("constraint", "name"), named("holds when", "predicate")});
  for (const Constraint& one : spec.space.constraints()) constraints.add({one.name, one.predicate.text()});
  Answer answer;
  answer.text("{}  {}  on {}\n\n", spec.name, size.text(), device.name)
      .data("problem", size)
      .data("device", device.key.text())
      .rows("parameters", parameters)
      .data("constraints", constraints.json())
      .data("product", spec.space.product());
  constraints.add({"(device)", "block, grid and shared memory fit the device's limits"});
  answer.text("\n{}\n{} combinations, ", constraints.text(), format_count(spec.space.product()));

  const auto start = Clock::now();
  const auto time = [&start] { return format_ns(seconds_since(start) * 1e9); };
  try {
    const EnumeratedSpace space = enumerate(spec, size, device.limits, stop);
    const SpaceCount valid = space.count();
    answer.data("valid", space.size())
        .data("valid_is", count_word(valid.kind))
        .text("{} valid ({} in {})\n", format_count(valid), space.is_open() ? "estimated" : "enumerated", time());
  } catch (const EnumerationStopped& stopped) {
    answer.data("valid", nullptr)
        .data("stopped", stopped.what())
        .text("not all looked at: {} (stopped after {})\n", stopped.what(), time());
  }
  return answer;
}

Json json_impossible(const Sweep& sweep) {
  Json list = Json::array();
  for (const Impossible& one : sweep.impossible)
    list.push_back({{"configuration_text", one.configuration.text()}, {"reason", one.reason}});
  return list;
}

std::string lanes_text(const TuneJob& job, const DeviceChoice& devices) {
  const std::size_t hosts = job.request.tuning.hosts.size();
  if (hosts > 0) return fmt::format("; {} of other ranks share the work", plural(hosts, "device"));
  if (devices.more.empty()) return {};
  return fmt::format("; {}, {} share the work", devices.device.index, fmt::join(devices.more, ", "));
}

class ProblemTuning {
 public:
  ProblemTuning(const TuneJob& job, Seat& seat, TuneListener& listener, const std::atomic<bool>& stop)
      : job_(job),
        request_(job.request),
        spec_(*job.spec),
        seat_(seat),
        listener_(listener),
        output_(listener.output),
        stop_(stop),
        out_style_(Style::of(stdout)) {}

  ProblemResult run() {
    if (request_.dry_run) return dry_run();
    const TuningOptions options = tuning_options();
    const StoredAnswer known = stored_answer(wisdom(), spec_, job_.size, seat_.device, options);
    if (known.is_answer) {
      std::vector<Trial> trials;
      if (request_.sweep.needs_trials() || request_.sweep.with_rows)
        trials = stored_trials(wisdom(), spec_, job_.size, seat_.device, options);
      if (!trials.empty() || !request_.sweep.needs_trials()) return answer(known, std::move(trials));
    }
    if (!known.why_tune.empty() && !wisdom().frozen()) output_.line("cache     {}; tuning", known.why_tune);
    wisdom().require_not_frozen("tune");
    // One clear message instead of as many failed trials.
    if (seat_.device.environment.compiler == "none")
      throw Error("the host backend needs a C++ compiler and found none: install g++ or clang++, or set CXX to one");
    if (options.session.budget.wall_time && !request_.tuning.session.budget.wall_time)
      output_.line("budget    {:g} s (--budget or --trials chooses)", options.session.budget.wall_time->count());
    if (is_empty() && options.session.budget.trials == 1U && !request_.tuning.session.budget.trials)
      output_.line("budget    1 trial: a size is 0, so that there is nothing to compare");
    measure_ceilings_once();
    return report(measure(options));
  }

 private:
  ProblemResult dry_run() {
    const auto& limit = request_.tuning.session.budget.wall_time;
    const StopHook stop = [&limit, start = Clock::now()] { return limit && seconds_since(start) >= limit->count(); };
    return give(space(spec_, job_.size, seat_.device, stop), {kDone});
  }

  /// \p result with the document of \p answer, or its text printed.
  ProblemResult give(Answer answer, ProblemResult result) {
    if (request_.json)
      result.document = answer.document();
    else
      output_.text(answer.text());
    return result;
  }

  Wisdom& wisdom() { return *seat_.wisdom; }

  /// All configurations do nothing for a size of 0, so one is enough.
  bool is_empty() const {
    return std::any_of(job_.size.sizes.begin(), job_.size.sizes.end(),
                       [](const auto& size) { return size.second == 0; });
  }

  /// Those of the request, with the default budget if it has no limit.
  TuningOptions tuning_options() const {
    TuningOptions options = request_.tuning;
    options.session.stop = &stop_;
    options.session.started = Clock::now();
    Budget& budget = options.session.budget;
    if (request_.sweep.is_part()) return options;
    if (budget.wall_time || budget.trials || budget.fraction || budget.target || budget.until_unlikely) return options;
    if (is_empty()) {
      budget.trials = 1;
      return options;
    }
    budget.wall_time = std::chrono::seconds(traits(seat_.device.key).is_gpu ? 60 : 30);
    return options;
  }

  /// \p trials: for the tables that the request asks for.
  ProblemResult answer(const StoredAnswer& known, std::vector<Trial> trials) {
    const cache::WisdomMatch& match = known.match;
    take_ceilings(seat_.device, match.best->device);
    const Throughput rate = throughput(spec_, job_.size, seat_.device, match.best->median_ns);
    if (rate.bytes_per_second && !rate.ceiling_rate) measure_ceilings_once();
    Subject what = subject_of(job_, seat_);
    if (!match.shipped) what.reference = reference_of(wisdom().user(), *match.best);
    ProblemResult result{kDone, {}, match.best->configuration, match.best->median_ns};
    result.known = true;
    for (const std::string& remark : known.remarks) listener_.on_warning(remark);
    if (!trials.empty() && !request_.json)
      output_.text(best_table(what, trials, out_style_, request_.sweep.rows) + '\n');
    if (request_.sweep.needs_trials()) result.sweep = {what, std::move(trials), {}};
    Answer given = known_answer(what, known, out_style_);
    return give(given.data("warnings", listener_.warnings()), std::move(result));
  }

  SessionResult measure(const TuningOptions& options) {
    if (options.isolation == Isolation::none && !seat_.backend) seat_.backend = open_backend(seat_.device);
    SessionResult result;
    try {
      result = tune_kernel(spec_, job_.size, seat_.device, wisdom(), options, &listener_, seat_.backend.get());
    } catch (const Error&) {
      if (listener_.has_measured()) output_.warning(what_is_kept());
      throw;
    }
    output_.end_status();
    if (seat_.may_be_lost && result.stop_reason == StopReason::device_lost)
      throw DeviceLostError("the device cannot be used any more: a kernel left it in an unknown state");
    return result;
  }

  /// A failure is only a warning: rates are then shown without their fraction of the ceiling.
  void measure_ceilings_once() {
    if (request_.without_ceilings || std::exchange(seat_.has_ceilings, true)) return;
    try {
      measure_ceilings(seat_.device);
    } catch (const Error& error) {
      output_.warning("how fast this device streams could not be measured: {}", error.what());
    }
  }

  ProblemResult report(const SessionResult& found) {
    const Subject what = subject_of(job_, seat_);
    ProblemResult result = summary(found);
    if (request_.sweep.needs_trials()) result.sweep = {what, found.trials, {}};
    if (request_.sweep.is_part())
      result.sweep->impossible = impossible_configurations(spec_, job_.size, seat_.device.limits);
    if (request_.json) {
      result.document = json_result(what, found, database_text());
      result.document["warnings"] = listener_.warnings();
      if (request_.sweep.is_part()) result.document["impossible"] = json_impossible(*result.sweep);
    } else {
      print(what, found, result);
    }
    if (stop_) output_.line("interrupted: " + what_is_kept());
    std::string failure;
    if (found.best && wisdom().user().is_in_memory())  // success means that the next run finds the result
      failure = "the result is not stored, see the warning above";
    if (!found.best && !stop_) {
      failure = no_winner(spec_, job_.size, found).what();
      if (!found.trials.empty()) failure += " (--verbose shows each)";
    }
    if (!failure.empty()) output_.error(failure);
    result.code = stop_ ? kInterrupted : failure.empty() ? kDone : kFailed;
    return result;
  }

  /// For the table of all problems.
  ProblemResult summary(const SessionResult& found) const {
    ProblemResult result;
    if (found.best) {
      result.configuration = found.best->configuration.text();
      result.median_ns = found.best->measurement()->median_ns;
    }
    for (const Trial& trial : found.trials)  // the latest counts
      if (trial.configuration == spec_.default_configuration && trial.measurement())
        result.default_ns = trial.measurement()->median_ns;
    for (std::size_t i = 0; i < found.lanes.size(); ++i)
      if (found.lanes[i].unusable) result.lost.push_back(i);
    return result;
  }

  void print(const Subject& what, const SessionResult& found, const ProblemResult& result) {
    if (!request_.quiet) output_.text('\n' + table(what, found, result) + '\n');
    if (!request_.quiet) output_.text(failure_summary(found.trials, out_style_));
    if (!what.trade_off.empty()) output_.text(pareto_table(found.trials, what.trade_off) + "\n");
    if (found.best) output_.text(winner(what, found, database_text(), out_style_, !request_.quiet));
    if (request_.sweep.is_part())
      output_.line("note      this was part of the space: what calls are served with stays as it was");
  }

  std::string table(const Subject& what, const SessionResult& found, const ProblemResult& result) const {
    const SweepRequest& sweep = request_.sweep;
    if (sweep.is_part()) return sweep_rows({*result.sweep}, sweep.rows).text(out_style_);
    if (sweep.all_rows()) return sweep_rows({{what, found.trials, {}}}, sweep.rows).text(out_style_);
    return best_table(what, found.trials, out_style_, sweep.rows);
  }

  std::string what_is_kept() {
    if (!listener_.has_measured()) return "nothing was measured";
    if (wisdom().user().is_in_memory()) return "what was measured is not kept, as it could not be stored";
    if (unknown_headers(spec_) != nullptr) return "what was measured is kept";
    return fmt::format("what was measured is kept; the same command continues from here{}",
                       request_.force ? " without --force" : "");
  }

  std::string database_text() {
    const cache::Database& user = wisdom().user();
    return user.is_in_memory() ? "memory only (see the warning above)" : user.path().string();
  }

  const TuneJob& job_;
  const TuneRequest& request_;
  const KernelSpec& spec_;
  Seat& seat_;
  TuneListener& listener_;
  Output& output_;
  const std::atomic<bool>& stop_;
  const Style out_style_;
};

}  // namespace

void Seat::open_wisdom(const TuneRequest& request, Console& console) {
  if (wisdom) return;
  const auto warn = [&console](std::string_view text) { console.warning(text); };
  wisdom = std::make_unique<Wisdom>(WisdomOptions{.database = request.database, .warn = warn});
}

Subject subject_of(const TuneJob& job, const Seat& seat) {
  const TuningOptions& tuning = job.request.tuning;
  const Objective& objective = tuning.session.objective;
  std::vector<std::string> metrics = expand_metrics(tuning.measure.metrics);
  std::erase(metrics, objective.metric());  // it has its own column
  return {job.spec.get(),        &job.size,
          &seat.device,          objective,
          std::move(metrics),    job.request.trade_off,
          tuning.measure.verify, weaker_reference(*job.spec, tuning.measure.recorded)};
}

void introduce(const TuneJob& job, const DeviceChoice& devices, Console& console) {
  const Device& device = devices.device;
  console.line("kernel    {} ({})", job.spec->name, job.spec->program.file);
  console.line("device    {}, {}: {}{}", device.name, device.environment.compiler, devices.reason,
               lanes_text(job, devices));
  if (const Recording* const recording = job.recording.get()) {
    console.line("recording {}, launched {}on {}", job.request.what.recording.string(),
                 recording->configuration ? fmt::format("with {} ", recording->configuration->text()) : "",
                 recording->device_name);
    if (answers(*job.spec, recording->data))
      console.line("note      the kernel has no reference: right is what the recorded launch left");
    if (recording->device_key != device.key.text())
      console.line("note      this is not the device of the recording: calls on {} are not served with this",
                   recording->device_name);
  }
  if (const std::string* const why = unknown_headers(*job.spec))
    console.line("note      earlier results are not used: " + *why);
  for (const std::string& note : job.notes) console.line(note);
}

ProblemResult tune_problem(const TuneJob& job, Seat& seat, TuneListener& listener, const std::atomic<bool>& stop) {
  return ProblemTuning(job, seat, listener, stop).run();
}

}  // namespace tuner::cli
