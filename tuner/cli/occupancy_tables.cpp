#include <tuner/cli/occupancy_tables.hpp>

#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/occupancy.hpp>

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

std::int64_t warps_of(const DeviceLimits& limits, std::int64_t threads) {
  return (threads + limits.warp_size - 1) / limits.warp_size;
}

Table table_of(const std::string& title, const std::vector<OccupancyStep>& all, std::int64_t here,
               const DeviceLimits& limits, const std::function<std::string(std::int64_t)>& amount) {
  Table table({people(title), data("from"), data("to"), named("blocks", "blocks_per_multiprocessor"), people("warps"),
               "occupancy", named("limited by", "limited_by"), people("")});
  const int warps = limits.max_threads_per_sm / limits.warp_size;
  const double most_warps = warps;
  std::int64_t below = -1;
  for (const OccupancyStep& range : all) {
    const Occupancy& got = range.occupancy;
    const bool is_here = below < here && here <= range.last;
    const std::string first = amount(range.first);
    table.add({Cell::right(range.first == range.last ? first : fmt::format("{} to {}", first, amount(range.last))),
               range.first, range.last, got.blocks_per_sm,
               Cell::right(fmt::format("{:.0f}", got.fraction * most_warps)), Cell::percent(got.fraction),
               name(got.limiter), is_here ? "<- this configuration" : ""});
    below = range.last;
  }
  return table;
}

std::string number(std::int64_t amount) { return std::to_string(amount); }

Table threads_table(const DeviceLimits& limits, const BlockNeed& need, const std::vector<OccupancyStep>& all) {
  return table_of("threads a block", all, need.threads, limits, number);
}
Table registers_table(const DeviceLimits& limits, const BlockNeed& need) {
  return table_of("registers a thread", by_registers(limits, need), need.registers, limits, number);
}
Table shared_bytes_table(const DeviceLimits& limits, const BlockNeed& need) {
  return table_of("shared memory a block", by_shared_bytes(limits, need), need.shared_bytes, limits, format_bytes);
}

/// "32": of a limit that admits any number, "any".
std::string admitted(int blocks) { return blocks == std::numeric_limits<int>::max() ? "any" : std::to_string(blocks); }

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

std::string occupancy_facts(const DeviceLimits& limits, const BlockNeed& need) {
  const Occupancy got = occupancy_of(limits, need);
  const std::int64_t warps = warps_of(limits, need.threads);
  std::string each;
  for (const auto limiter : {OccupancyLimiter::threads, OccupancyLimiter::blocks, OccupancyLimiter::registers,
                             OccupancyLimiter::shared_memory})
    each += fmt::format("{}{} by {}", each.empty() ? "" : ", ",
                        admitted(got.blocks_by[static_cast<std::size_t>(limiter)]), name(limiter));
  std::vector<std::pair<std::string, std::string>> lines{
      {"blocks per multiprocessor", fmt::format("{}: {}", got.blocks_per_sm, each)},
      {"limited by", std::string(name(got.limiter))},
      {"theoretical occupancy", fmt::format("{}, {} of {} warps", format_percent(got.fraction),
                                            got.blocks_per_sm * warps, limits.max_threads_per_sm / limits.warp_size)}};
  if (const std::int64_t idle = warps * limits.warp_size - need.threads; idle > 0)
    lines.emplace_back("idle lanes",
                       fmt::format("{} of {}: a block is no whole number of warps", idle, warps * limits.warp_size));
  if (const std::vector<int> best = best_block_sizes(limits, need.registers, need.shared_bytes); !best.empty())
    lines.emplace_back(
        "best block sizes",
        fmt::format("{} threads: {}", fmt::join(best, " "),
                    format_percent(occupancy(limits, best.front(), need.registers, need.shared_bytes).fraction)));
  return facts(lines, "  ");
}

std::string occupancy_tables(const DeviceLimits& limits, const BlockNeed& need) {
  std::set<std::int64_t> sizes{need.threads};
  for (int threads = limits.warp_size; threads <= limits.max_threads_per_block; threads += threads < 256 ? 32 : 64)
    sizes.insert(threads);
  std::vector<OccupancyStep> each_size;
  for (const std::int64_t threads : sizes)
    each_size.push_back({threads, threads, occupancy(limits, threads, need.registers, need.shared_bytes)});
  return threads_table(limits, need, each_size).text() + "\n" + registers_table(limits, need).text() + "\n" +
         shared_bytes_table(limits, need).text();
}

Json occupancy_json(const DeviceLimits& limits, const BlockNeed& need) {
  const Occupancy got = occupancy_of(limits, need);
  return {{"threads", need.threads},
          {"registers", need.registers},
          {"shared_bytes", need.shared_bytes},
          {"blocks_per_multiprocessor", got.blocks_per_sm},
          {"occupancy", got.fraction},
          {"limited_by", name(got.limiter)},
          {"best_block_sizes", best_block_sizes(limits, need.registers, need.shared_bytes)},
          {"by_threads", threads_table(limits, need, by_threads(limits, need)).json()},
          {"by_registers", registers_table(limits, need).json()},
          {"by_shared_bytes", shared_bytes_table(limits, need).json()}};
}

Table architectures_table() {
  Table table({"architecture", named("threads", "max_threads_per_sm"), people("warps"),
               named("blocks", "max_blocks_per_sm"), named("registers", "registers_per_sm"),
               named("of a block", "registers_per_block"), named("shared memory", "shared_bytes_per_sm"),
               named("of a block", "max_shared_bytes"), named("FP32 lanes", "fp32_lanes_per_sm"),
               named("multiprocessors", "sm_count"), named("of a", "for_example")});
  for (const std::string& name : cuda::known_architectures()) {
    const DeviceLimits limits = cuda::limits_of_architecture(name);
    const auto usual = cuda::usual_product(limits.compute_capability).value();
    table.add({name, limits.max_threads_per_sm, limits.max_threads_per_sm / limits.warp_size, limits.max_blocks_per_sm,
               limits.registers_per_sm, limits.registers_per_block, Cell::bytes(limits.shared_bytes_per_sm),
               Cell::bytes(limits.max_shared_bytes), cuda::cores_per_sm(limits.compute_capability), usual.sm_count,
               usual.name});
  }
  return table;
}

}  // namespace tuner::cli
