#include <tuner/cli/occupancy_curves.hpp>

#include <functional>

namespace tuner::cli {
namespace {

constexpr std::int64_t kSharedUnit = 128;  // bytes; every architecture gives it in multiples of this

/// Of first, first + step, … up to \p last.
std::vector<OccupancyStep> ranges(std::int64_t first, std::int64_t last, std::int64_t step,
                                  const std::function<Occupancy(std::int64_t)>& of) {
  std::vector<OccupancyStep> out;
  for (std::int64_t amount = first; amount <= last; amount += step) {
    const Occupancy here = of(amount);
    if (!out.empty() && out.back().occupancy.blocks_per_sm == here.blocks_per_sm &&
        out.back().occupancy.fraction == here.fraction && out.back().occupancy.limiter == here.limiter)
      out.back().last = amount;
    else
      out.push_back({amount, amount, here});
  }
  return out;
}

/// \p need with another amount of one resource.
template <typename Change>
auto with(const DeviceLimits& limits, const BlockNeed& need, Change change) {
  return [&limits, need, change](std::int64_t amount) {
    BlockNeed other = need;
    change(other, amount);
    return occupancy_of(limits, other);
  };
}

}  // namespace

Occupancy occupancy_of(const DeviceLimits& limits, const BlockNeed& need) {
  return occupancy(limits, need.threads, need.registers, need.shared_bytes);
}

std::vector<OccupancyStep> by_threads(const DeviceLimits& limits, const BlockNeed& need) {
  return ranges(limits.warp_size, limits.max_threads_per_block, limits.warp_size,
                with(limits, need, [](BlockNeed& other, std::int64_t amount) { other.threads = amount; }));
}
std::vector<OccupancyStep> by_registers(const DeviceLimits& limits, const BlockNeed& need) {
  return ranges(1, limits.max_registers_per_thread, 1, with(limits, need, [](BlockNeed& other, std::int64_t amount) {
                  other.registers = static_cast<int>(amount);
                }));
}
std::vector<OccupancyStep> by_shared_bytes(const DeviceLimits& limits, const BlockNeed& need) {
  return ranges(0, limits.max_shared_bytes, kSharedUnit,
                with(limits, need, [](BlockNeed& other, std::int64_t amount) { other.shared_bytes = amount; }));
}

}  // namespace tuner::cli
