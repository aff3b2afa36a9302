#include <tuner/core/elapsed.hpp>
#include <tuner/measure/runner_state.hpp>

namespace tuner {

std::vector<Trial> Runner::remeasure(std::span<const Finalist> finalists, double seconds) {
  const auto begin = Clock::now();
  State& s = *state_;
  ++s.remeasured;
  ProblemBuffers& problem = *s.problems.front();
  struct Entry {
    std::unique_ptr<Module> module;
    State::Ready run;
    Measurement measurement;
    std::vector<double> clocks;
    double run_s = 0;
    std::size_t batch = 1;
    std::optional<Outcome> failure;
  };
  std::vector<Trial> trials(finalists.size());
  std::vector<Entry> entries(finalists.size());
  double pause_left_s = kThrottleBudgetSeconds;

  const auto make_ready = [&](Entry& entry, const Configuration& configuration, const Image& image) {
    // All finalists share the work space. Resizing it may change its address, which the launches then need.
    entry.run = s.ready(problem, configuration, image, *entry.module);
  };

  for (std::size_t i = 0; i < finalists.size(); ++i) {
    Entry& entry = entries[i];
    trials[i].configuration = finalists[i].configuration;
    trials[i].verified = s.has_reference();
    trials[i].round = s.remeasured;
    auto loaded = s.load(*finalists[i].image);
    if (auto* error = std::get_if<LaunchError>(&loaded)) {
      entry.failure = std::move(*error);
      continue;
    }
    entry.module = std::move(std::get<std::unique_ptr<Module>>(loaded));
    make_ready(entry, finalists[i].configuration, *finalists[i].image);
    trials[i].resources = entry.run.resources;
    problem.reset_for_measuring();
    for (int warm = 0; warm < 2 && !entry.failure; ++warm)
      entry.failure = s.run(Phase::measure, problem, entry.run.prepared_and_timed(), &entry.run_s);
    s.restore_after(entry.failure);
    if (entry.failure || s.options.cold || !entry.run.prepare.empty()) continue;
    const SampleRequest probe = s.sampler.request(1, 1, entry.run_s);
    auto taken = s.sampler.take(entry.run.timed, probe, pause_left_s);
    if (auto* group = std::get_if<Sampler::Group>(&taken)) entry.batch = s.sampler.batch_for(group->samples.front().ns);
  }

  constexpr std::size_t fewest_rounds = 3;
  for (std::size_t round = 0; round < s.options.finalist_rounds && s.backend.usable(); ++round) {
    if (round >= fewest_rounds && seconds_since(begin) > seconds) break;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const std::size_t place = (k + round) % entries.size();
      const std::size_t i = round % 2 == 0 ? place : entries.size() - 1 - place;
      Entry& entry = entries[i];
      if (entry.failure) continue;
      make_ready(entry, finalists[i].configuration, *finalists[i].image);
      problem.reset_for_measuring();
      s.load_copies(entry.run.launches);
      const SampleRequest wanted = s.sampler.request(std::max<std::size_t>(s.options.finalist_samples, 1), entry.batch,
                                                     entry.run_s, entry.run.prepare);
      s.announce(Phase::measure, wanted.timeout_s);
      const auto start = Clock::now();
      auto taken = s.sampler.take(entry.run.timed, wanted, pause_left_s);
      trials[i].times.measure += seconds_since(start);
      if (auto* failure = std::get_if<Outcome>(&taken)) entry.failure = std::move(*failure);
      s.restore_after(entry.failure);
      if (const auto* group = std::get_if<Sampler::Group>(&taken)) {
        for (const Sample& sample : group->samples) {
          entry.measurement.samples_ns.push_back(sample.ns);
          if (sample.clock_mhz > 0) entry.clocks.push_back(sample.clock_mhz);
        }
        entry.measurement.throttled = entry.measurement.throttled || group->throttled;
      }
    }
  }

  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    if (!entry.failure && s.backend.usable()) {
      make_ready(entry, finalists[i].configuration, *finalists[i].image);
      entry.failure = s.judge_after_timing(problem, entry.run.launches);
      if (!entry.failure) entry.failure = s.judge_interleaved(trials[i]);
    }
    const bool guilty = entry.failure && (std::holds_alternative<Timeout>(*entry.failure) || !s.backend.usable());
    if (!entry.failure && entry.measurement.samples_ns.empty())
      entry.failure = LaunchError{"the device became unusable before it could be measured again", 0, true};
    if (entry.failure) {
      trials[i].outcome = std::move(*entry.failure);
      trials[i].verified = false;
      trials[i].crashed = guilty;
      continue;
    }
    summarise(entry.measurement, entry.clocks, entry.batch, s.options);
    entry.measurement.converged =
        entry.measurement.high_ns - entry.measurement.low_ns <= s.options.target_width * entry.measurement.median_ns;
    // Only now, because counting would disturb the timing.
    if (s.backend.usable()) s.collect_metrics(entry.run, entry.measurement);
    trials[i].outcome = std::move(entry.measurement);
  }
  return trials;
}

}  // namespace tuner
