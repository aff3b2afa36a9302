#include <tuner/core/device.hpp>

#include <cmath>

namespace tuner {

double Ceilings::of_mix(double written) const {
  const double alone = std::abs(1 - 2 * written), copied = 1 - alone;
  double seconds = 0;  // for one byte; infinite if a rate is 0
  if (alone > 0) seconds += alone / (written < 0.5 ? read : write);
  if (copied > 0) seconds += copied / copy;
  return 1 / seconds;
}

std::string DeviceKey::text() const {
  if (backend == "host") return "host cpu=" + cpu + " cores=" + std::to_string(sm_count);
  return backend + " cc=" + std::to_string(compute_capability / 10) + '.' + std::to_string(compute_capability % 10) +
         " sm=" + std::to_string(sm_count) + " l2=" + std::to_string(l2_bytes) +
         " bus=" + std::to_string(memory_bus_bits) + " smem=" + std::to_string(max_shared_bytes) +
         " regs=" + std::to_string(registers_per_sm);
}

}  // namespace tuner
