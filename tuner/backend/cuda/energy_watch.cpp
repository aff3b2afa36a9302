#include <tuner/backend/cuda/energy_watch.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <tuner/core/elapsed.hpp>

namespace tuner::cuda {
namespace {

constexpr std::size_t kFewestParts = 4, kMostParts = 10;
/// Student's t, two-sided 95%, for 3 to 9 degrees of freedom.
constexpr std::array<double, 7> kStudent{3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};

double watts_between(const EnergyStep& from, const EnergyStep& to) {
  return (to.joules - from.joules) / (to.seconds - from.seconds);
}

}  // namespace

std::variant<MeanPower, Unavailable> mean_power(std::span<const EnergyStep> steps) {
  const std::size_t intervals = steps.empty() ? 0 : steps.size() - 1;
  if (intervals < kFewestParts) {
    return Unavailable{"the card's energy counter moved only " + std::to_string(steps.size()) +
                       " times while the kernel ran: ask for a longer window"};
  }
  MeanPower power;
  power.seconds = steps.back().seconds - steps.front().seconds;
  power.watts = watts_between(steps.front(), steps.back());
  // With enough steps, the parts are longer than the time over which the sensor averages, so they are independent.
  const std::size_t parts = std::min(intervals, kMostParts);
  double squares = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const double watts = watts_between(steps[part * intervals / parts], steps[(part + 1) * intervals / parts]);
    squares += (watts - power.watts) * (watts - power.watts);
  }
  const double n = static_cast<double>(parts);
  const double half = kStudent[parts - kFewestParts] * std::sqrt(squares / (n - 1) / n);
  power.low = power.watts - half;
  power.high = power.watts + half;
  return power;
}

EnergyWatch::EnergyWatch(EnergySensor& sensor)
    : reader_([this, &sensor] {
        const Clock::time_point begin = Clock::now();
        std::optional<double> last = sensor.joules();
        while (!ended_) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          const std::optional<double> joules = sensor.joules();
          if (!joules || joules == last) continue;
          if (last) steps_.push_back({seconds_since(begin), *joules});
          last = joules;
        }
      }) {}

EnergyWatch::~EnergyWatch() { (void)stop(); }

std::vector<EnergyStep> EnergyWatch::stop() {
  ended_ = true;
  if (reader_.joinable()) reader_.join();
  return std::move(steps_);
}

}  // namespace tuner::cuda
