// Times configurations, and proves that their timed runs do the work.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {
namespace {

constexpr std::string_view kInTiming = "right at first, but in a timed run ";
/// A kernel may be right only in its first runs, so those that can win are verified again after their last timed run.
constexpr std::string_view kAfterTiming = "right at first, but after its timed runs ";
/// That verification uses other inputs: a kernel may return old results, or results that are right only for some
/// inputs.
constexpr std::string_view kOtherInputs = "right for the inputs it was timed with, but with others ";
/// It also finds contents in the outputs, as a call in a program does.
constexpr std::string_view kOverResults = "right over unwritten outputs, but over earlier results ";

/// More variables are left as they are: to write them before each sample would take too long.
constexpr std::size_t kMostVariableBytes = std::size_t{256} << 20;

/// In haste, a configuration whose runs take longer than this has none to warm up.
constexpr double kSlowSeconds = 0.1;

/// Runs in a row of a kernel with variables take about this time, within these numbers.
constexpr double kRowSeconds = 0.05;
constexpr double kFewestInARow = 4, kMostInARow = 32;

bool is_wrong(const std::optional<Outcome>& outcome) {
  return outcome && std::holds_alternative<WrongResult>(*outcome);
}

}  // namespace

TimedWork Runner::timed_work(const Ready& ready, bool with_state) {
  ProblemBuffers& problem = *problems_.front();
  announce(Phase::measure, housekeeping_s_);
  TimedWork work{ready.timed, ready.prepare};
  work.is_repeatable = problem.is_repeatable();
  bool writes_surfaces = false;
  for (const Launch& launch : ready.launches)
    for (const Launch::Array& copy : launch.arrays) writes_surfaces |= copy.is_written;
  std::optional<std::vector<Refill>> of_buffers = writes_surfaces ? std::nullopt : problem.refills();
  refills_ = of_buffers.value_or(std::vector<Refill>{});
  if (ready.state && with_state)
    refills_.insert(refills_.end(), ready.state->refills.begin(), ready.state->refills.end());
  work.refills = refills_;
  if (!of_buffers) {
    work.restore = [this, &ready] {
      announce(Phase::measure, housekeeping_s_);
      problems_.front()->reset(0);
      load_copies(ready.launches);
    };
  }
  if (has_reference())
    work.check = [this, &ready, was_excused = false]() mutable { return judge_timed_run(ready, was_excused); };
  return work;
}

/// Copies of the variables of \p module, which was just loaded. Buffers of role `constant` have their contents from
/// load_copies(). Null if there is nothing to copy, no room, or if a variable cannot be read.
std::shared_ptr<const Runner::ModuleState> Runner::state_of(const Module& module, const Ready& ready) const try {
  if (spec_.device_launches || ready.launches.empty()) return nullptr;
  auto state = std::make_shared<ModuleState>();
  std::size_t all = 0;
  for (const Variable& variable : module.lasting_variables()) {
    if (std::ranges::any_of(ready.launches.front().constants,
                            [&](const Launch::Constant& one) { return one.variable.address == variable.address; }))
      continue;
    if ((all += variable.bytes) > kMostVariableBytes) return nullptr;
    Refill refill{variable.address, variable.bytes};
    std::vector<std::byte> bytes(variable.is_zero ? 0 : variable.bytes);
    backend_.download(bytes.data(), variable.address, bytes.size());
    if (std::ranges::any_of(bytes, [](std::byte byte) { return byte != std::byte{0}; })) {
      refill.from = state->originals.emplace_back(backend_.allocate(bytes.size()))->address();
      backend_.upload(refill.from, bytes.data(), bytes.size());
    }
    state->refills.push_back(refill);
  }
  return state->refills.empty() ? nullptr : state;
} catch (const Error&) {
  if (!backend_.usable()) throw;
  return nullptr;
}

/// Judges the outputs of the run before, a timed one. If the expected outputs were damaged, nothing can be said, which
/// excuses it once.
std::optional<Outcome> Runner::judge_timed_run(const Ready& ready, bool& was_excused) {
  ProblemBuffers& problem = *problems_.front();
  store_copies(ready.timed);
  double ignored = 0;
  if (!ready.untimed.empty())
    if (auto failure = run_once(Phase::measure, problem, ready.untimed, ignored, false)) return failure;
  announce(Phase::measure, housekeeping_s_);
  const auto seen = problem.mismatch(0);
  if (!seen || (restore(problem) && !std::exchange(was_excused, true))) return std::nullopt;
  return WrongResult{fmt::format("{}{} on {}", kInTiming, *seen, problem.text())};
}

/// A program that calls a kernel does not restore the variables of its module, as timed samples do. A kernel may be
/// right only while they are as after loading, so it runs some times with what its own runs leave in them.
std::optional<Outcome> Runner::judge_runs_in_a_row(const Ready& ready, double run_s) {
  if (!ready.state || !has_reference()) return std::nullopt;
  const auto runs = std::size_t(std::clamp(kRowSeconds / std::max(run_s, 1e-9), kFewestInARow, kMostInARow));
  double no_pause_s = 0;
  auto taken = sampler_.take(timed_work(ready, false), runs, {}, run_s, no_pause_s, announce_measuring());
  if (auto* failure = std::get_if<Outcome>(&taken)) return std::move(*failure);
  return std::nullopt;
}

std::optional<Outcome> Runner::judge_after_timing(ProblemBuffers& problem, const Ready& ready, double run_s) {
  if (auto failure = judge_runs_in_a_row(ready, run_s)) return failure;
  const bool has_others = problem.inputs() > 1;
  const auto use_inputs = [&](std::size_t which) {
    announce(Phase::verify, housekeeping_s_);
    problem.use_inputs(which);
  };
  // The outputs may have those of another finalist, for either set of inputs.
  if (has_others && problem.mismatch(0))
    if (auto failure = judge(problem, ready, kAfterTiming)) return failure;
  if (has_others) use_inputs(1);
  auto seen = judge(problem, ready, kOverResults, has_others ? Found::results : Found::numbers);
  // The message names the simplest circumstances in which it is wrong.
  if (is_wrong(seen))
    if (auto simpler = judge(problem, ready, has_others ? kOtherInputs : kAfterTiming)) seen = std::move(simpler);
  if (!has_others || !backend_.usable()) return seen;
  use_inputs(0);
  if (is_wrong(seen))
    if (auto simpler = judge(problem, ready, kAfterTiming)) return simpler;
  return seen;
}

Outcome Runner::judge_and_time(Trial& trial, const Image& image, double best_ns) {
  const Configuration& configuration = trial.configuration;
  auto start = Clock::now();
  auto loaded = load(configuration, image);
  trial.times.load = seconds_since(start);
  if (auto* failure = std::get_if<Outcome>(&loaded)) return std::move(*failure);
  const auto& [module, ready_now] = std::get<Loaded>(loaded);
  trial.resources = ready_now.resources;
  if (ready_now.invalid) return Invalid{*ready_now.invalid};
  if (ready_now.timed.empty()) return Invalid{"no launch is timed: all of them are untimed"};

  start = Clock::now();
  // The main problem, number 0, comes after those of the file, so that faults are found on smaller problems, which
  // takes less time. Problems that tuner chose come last: a mistake that shows on the main problem is not one of the
  // size.
  for (const bool is_own : {false, true}) {
    for (std::size_t i = problems_.size(); i-- > 0;) {
      ProblemBuffers& problem = *problems_[i];
      if (problem.problem().is_own() != is_own) continue;
      if (i > 0 && why_invalid(spec_, problem.size(), limits(), configuration)) continue;
      auto failure = verify(problem, configuration, image, *module);
      trial.times.verify = seconds_since(start);
      if (failure) return std::move(*failure);
    }
  }
  if (auto failure = verify_near(configuration, image, *module)) return std::move(*failure);
  trial.verified = has_reference();

  start = Clock::now();
  ProblemBuffers& problem = *problems_.front();
  announce(Phase::measure, housekeeping_s_);
  problem.reset(0);
  // The run that was compared with the reference has warmed up the device, too.
  double run_s = in_haste() && problem.last_run_s() > kSlowSeconds ? problem.last_run_s() : 0;
  if (run_s == 0)
    if (auto failure = run(Phase::measure, problem, ready_now.prepared_and_timed(), &run_s)) return std::move(*failure);
  Outcome outcome = sampler_.measure(timed_work(ready_now), best_ns, run_s, announce_measuring());
  trial.times.measure = seconds_since(start);
  auto* const measurement = std::get_if<Measurement>(&outcome);
  if (measurement == nullptr) return outcome;
  if (!measurement->abandoned && !leave_out_checks(configuration)) {
    if (auto failure = judge_after_timing(problem, ready_now, run_s)) return std::move(*failure);
    const bool may_be_best = options_.interleave_all || best_ns <= 0 || measurement->median_ns <= best_ns;
    if (auto failure = may_be_best ? judge_interleaved(trial) : std::nullopt) return std::move(*failure);
  }
  if (options_.metrics_for_all) collect_metrics(ready_now, *measurement);
  return outcome;
}

Outcome Runner::measure_reference() {
  ProblemBuffers& problem = *problems_.front();
  problem.reset_for_reference();
  const Ready reference = ready_reference(problem);
  double run_s = 0;
  if (auto failure = run(Phase::measure, problem, reference.launches, &run_s)) return std::move(*failure);
  return sampler_.measure({reference.but_prepare(), reference.prepare}, 0, run_s, announce_measuring());
}

}  // namespace tuner
