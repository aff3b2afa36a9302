#include <algorithm>
#include <utility>

#include <tuner/measure/runner.hpp>

namespace tuner {

/// A finalist while it is measured again.
struct Runner::Contender {
  Finalist finalist;
  Trial trial;
  Loaded loaded;
  Measurement measurement;
  std::vector<double> clocks;
  double run_s = 0;
  std::size_t batch = 1;
  std::optional<Outcome> failure;
};

/// All finalists share the work space. Resizing it may change its address, which the launches then need.
void Runner::make_ready(Contender& one) {
  one.loaded.run = ready(*problems_.front(), one.finalist.configuration, *one.finalist.image, *one.loaded.module);
}

/// Loads \p one, warms it up, and determines how many runs a sample needs.
void Runner::begin(Contender& one, double& pause_left_s) {
  one.trial.configuration = one.finalist.configuration;
  one.trial.verified = has_reference();
  one.trial.round = remeasured_;
  auto loaded = load(one.finalist.configuration, *one.finalist.image);
  if (auto* failure = std::get_if<Outcome>(&loaded)) {
    one.failure = std::move(*failure);
    return;
  }
  one.loaded = std::move(std::get<Loaded>(loaded));
  one.trial.resources = one.loaded.run.resources;
  problems_.front()->reset_for_measuring();
  for (int warm = 0; warm < 2 && !one.failure; ++warm)
    one.failure = run(Phase::measure, *problems_.front(), one.loaded.run.prepared_and_timed(), &one.run_s);
  restore_after(one.failure);
  if (one.failure || options_.cold || !one.loaded.run.prepare.empty()) return;
  auto taken = sampler_.take(one.loaded.run.timed, sampler_.request(1, 1, one.run_s), pause_left_s);
  if (auto* group = std::get_if<Sampler::Group>(&taken)) one.batch = sampler_.batch_for(group->samples.front().ns);
}

/// Takes the samples of one round.
void Runner::sample(Contender& one, double& pause_left_s) {
  make_ready(one);
  problems_.front()->reset_for_measuring();
  load_copies(one.loaded.run.launches);
  const SampleRequest wanted = sampler_.request(std::max<std::size_t>(options_.finalist_samples, 1), one.batch,
                                                one.run_s, one.loaded.run.prepare);
  announce(Phase::measure, wanted.timeout_s);
  const auto start = Clock::now();
  auto taken = sampler_.take(one.loaded.run.timed, wanted, pause_left_s);
  one.trial.times.measure += seconds_since(start);
  if (auto* failure = std::get_if<Outcome>(&taken)) one.failure = std::move(*failure);
  restore_after(one.failure);
  if (const auto* group = std::get_if<Sampler::Group>(&taken)) group->add_to(one.measurement, one.clocks);
}

/// Verifies \p one again and completes its trial.
void Runner::finish(Contender& one) {
  if (!one.failure && backend_.usable()) {
    make_ready(one);
    one.failure = judge_after_timing(*problems_.front(), one.loaded.run);
    if (!one.failure) one.failure = judge_interleaved(one.trial);
  }
  one.trial.crashed = one.failure && (std::holds_alternative<Timeout>(*one.failure) || !backend_.usable());
  if (!one.failure && one.measurement.samples_ns.empty())
    one.failure = LaunchError{"the device became unusable before it could be measured again", 0, true};
  if (one.failure) {
    one.trial.outcome = std::move(*one.failure);
    one.trial.verified = false;
    return;
  }
  summarise(one.measurement, one.clocks, one.batch, options_);
  one.measurement.converged =
      one.measurement.high_ns - one.measurement.low_ns <= options_.target_width * one.measurement.median_ns;
  // Only now, because counting would disturb the timing.
  if (backend_.usable()) collect_metrics(one.loaded.run, one.measurement);
  one.trial.outcome = std::move(one.measurement);
}

std::vector<Trial> Runner::remeasure(std::span<const Finalist> finalists, double seconds) {
  const auto start = Clock::now();
  ++remeasured_;
  double pause_left_s = kThrottleBudgetSeconds;
  std::vector<Contender> contenders(finalists.size());
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    contenders[i].finalist = finalists[i];
    begin(contenders[i], pause_left_s);
  }

  constexpr std::size_t fewest_rounds = 3;
  for (std::size_t round = 0; round < options_.finalist_rounds && backend_.usable(); ++round) {
    if (round >= fewest_rounds && seconds_since(start) > seconds) break;
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t place = (k + round) % contenders.size();
      Contender& one = contenders[round % 2 == 0 ? place : contenders.size() - 1 - place];
      if (!one.failure) sample(one, pause_left_s);
    }
  }

  std::vector<Trial> trials;
  for (Contender& one : contenders) {
    finish(one);
    trials.push_back(std::move(one.trial));
  }
  return trials;
}

}  // namespace tuner
