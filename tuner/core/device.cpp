#include <tuner/core/device.hpp>

namespace tuner {

std::string DeviceKey::text() const {
  if (backend == "host") return "host cpu=" + cpu + " cores=" + std::to_string(sm_count);
  return backend + " cc=" + std::to_string(compute_capability / 10) + '.' + std::to_string(compute_capability % 10) +
         " sm=" + std::to_string(sm_count) + " l2=" + std::to_string(l2_bytes) +
         " bus=" + std::to_string(memory_bus_bits) + " smem=" + std::to_string(max_shared_bytes) +
         " regs=" + std::to_string(registers_per_sm);
}

}  // namespace tuner
