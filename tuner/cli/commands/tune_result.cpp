#include <tuner/cli/commands/tune_result.hpp>

#include <fmt/ranges.h>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/cli/print/metrics.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/no_result.hpp>

namespace tuner::cli {
namespace {

/// The space that a tuning would search: parameters, constraints, the number of combinations and of valid ones. If \p
/// stop ends the count of valid ones, the answer says how far it got.
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
  const std::size_t hosts = job.tuning.hosts.size();
  if (hosts > 0) return fmt::format("; {} of other ranks share the work", plural(hosts, "device"));
  if (devices.more.empty()) return {};
  return fmt::format("; {}, {} share the work", devices.device.index, fmt::join(devices.more, ", "));
}

/// \p printed with the document of \p answer, or its text printed.
PrintedResult give(const TuneArguments& arguments, Answer answer, PrintedResult printed, Output& output) {
  if (arguments.json)
    printed.document = answer.document();
  else
    output.text(answer.text());
  return printed;
}

Winners winners_of(const SessionResult& found) {
  return {found.best ? std::optional(found.best->configuration) : std::nullopt, found.ties};
}

class ResultPrinter {
 public:
  ResultPrinter(const TuneArguments& arguments, const TuneJob& job, const ProblemResult& result, const Device& device,
                const TuneListener& listener)
      : arguments_(arguments),
        job_(job),
        result_(result),
        device_(device),
        listener_(listener),
        output_(listener.output),
        what_(subject_of(arguments, job, device)) {}

  PrintedResult print() {
    if (!result_.error.empty()) return failure();
    return result_.answer.found ? measured(*result_.answer.found) : known(result_.answer.known);
  }

 private:
  PrintedResult failure() {
    if (listener_.has_measured()) output_.warning(what_is_stored());
    PrintedResult printed;
    printed.error = result_.error;
    return printed;
  }

  PrintedResult known(const StoredAnswer& known) {
    if (!known.is_measured()) {
      PrintedResult printed{kDone, {}, known.configuration};
      printed.known = true;
      Answer answer = unmeasured_answer(what_, known, out_style_);
      answer.data("warnings", listener_.warnings());
      return give(arguments_, std::move(answer), std::move(printed), output_);
    }
    const cache::BestRecord& best = *known.match.best;
    if (!known.match.shipped) what_.reference = result_.reference;
    const Configuration stored_best = Configuration::parse(best.configuration);
    PrintedResult printed{kDone, {}, best.configuration, best.median_ns};
    printed.known = true;
    if (!known.trials.empty() && !arguments_.json)
      output_.text(best_table(what_, known.trials, out_style_, arguments_.sweep.rows, {stored_best}) + '\n');
    if (arguments_.sweep.needs_trials()) printed.sweep = {what_, known.trials, {}, {stored_best}};
    Answer answer = known_answer(what_, known, out_style_);
    answer.data("warnings", listener_.warnings());
    return give(arguments_, std::move(answer), std::move(printed), output_);
  }

  PrintedResult measured(const SessionResult& found) {
    output_.end_status();
    PrintedResult printed = summary(found);
    if (arguments_.sweep.needs_trials()) printed.sweep = {what_, found.trials, {}, winners_of(found)};
    if (arguments_.sweep.is_part())
      printed.sweep->impossible = impossible_configurations(*job_.spec, job_.size, device_.limits);
    if (arguments_.json) {
      printed.document = json_result(what_, found, database_text());
      printed.document["warnings"] = listener_.warnings();
      if (arguments_.sweep.is_part()) printed.document["impossible"] = json_impossible(*printed.sweep);
    } else {
      print_text(found, printed);
    }
    if (result_.is_interrupted) output_.line("interrupted: " + what_is_stored());
    std::string failure;
    if (found.best && !result_.is_stored)  // success means that the next run finds the result
      failure = "the result is not stored, see the warning above";
    if (!found.best && !result_.is_interrupted) {
      failure = no_winner(*job_.spec, job_.size, found).what();
      if (!found.trials.empty()) failure += " (--verbose shows each)";
    }
    if (!failure.empty()) output_.error(failure);
    printed.code = result_.is_interrupted ? kInterrupted : failure.empty() ? kDone : kFailed;
    return printed;
  }

  /// For the table of all problems.
  PrintedResult summary(const SessionResult& found) const {
    PrintedResult printed;
    if (found.best) {
      printed.configuration = found.best->configuration.text();
      printed.median_ns = found.best->measurement()->median_ns;
    }
    for (const Trial& trial : found.trials)  // the latest counts
      if (found.best && trial.configuration == job_.spec->default_configuration && trial.measurement())
        printed.over_default = time_ratio(trial, *found.best);
    return printed;
  }

  void print_text(const SessionResult& found, const PrintedResult& printed) {
    if (!arguments_.quiet) output_.text('\n' + table(found, printed) + '\n');
    if (!arguments_.quiet) output_.text(failure_summary(found.trials, out_style_));
    if (!what_.trade_off.empty()) output_.text(pareto_table(found.trials, what_.trade_off) + "\n");
    if (found.best) output_.text(winner(what_, found, database_text(), out_style_, !arguments_.quiet));
    if (arguments_.sweep.is_part())
      output_.line("note      this was part of the space: what calls are served with stays as it was");
  }

  std::string table(const SessionResult& found, const PrintedResult& printed) const {
    const SweepRequest& sweep = arguments_.sweep;
    if (sweep.is_part()) return sweep_rows({*printed.sweep}, sweep.rows).text(out_style_);
    if (sweep.all_rows())
      return sweep_rows({{what_, found.trials, {}, winners_of(found)}}, sweep.rows).text(out_style_);
    return best_table(what_, found.trials, out_style_, sweep.rows, winners_of(found));
  }

  std::string what_is_stored() const {
    if (!listener_.has_measured()) return "nothing was measured";
    if (result_.database.empty()) return "the measurements could not be stored";
    if (unknown_headers(*job_.spec) != nullptr) return "the measurements are stored";
    return fmt::format("the measurements are stored; the same command continues from here{}",
                       arguments_.force ? " without --force" : "");
  }

  std::string database_text() const {
    return result_.database.empty() ? "memory only (see the warning above)" : result_.database;
  }

  const TuneArguments& arguments_;
  const TuneJob& job_;
  const ProblemResult& result_;
  const Device& device_;
  const TuneListener& listener_;
  Output& output_;
  Subject what_;
  const Style out_style_ = Style::of(stdout);
};

}  // namespace

Subject subject_of(const TuneArguments& arguments, const TuneJob& job, const Device& device) {
  const Objective& objective = job.tuning.session.objective;
  const MeasureOptions& measure = job.tuning.measure;
  std::vector<std::string> metrics = expand_metrics(measure.metrics);
  std::erase(metrics, objective.metric());  // it has its own column
  return {job.spec.get(),     &job.size,           &device,        objective,
          std::move(metrics), arguments.trade_off, measure.verify, weaker_reference(*job.spec, measure.recorded)};
}

void introduce(const TuneJob& job, const DeviceChoice& devices, Console& console) {
  const Device& device = devices.device;
  console.line("kernel    {} ({})", job.spec->name, job.spec->program.file);
  console.line("device    {}, {}: {}{}", device.name, device.environment.compiler, devices.reason,
               lanes_text(job, devices));
  for (const std::string& note : job.notes) console.line(note);
}

PrintedResult describe_space(const TuneArguments& arguments, const TuneJob& job, const Device& device, Output& output) {
  const auto& limit = job.tuning.session.budget.wall_time;
  const StopHook stop = [&limit, start = Clock::now()] { return limit && seconds_since(start) >= limit->count(); };
  return give(arguments, space(*job.spec, job.size, device, stop), {kDone}, output);
}

PrintedResult print_result(const TuneArguments& arguments, const TuneJob& job, const ProblemResult& result,
                           const Device& device, const TuneListener& listener) {
  return ResultPrinter(arguments, job, result, device, listener).print();
}

}  // namespace tuner::cli
