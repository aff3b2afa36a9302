#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include <tuner/error.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {
namespace {

constexpr std::size_t kFewestRounds = 3;
/// The runs that verify a finalist after its last sample. A round begins only if the time is enough for these as well.
constexpr double kRunsToFinish = 4;

/// The number of samples in each of \p rounds: at least 1, and \p mean on average. The numbers vary, because a kernel
/// must not know which run is the last one in a round: that one is checked.
std::vector<std::size_t> samples_of_rounds(std::size_t rounds, std::size_t mean, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> samples(rounds, mean);
  for (std::size_t i = 0; i + 1 < rounds && mean > 0; i += 2) {
    samples[i] = 1 + std::size_t(random() % (2 * mean - 1));
    samples[i + 1] = 2 * mean - samples[i];
  }
  return samples;
}

}  // namespace

/// A finalist while it is measured again.
struct Runner::Contender {
  Finalist finalist;
  Trial trial;
  Loaded loaded;
  Measurement measurement;
  std::vector<double> clocks;
  double run_s = 0;
  SampleRuns batch;
  std::optional<Outcome> failure;
};

/// Does \p step for \p one, unless \p one has failed. Nothing is done once the device is lost: it was lost to another
/// finalist, or \p one has failed already.
template <typename Step>
void Runner::attempt(Contender& one, Step step) {
  if (one.failure || !backend_.usable()) return;
  try {
    one.failure = step();
    restore_after(one.failure);
  } catch (const Error& error) {
    one.failure = LaunchError{error.what(), 0, backend_.usable()};
  }
  one.trial.crashed = !backend_.usable() || (one.failure && std::holds_alternative<Timeout>(*one.failure));
}

/// All finalists share the work space. Resizing it may change its address, which the launches then need.
void Runner::make_ready(Contender& one) {
  auto state = one.loaded.run.state;
  one.loaded.run = ready(*problems_.front(), one.finalist.configuration, *one.finalist.image, *one.loaded.module);
  one.loaded.run.state = std::move(state);
}

/// Loads \p one, warms it up, and determines how many runs a sample needs.
std::optional<Outcome> Runner::begin(Contender& one, double& pause_left_s) {
  auto loaded = load(one.finalist.configuration, *one.finalist.image);
  if (auto* failure = std::get_if<Outcome>(&loaded)) return std::move(*failure);
  one.loaded = std::move(std::get<Loaded>(loaded));
  one.trial.resources = one.loaded.run.resources;
  problems_.front()->reset(0);
  for (int warm = 0; warm < 2; ++warm)
    if (auto failure = run(Phase::measure, *problems_.front(), one.loaded.run.prepared_and_timed(), &one.run_s))
      return failure;
  auto batch = sampler_.batch_for(timed_work(one.loaded.run), one.run_s, pause_left_s, announce_measuring());
  if (auto* failure = std::get_if<Outcome>(&batch)) return std::move(*failure);
  one.batch = std::get<SampleRuns>(batch);
  return std::nullopt;
}

/// Takes the samples of one round.
std::optional<Outcome> Runner::sample(Contender& one, std::size_t samples, double& pause_left_s) {
  make_ready(one);
  problems_.front()->reset(0);
  load_copies(one.loaded.run.launches);
  const auto start = Clock::now();
  auto taken =
      sampler_.take(timed_work(one.loaded.run), samples, one.batch, one.run_s, pause_left_s, announce_measuring());
  one.trial.times.measure += seconds_since(start);
  if (auto* failure = std::get_if<Outcome>(&taken)) return std::move(*failure);
  std::get<Sampler::Group>(taken).add_to(one.measurement, one.clocks);
  return std::nullopt;
}

/// Verifies \p one again and summarises its samples.
std::optional<Outcome> Runner::finish(Contender& one) {
  make_ready(one);
  if (auto failure = judge_after_timing(*problems_.front(), one.loaded.run, one.run_s)) return failure;
  if (auto failure = one.finalist.is_checked ? std::nullopt : judge_interleaved(one.trial)) return failure;
  summarise(one.measurement, one.clocks, one.batch.runs, options_);
  one.measurement.converged =
      one.measurement.high_ns - one.measurement.low_ns <= options_.target_width * one.measurement.median_ns;
  // Only now, because counting would disturb the timing.
  if (!one.finalist.is_checked) collect_metrics(one.loaded.run, one.measurement);
  return std::nullopt;
}

std::vector<Trial> Runner::remeasure(std::span<const Finalist> finalists, double seconds, std::uint32_t placement) {
  const auto start = Clock::now();
  ++remeasured_;
  is_first_ = false;  // the evaluation before may have been given up
  announce(Phase::fill, housekeeping_s_);
  problems_.front()->move_to(placement);
  double pause_left_s = kThrottleBudgetSeconds;
  std::vector<Contender> contenders(finalists.size());
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    Contender& one = contenders[i];
    one.finalist = finalists[i];
    one.trial.configuration = one.finalist.configuration;
    one.trial.round = remeasured_;
    attempt(one, [&] { return begin(one, pause_left_s); });
  }

  const double finishing_s = std::accumulate(
      contenders.begin(), contenders.end(), 0.0,
      [](double sum, const Contender& one) { return sum + (one.failure ? 0 : kRunsToFinish * one.run_s); });
  double round_s = 0;
  const std::vector<std::size_t> samples =
      samples_of_rounds(options_.finalist_rounds, std::max<std::size_t>(options_.finalist_samples, 1),
                        options_.seed + std::uint64_t(remeasured_));
  for (std::size_t round = 0; round < samples.size() && backend_.usable(); ++round) {
    const double begun_s = seconds_since(start);
    if (round >= kFewestRounds && begun_s + round_s + finishing_s > seconds) break;
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t place = (k + round) % contenders.size();
      Contender& one = contenders[round % 2 == 0 ? place : contenders.size() - 1 - place];
      attempt(one, [&] { return sample(one, samples[round], pause_left_s); });
    }
    round_s = seconds_since(start) - begun_s;
  }
  for (Contender& one : contenders) attempt(one, [&] { return finish(one); });

  std::vector<Trial> trials;
  for (Contender& one : contenders) {
    if (!one.failure && !backend_.usable() && !one.trial.crashed)
      one.failure =
          LaunchError{"another finalist made the device unusable before this one was measured again", 0, true};
    one.trial.verified = has_reference() && !one.failure;
    one.trial.outcome = one.failure ? std::move(*one.failure) : Outcome(std::move(one.measurement));
    trials.push_back(std::move(one.trial));
  }
  return trials;
}

}  // namespace tuner
