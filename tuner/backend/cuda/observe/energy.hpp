#pragma once
/// The energy of launches from a card's energy counter. The card updates the counter only a few times a second, so the
/// energy is known at these steps, but not at the beginning or end of the work. NVML (libnvidia-ml.so.1, a part of the
/// driver) reads the counter.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <tuner/backend/cuda/run/stream_timer.hpp>

namespace tuner::cuda {

/// Reads the energy counter of one card: joules since the driver was loaded, as of the card's last update; nullopt if
/// the card does not answer. Only one thread at a time may call it.
using EnergySensor = std::function<std::optional<double>()>;
/// The counter of the card at \p pci ("0000:1b:00.0"). \p file: for tests.
std::variant<EnergySensor, Unavailable> open_energy_sensor(const std::string& pci,
                                                           const char* file = "libnvidia-ml.so.1");

/// The counter showed \p joules for the first time at \p seconds.
struct EnergyStep {
  double seconds = 0, joules = 0;
};

struct MeanPower {
  double watts = 0;
  double low = 0, high = 0;  ///< 95% confidence interval of the mean
  double seconds = 0;        ///< between the first and the last step
};
/// The power between \p steps, in order of time. Unavailable when they are too few for an interval.
std::variant<MeanPower, Unavailable> mean_power(std::span<const EnergyStep> steps);

/// Reads a sensor on a separate thread, from construction to stop().
class EnergyWatch {
 public:
  /// \p sensor must outlive it. Until stop(), nobody else may use the sensor.
  explicit EnergyWatch(const EnergySensor& sensor);
  EnergyWatch(const EnergyWatch&) = delete;

  /// The steps, with times in seconds since construction. The first value read is not a step, because its time is
  /// unknown.
  std::vector<EnergyStep> stop();

 private:
  std::vector<EnergyStep> steps_;
  std::jthread reader_;  // the last member: it ends before the steps are destroyed
};

/// Like Backend::energy(), on \p stream in the current context. Runs \p launches back to back for as long as the sensor
/// needs.
EnergyResult measure_energy(const EnergySensor& sensor, std::span<PreparedLaunch> launches, CUstream stream,
                            double seconds);

}  // namespace tuner::cuda
