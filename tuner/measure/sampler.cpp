#include <tuner/measure/sampler.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include <tuner/backend/traits.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/measure/numbers/statistics.hpp>

namespace tuner {
namespace {

/// The number of samples still needed for an interval of width \p target, if \p n samples have one of \p width: widths
/// shrink with the square root. At least a few, and at most \p n, so that the estimate is soon checked again.
std::size_t still_missing(std::size_t n, double width, double target) {
  const double total = double(n) * (width / target) * (width / target);
  return std::clamp<std::size_t>(total > double(2 * n) ? n : std::size_t(std::ceil(std::max(total - double(n), 0.0))),
                                 std::min<std::size_t>(5, n), n);
}

/// The most samples that a search takes of a configuration on cores that other programs use. More samples would hardly
/// narrow the interval, and finalists are measured again side by side.
constexpr std::size_t kMostOnSharedCores = 10;
/// On such cores, this number of samples is enough to abandon a configuration whose last run took kClearlySlower times
/// as long as the best.
constexpr std::size_t kFewestOnSharedCores = 3;
constexpr double kClearlySlower = 3;

/// Short runs that are not cold are repeated until a sample takes this time.
constexpr double kBatchNs = 200e3;
constexpr std::size_t kMostRuns = 1000;
constexpr std::size_t kMostNodes = 1000;  ///< of a graph
/// A launch takes half a microsecond longer while more launches wait in its stream (bench/queue_depth.cu).
constexpr std::size_t kMostQueued = 20;
/// The step of the device's clock if samples do not show it. CUDA driver API, cuEventElapsedTime: "resolution of around
/// 0.5 microseconds".
constexpr double kClockStepNs = 500;

/// Samples with a clock below this part of the typical clock are taken again after a pause.
constexpr double kThrottledClock = 0.75;
constexpr double kThrottlePauseSeconds = 0.05;

/// Samples of slow kernels are taken in steps of about this time, between which the work can be given up.
constexpr double kStepSeconds = 0.25;

/// Checks that take longer than this, and longer than the samples, are made after the last sample only.
constexpr double kSlowChecksSeconds = 0.02;

/// A run after another may take so much less than one after refills: caches and the gap between two launches differ.
constexpr double kRefilledFactor = 1.25;
constexpr std::size_t kRefilledSamples = 3;
constexpr double kLeastNs = 1;               ///< of a run whose refills took longer than the run with them, by chance
constexpr double kLongSampleSeconds = 0.05;  ///< of such samples, one is precise enough

}  // namespace

void summarise(Measurement& measurement, std::span<const double> clocks_mhz, std::size_t batch,
               const MeasureOptions& options) {
  const std::vector<double>& samples = measurement.samples_ns;
  const double step = clock_step(samples, kClockStepNs / double(batch));
  const MedianInterval interval = median_interval(samples);
  measurement.median_ns = median(samples);
  measurement.low_ns = std::max(0.0, interval.low - step / 2);
  measurement.high_ns = interval.high + step / 2;
  measurement.relative_noise = measurement.median_ns > 0 ? scaled_mad(samples) / measurement.median_ns : 0;
  measurement.cold = options.use == Use::single;
  measurement.clock_mhz = clocks_mhz.empty() ? 0 : median(clocks_mhz);
  if (step > 0)
    measurement.metrics["clock_step_ns"] = step;
  else
    measurement.metrics.erase("clock_step_ns");
}

double hang_floor_s(const Backend& backend, const MeasureOptions& options) {
  return traits(backend.device().key).shares_cores ? 5 * options.hang_floor_s : options.hang_floor_s;
}

Sampler::Sampler(Backend& backend, const MeasureOptions& options, std::function<void(double)> sleep)
    : backend_(backend), options_(options), sleep_(std::move(sleep)), random_(options.seed) {
  if (!sleep_) sleep_ = [](double s) { std::this_thread::sleep_for(std::chrono::duration<double>(s)); };
}

SampleRequest Sampler::request(const TimedWork& work, std::size_t samples, SampleRuns batch, double run_s) const {
  SampleRequest result{samples, batch.runs, options_.use, 0, work.prepare, work.refills, batch.is_refilled};
  // The limit is generous: a verified kernel rarely hangs, and the machine may be slow for a moment.
  result.timeout_s =
      5 * hang_floor_s(backend_, options_) + kHangFactor * double(samples) * (double(batch.runs) * run_s + 1e-3);
  return result;
}

double Sampler::typical_clock() const {
  const std::vector<double> values(clocks_.begin(), clocks_.end());
  return values.empty() ? 0 : median(values);
}

void Sampler::Group::add_to(Measurement& measurement, std::vector<double>& clocks) const {
  for (const Sample& sample : samples) {
    measurement.samples_ns.push_back(sample.ns);
    if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
  }
  measurement.throttled = measurement.throttled || throttled;
}

std::variant<Sampler::Group, Outcome> Sampler::take(const TimedWork& work, std::size_t samples, SampleRuns batch,
                                                    double run_s, double& pause_left_s, const Announce& announce) {
  const double sample_s = double(batch.runs) * run_s;
  const std::size_t at_once = sample_s > 0 ? std::size_t(std::clamp(kStepSeconds / sample_s, 1.0, 1e6)) : samples;
  return take(work, request(work, samples, batch, run_s), pause_left_s, announce, at_once, batch.is_refilled);
}

std::variant<Sampler::Group, Outcome> Sampler::take(const TimedWork& work, const SampleRequest& wanted,
                                                    double& pause_left_s, const Announce& announce, std::size_t at_once,
                                                    bool without_refills) {
  const bool is_checked = work.check != nullptr && (wanted.batch == 1 || wanted.refills_each_run || work.is_repeatable);
  Group group;
  std::vector<Sample> slow;
  double pause = kThrottlePauseSeconds;
  double sampling_s = 0, checking_s = 0;
  while (group.samples.size() < wanted.samples) {
    const std::size_t left = wanted.samples - group.samples.size();
    const bool checks_all_parts = is_checked && checking_s <= std::max(kSlowChecksSeconds, sampling_s);
    SampleRequest part = wanted;
    part.samples = work.restore ? 1 : checks_all_parts ? std::size_t(random_() % left) + 1 : left;
    part.samples = std::min(part.samples, at_once);
    if (work.restore) work.restore();
    announce(wanted.timeout_s);
    const auto start = Clock::now();
    SampleResult result = backend_.sample(work.launches, part);
    sampling_s += seconds_since(start);
    if (auto* error = std::get_if<LaunchError>(&result)) return Outcome(std::move(*error));
    if (auto* timeout = std::get_if<Timeout>(&result)) return Outcome(std::move(*timeout));
    auto& samples = std::get<std::vector<Sample>>(result);
    if (samples.empty()) return Outcome(LaunchError{"the backend took no samples"});
    const bool in_haste = in_haste_();
    if (is_checked && (checks_all_parts || in_haste || samples.size() >= left)) {
      const auto check_start = Clock::now();
      if (auto failure = work.check()) return std::move(*failure);
      checking_s += seconds_since(check_start);
    }
    if (without_refills)
      if (auto failure = take_off_refills(work, part, announce, samples)) return std::move(*failure);

    const double limit = kThrottledClock * typical_clock();
    slow.clear();
    for (const Sample& sample : samples)
      (sample.clock_mhz > 0 && sample.clock_mhz < limit ? slow : group.samples).push_back(sample);
    if (in_haste && !group.samples.empty()) break;
    if (slow.empty()) continue;
    group.throttled = true;
    if (pause_left_s < pause) {
      // The card stays slow, so slow samples are accepted. Later samples are compared with the new clock.
      group.samples.insert(group.samples.end(), slow.begin(), slow.end());
      continue;
    }
    pause_left_s -= pause;
    sleep_(pause);
    pause *= 2;
  }
  std::vector<double> clocks;
  for (const Sample& sample : group.samples)
    if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
  if (!clocks.empty()) clocks_.push_back(median(clocks));
  if (clocks_.size() > 32) clocks_.pop_front();
  return group;
}

/// Samples the refills of \p part by themselves, right after \p samples, so that both meet the same clock.
std::optional<Outcome> Sampler::take_off_refills(const TimedWork& work, const SampleRequest& part,
                                                 const Announce& announce, std::vector<Sample>& samples) {
  SampleRequest refilling = part;
  refilling.prepare = {};
  refilling.refills = work.refills;
  refilling.samples = samples.size();
  announce(part.timeout_s);
  SampleResult result = backend_.sample({}, refilling);
  if (auto* error = std::get_if<LaunchError>(&result)) return Outcome(std::move(*error));
  if (auto* timeout = std::get_if<Timeout>(&result)) return Outcome(std::move(*timeout));
  const auto& times = std::get<std::vector<Sample>>(result);
  samples.resize(std::min(samples.size(), times.size()));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].ns = std::max(samples[i].ns - times[i].ns, kLeastNs);
  return std::nullopt;
}

std::variant<double, Outcome> Sampler::median_of(const TimedWork& work, const SampleRequest& wanted,
                                                 double& pause_left_s, const Announce& announce) {
  auto taken = take(work, wanted, pause_left_s, announce);
  if (auto* failure = std::get_if<Outcome>(&taken)) return std::move(*failure);
  std::vector<double> times;
  for (const Sample& sample : std::get<Group>(taken).samples) times.push_back(sample.ns);
  return median(times);
}

std::variant<bool, Outcome> Sampler::repeats_its_work(const TimedWork& work, std::size_t batch, double run_s,
                                                      double& pause_left_s, const Announce& announce) {
  const std::size_t samples = double(batch) * run_s > kLongSampleSeconds ? 1 : kRefilledSamples;
  SampleRequest wanted = request(work, samples, {batch}, run_s);
  if (wanted.cold()) wanted.use = Use::hot;
  auto repeated = median_of(work, wanted, pause_left_s, announce);
  if (auto* failure = std::get_if<Outcome>(&repeated)) return std::move(*failure);
  wanted.refills_each_run = true;
  auto refilled = median_of(work, wanted, pause_left_s, announce);
  if (auto* failure = std::get_if<Outcome>(&refilled)) return std::move(*failure);
  TimedWork nothing;
  nothing.refills = work.refills;
  auto refilling = median_of(nothing, wanted, pause_left_s, announce);
  if (auto* failure = std::get_if<Outcome>(&refilling)) return std::move(*failure);
  // A GPU's launches have gaps, which depend on their neighbours.
  const double steps = options_.use == Use::graph ? 2 : 4;
  const double gaps_ns = traits(backend_.device().key).is_gpu ? steps * kClockStepNs : 0;
  const double work_ns = std::get<double>(refilled) - std::get<double>(refilling);
  return work_ns <= kRefilledFactor * std::get<double>(repeated) + gaps_ns;
}

std::variant<SampleRuns, Outcome> Sampler::batch_for(const TimedWork& work, double run_s, double& pause_left_s,
                                                     const Announce& announce) {
  if (options_.use == Use::single || !work.prepare.empty() || work.restore) return SampleRuns{};
  auto once = median_of(work, request(work, 1, {}, run_s), pause_left_s, announce);
  if (auto* failure = std::get_if<Outcome>(&once)) return std::move(*failure);
  const double ns = std::get<double>(once);
  if (options_.use == Use::hot && ns >= options_.batch_below_ns) return SampleRuns{};
  const bool in_graph = options_.use == Use::graph;
  const std::size_t launches = std::max<std::size_t>(work.launches.size(), 1);
  const std::size_t most = in_graph                      ? kMostNodes / (launches + work.refills.size())
                           : options_.use == Use::stream ? kMostQueued / launches
                                                         : kMostRuns;
  const auto runs = std::clamp<std::size_t>(std::size_t(std::ceil(kBatchNs / std::max(ns, 100.0))), 1,
                                            std::max<std::size_t>(most, 1));
  if (runs == 1 || work.refills.empty()) return SampleRuns{runs};
  auto repeats = repeats_its_work(work, runs, run_s, pause_left_s, announce);
  if (auto* failure = std::get_if<Outcome>(&repeats)) return std::move(*failure);
  if (std::get<bool>(repeats)) return SampleRuns{runs};
  return in_graph ? SampleRuns{runs, true} : SampleRuns{};
}

Outcome Sampler::measure(const TimedWork& work, double best_ns, double run_s, const Announce& announce) {
  const auto start = Clock::now();
  const std::size_t min_samples = std::max<std::size_t>(options_.min_samples, 1);
  const bool is_rough = best_ns > 0 && traits(backend_.device().key).shares_cores;
  const bool is_clear = is_rough && work.prepare.empty() && run_s * 1e9 > kClearlySlower * best_ns;
  const auto at_most = [](std::size_t samples, bool limited, std::size_t limit) {
    return limited ? std::min(samples, limit) : samples;
  };
  const std::size_t max_samples = std::max(at_most(options_.max_samples, is_rough, kMostOnSharedCores), min_samples);
  const bool may_abandon = best_ns > 0 && options_.abandon_factor > 0;
  const std::size_t few = at_most(options_.abandon_samples, is_clear, kFewestOnSharedCores);
  const std::size_t first = may_abandon ? std::clamp<std::size_t>(few, 1, min_samples) : min_samples;
  double pause_left_s = kThrottleBudgetSeconds;
  Measurement measurement;
  std::vector<double> clocks;

  auto runs = batch_for(work, run_s, pause_left_s, announce);
  if (auto* failure = std::get_if<Outcome>(&runs)) return std::move(*failure);
  const SampleRuns batch = std::get<SampleRuns>(runs);
  std::size_t next = first;
  while (true) {
    const auto group_start = Clock::now();
    auto taken = take(work, next, batch, run_s, pause_left_s, announce);
    if (auto* failure = std::get_if<Outcome>(&taken)) return std::move(*failure);
    std::get<Group>(taken).add_to(measurement, clocks);
    summarise(measurement, clocks, batch.runs, options_);

    const std::size_t n = measurement.samples_ns.size();
    if (may_abandon && measurement.low_ns > best_ns * options_.abandon_factor) {
      measurement.abandoned = true;
      return measurement;
    }
    if (in_haste_()) {
      if (n < 3) measurement.low_ns = 0, measurement.high_ns = 2 * measurement.median_ns;  // nothing is known of it
      return measurement;
    }
    if (n < min_samples) {
      next = min_samples - n;
      continue;
    }
    const double width =
        measurement.median_ns > 0 ? (measurement.high_ns - measurement.low_ns) / measurement.median_ns : 0;
    measurement.converged = width <= options_.target_width;
    const double spent = seconds_since(start);
    if (measurement.converged || n >= max_samples || spent >= options_.max_seconds) return measurement;
    const double sample_s = seconds_since(group_start) / double(next);
    next = std::min(still_missing(n, width, options_.target_width), max_samples - n);
    if (sample_s > 0)
      next = std::max<std::size_t>(std::min(next, std::size_t((options_.max_seconds - spent) / sample_s)), 1);
  }
}

}  // namespace tuner
