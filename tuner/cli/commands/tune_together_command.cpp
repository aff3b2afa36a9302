#include <tuner/cli/commands/tune_together_command.hpp>

#include <algorithm>

#include <cache/query/browse.hpp>

#include <tuner/backend/all/backends.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

std::string share_text(double share) { return format_percent(share); }

std::string name_of(const JointJob& job) {
  const std::string choices = job.sizes.front().choices_text();
  return job.spec->name + (choices.empty() ? "" : " " + choices);
}

std::string outcome_text(const Trial& trial) {
  if (const Measurement* const measured = trial.measurement()) return format_ns(measured->median_ns);
  return fmt::format("{}: {}", kind(trial.outcome), first_line(message(trial.outcome)));
}

/// Shows the steps of a race.
class JointPrinter final : public JointListener {
 public:
  JointPrinter(const JointJob& job, const TuneArguments& asked, TrialLog* log, Output& output)
      : job_(job), asked_(asked), log_(log), output_(output) {}

  void on_step(const ProblemSize& size, const SizeRace::Step& step, std::size_t trials) override {
    before_ = trials;
    size_ = size.sizes_text();
    if (step.search > 0)
      output_.line("search    {}, with {:.0f}% of the limits of one size", size_, 100 * step.search);
    else if (!std::exchange(measures_, true))
      output_.line("measure   promising configurations at all {}", plural(job_.sizes.size(), "size"));
  }
  void on_start(const SessionPlan& plan) override { plan_ = plan; }
  void on_trial(const Trial& trial, const Progress& progress) override {
    if (asked_.verbose) output_.line("  {}  {}  {}", size_, trial.configuration.text(), outcome_text(trial));
    output_.status([&](std::size_t width) {
      return fmt::format("{}  {}", plural(before_ + progress.finished, "trial"), size_).substr(0, width);
    });
    if (log_) log_->add(plan_, trial, progress);
  }
  void on_warning(std::string_view message) override {
    // Every step may say the same.
    const std::lock_guard lock(mutex_);
    if (contains(warnings_, message)) return;
    warnings_.emplace_back(message);
    output_.warning(message);
  }
  std::vector<std::string> warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }

 private:
  const JointJob& job_;
  const TuneArguments& asked_;
  TrialLog* log_;
  Output& output_;
  SessionPlan plan_;
  std::size_t before_ = 0;
  std::string size_;
  bool measures_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
};

Json between_json(const SizeRule::Regret& between) {
  if (between.sizes == 0) return nullptr;
  return {{"median", between.median},
          {"low", between.low},
          {"high", between.high},
          {"worst", between.worst},
          {"sizes", between.sizes}};
}

Answer rule_answer(const JointJob& job, const JointResult& result) {
  Table sizes({"problem", named("time", "median_ns"), named("regret", "regret"), people("stored"), data("is_stored"),
               "configuration"});
  double worst = 0;
  for (std::size_t i = 0; i < result.choices.size(); ++i) {
    const JointChoice& choice = result.choices[i];
    worst = std::max(worst, choice.regret.value_or(0));
    sizes.add({job.sizes[i].sizes_text(), choice.median_ns > 0 ? Cell::ns(choice.median_ns) : Cell(),
               Cell::of(choice.regret, share_text), choice.is_stored ? Cell() : Cell("another"),
               Cell(Json(choice.is_stored), ""), choice.configuration.text()});
  }
  Table branches({"condition", "configuration"});
  for (const SizeRule::Branch& branch : result.rule->branches)
    branches.add({branch.condition(), branch.configuration.text()});
  Answer answer;
  answer.data("kernel", job.spec->name)
      .data("choices", job.sizes.front().choices_text())
      .rows("sizes", sizes)
      .text("\nrule\n")
      .rows("rule", branches)
      .text("\n")
      .data("rule_text", result.rule->text())
      .data("between", between_json(result.rule->between))
      .data("worst", worst)
      .data("trials", result.trials)
      .data("search_trials", result.search_trials)
      .data("from_cache", result.is_known)
      .data("interrupted", false);
  const SizeRule::Regret& between = result.rule->between;
  answer.fact(people("here"), fmt::format("at most {} slower than the best that was measured at any of the {}",
                                          share_text(worst), plural(job.sizes.size(), "size")));
  if (between.sizes > 0)
    answer.fact(people("between"),
                fmt::format("{} slower in the median (95% interval {} to {}, at most {}): each of {} left out once",
                            share_text(between.median), share_text(between.low), share_text(between.high),
                            share_text(between.worst), plural(between.sizes, "size")));
  std::string spent = "known before; nothing was measured";
  if (!result.is_known) {
    spent = plural(result.trials, "trial");
    if (result.search_trials > 0)
      spent += fmt::format(", {:.2f} times those of the searches, which have the limits of one size",
                           double(result.trials) / double(result.search_trials));
  }
  answer.fact(people("trials"), spent);
  return answer;
}

int print_result(const TuneArguments& asked, const JointJob& job, const JointResult& result,
                 const std::vector<std::string>& warnings, Output& output, Json& document) {
  if (!result.rule) {
    const std::string what = result.is_interrupted
                                 ? fmt::format("interrupted: {} stored; the same command continues from here",
                                               plural(result.trials, "trial"))
                                 : "no few configurations work at all sizes";
    document = {{"kernel", job.spec->name},
                {"choices", job.sizes.front().choices_text()},
                {"interrupted", result.is_interrupted},
                {"trials", result.trials},
                {"error", what}};
    result.is_interrupted ? output.line(what) : output.error(name_of(job) + ": " + what);
    return result.is_interrupted ? kInterrupted : kFailed;
  }
  Answer answer = rule_answer(job, result);
  answer.data("warnings", warnings);
  document = answer.document();
  if (!asked.json) output.text('\n' + answer.text());
  if (result.is_stored) return kDone;
  output.error(name_of(job) + ": the rule is not stored, see the warning above");
  return kFailed;
}

}  // namespace

std::vector<JointJob> joint_jobs(const TuneJobs& jobs) {
  std::vector<JointJob> all;
  for (const TuneJob& job : jobs.request.jobs) {
    const auto is_its = [&](const JointJob& one) {
      return one.spec->program.file == job.spec->program.file && one.spec->name == job.spec->name &&
             one.sizes.front().choices == job.size.choices;
    };
    auto at = std::ranges::find_if(all, is_its);
    if (at == all.end()) at = all.insert(all.end(), {job.spec, {}, {}, job.tuning});
    at->sizes.push_back(job.size);
    at->weights.push_back(1);
  }
  return all;
}

TuneOutcome tune_jobs_together(const TuneJobs& jobs, const std::atomic<bool>& stop, Output& output, TuneTogether tune) {
  const TuneArguments& asked = jobs.arguments;
  if (!tune)
    tune = [&stop](const JointJob& job, Seat& seat, JointListener& listener) {
      if (job.tuning.isolation == Isolation::none && !seat.backend) seat.backend = open_backend(seat.device);
      return tune_together(job, seat.device, *seat.wisdom, seat.backend.get(), listener, stop);
    };
  std::unique_ptr<TrialLog> log;
  if (!asked.log.empty()) log = std::make_unique<TrialLog>(asked.log, output);
  Seat seat{jobs.request.devices.device};
  seat.wisdom = std::make_unique<Wisdom>(WisdomOptions{
      .database = jobs.request.database, .warn = [&output](std::string_view text) { output.warning(text); }});
  TuneOutcome all;
  Json rules = Json::array();
  for (JointJob& job : joint_jobs(jobs)) {
    if (stop) break;
    job.tuning.more_devices = jobs.request.devices.more;
    output.line("kernel    {} ({}), {}", name_of(job), job.spec->program.file, plural(job.sizes.size(), "size"));
    output.line("device    {}, {}: {}", seat.device.name, seat.device.environment.compiler,
                jobs.request.devices.reason);
    weigh_by_misses(job, *seat.wisdom, seat.device);
    JointPrinter printer(job, asked, log.get(), output);
    const JointResult result = tune(job, seat, printer);
    output.end_status();
    all.code = std::max(all.code, print_result(asked, job, result, printer.warnings(), output, rules.emplace_back()));
    if (result.is_stored)
      for (const TuneJob& one : jobs.request.jobs)
        if (one.miss && contains(job.sizes, one.size) && one.spec->name == job.spec->name)
          cache::forget_miss(seat.wisdom->user(), *one.miss);
  }
  if (asked.json) all.document = {{"tuner", kVersion}, {"interrupted", stop.load()}, {"together", std::move(rules)}};
  if (log && !log->all_written()) all.code = std::max(all.code, kFailed);
  if (stop) all.code = kInterrupted;
  return all;
}

}  // namespace tuner::cli
