#include <tuner/measure/sampler.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include <tuner/backend/traits.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/measure/statistics.hpp>

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

/// Short hot runs are repeated until a sample takes this time.
constexpr double kBatchNs = 200e3;
/// The step of the device's clock if samples do not show it. CUDA driver API, cuEventElapsedTime: "resolution of around
/// 0.5 microseconds".
constexpr double kClockStepNs = 500;

/// Samples with a clock below this part of the typical clock are taken again after a pause.
constexpr double kThrottledClock = 0.75;
constexpr double kThrottlePauseSeconds = 0.05;

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
  measurement.cold = options.cold;
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
    : backend_(backend), options_(options), sleep_(std::move(sleep)) {
  if (!sleep_) sleep_ = [](double s) { std::this_thread::sleep_for(std::chrono::duration<double>(s)); };
}

std::size_t Sampler::batch_for(double ns) const {
  if (options_.cold || ns >= options_.batch_below_ns) return 1;
  return std::clamp<std::size_t>(std::size_t(std::ceil(kBatchNs / std::max(ns, 100.0))), 1, 1000);
}

SampleRequest Sampler::request(std::size_t samples, std::size_t batch, double run_s,
                               std::span<const Launch> prepare) const {
  SampleRequest result{samples, batch, options_.cold, 0, prepare};
  // The limit is generous: a verified kernel rarely hangs, and the machine may be slow for a moment.
  result.timeout_s =
      5 * hang_floor_s(backend_, options_) + kHangFactor * double(samples) * (double(batch) * run_s + 1e-3);
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

std::variant<Sampler::Group, Outcome> Sampler::take(std::span<const Launch> launches, const SampleRequest& request,
                                                    double& pause_left_s) {
  Group group;
  std::vector<Sample> slow;
  double pause = kThrottlePauseSeconds;
  while (group.samples.size() < request.samples) {
    SampleRequest rest = request;
    rest.samples = request.samples - group.samples.size();
    SampleResult result = backend_.sample(launches, rest);
    if (auto* error = std::get_if<LaunchError>(&result)) return Outcome(std::move(*error));
    if (auto* timeout = std::get_if<Timeout>(&result)) return Outcome(std::move(*timeout));
    const auto& samples = std::get<std::vector<Sample>>(result);
    if (samples.empty()) return Outcome(LaunchError{"the backend took no samples"});

    const double limit = kThrottledClock * typical_clock();
    slow.clear();
    for (const Sample& sample : samples)
      (sample.clock_mhz > 0 && sample.clock_mhz < limit ? slow : group.samples).push_back(sample);
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

Outcome Sampler::measure(std::span<const Launch> launches, double best_ns, double run_s,
                         const std::function<void(double)>& before, std::span<const Launch> prepare) {
  const auto start = Clock::now();
  const std::size_t min_samples = std::max<std::size_t>(options_.min_samples, 1);
  const bool is_rough = best_ns > 0 && traits(backend_.device().key).shares_cores;
  const bool is_clear = is_rough && prepare.empty() && run_s * 1e9 > kClearlySlower * best_ns;
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
  std::size_t batch = 1;

  if (!options_.cold && prepare.empty()) {  // a first sample determines how many runs a sample needs
    const SampleRequest probe = request(1, 1, run_s);
    before(probe.timeout_s);
    auto taken = take(launches, probe, pause_left_s);
    if (auto* failure = std::get_if<Outcome>(&taken)) return std::move(*failure);
    batch = batch_for(std::get<Group>(taken).samples.front().ns);
  }

  std::size_t next = first;
  while (true) {
    const SampleRequest wanted = request(next, batch, run_s, prepare);
    before(wanted.timeout_s);
    const auto group_start = Clock::now();
    auto taken = take(launches, wanted, pause_left_s);
    if (auto* failure = std::get_if<Outcome>(&taken)) return std::move(*failure);
    std::get<Group>(taken).add_to(measurement, clocks);
    summarise(measurement, clocks, batch, options_);

    const std::size_t n = measurement.samples_ns.size();
    if (may_abandon && measurement.low_ns > best_ns * options_.abandon_factor) {
      measurement.abandoned = true;
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
