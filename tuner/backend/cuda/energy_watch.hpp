#pragma once
/// Watches an energy counter while work runs, and says what its steps tell about the power. The counter is updated a
/// few times a second: energy is known at its steps alone, never at the beginning or end of the work.

#include <atomic>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include <tuner/backend/cuda/nvml.hpp>

namespace tuner::cuda {

/// The counter showed \p joules for the first time at \p seconds.
struct EnergyStep {
  double seconds = 0, joules = 0;
};

struct MeanPower {
  double watts = 0;
  double low = 0, high = 0;  ///< 95% confidence interval of the mean
  double seconds = 0;        ///< between the first and the last step
};
/// Of \p steps, in order of time. Unavailable when they are too few for an interval.
std::variant<MeanPower, Unavailable> mean_power(std::span<const EnergyStep> steps);

/// Reads a sensor in a thread of its own from the beginning to stop().
class EnergyWatch {
 public:
  /// \p sensor must outlive it, and is its alone until then.
  explicit EnergyWatch(EnergySensor& sensor);
  ~EnergyWatch();
  EnergyWatch(const EnergyWatch&) = delete;
  EnergyWatch& operator=(const EnergyWatch&) = delete;

  /// The steps seen, times in seconds since the beginning. The value found at the beginning is none of them: since
  /// when it stood there is not known.
  std::vector<EnergyStep> stop();

 private:
  std::vector<EnergyStep> steps_;
  std::atomic<bool> ended_ = false;
  std::thread reader_;
};

}  // namespace tuner::cuda
