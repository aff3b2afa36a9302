#pragma once
/// The energy counter of a card, read by NVML (libnvidia-ml.so.1, a part of the driver), which is loaded at run time.
/// Not every toolkit has NVML's header, so its functions are declared here. They have not changed since Volta.

#include <memory>
#include <string>
#include <variant>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// The energy counter of one card. Only one thread at a time may use it.
class EnergySensor {
 public:
  virtual ~EnergySensor() = default;
  /// Joules since the driver was loaded, as of the card's last update; nullopt if the card does not answer.
  virtual std::optional<double> joules() = 0;
};

/// The counter of the card at \p pci ("0000:1b:00.0"). \p library: for tests.
std::variant<std::unique_ptr<EnergySensor>, Unavailable> open_energy_sensor(const std::string& pci,
                                                                            const char* library = "libnvidia-ml.so.1");

}  // namespace tuner::cuda
