#pragma once
/// NVML (libnvidia-ml.so.1, part of the driver), loaded at run time for one thing: a card's energy counter. Its
/// interface is declared here, since the header is not part of every toolkit; it has been the same since Volta.

#include <memory>
#include <string>
#include <variant>

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// The energy counter of one card. One thread at a time.
class EnergySensor {
 public:
  virtual ~EnergySensor() = default;
  /// Joules since the driver was loaded, in steps of what the card updates it by; nothing when it does not answer.
  virtual std::optional<double> joules() = 0;
};

/// Of the card at \p pci ("0000:1b:00.0"). \p library: for tests.
std::variant<std::unique_ptr<EnergySensor>, Unavailable> open_energy_sensor(const std::string& pci,
                                                                            const char* library = "libnvidia-ml.so.1");

}  // namespace tuner::cuda
