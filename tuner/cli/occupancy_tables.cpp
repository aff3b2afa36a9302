#include <tuner/cli/occupancy_tables.hpp>

#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/occupancy.hpp>

namespace tuner::cli {
namespace {

using Align = Table::Align;

std::int64_t warps_of(const DeviceLimits& limits, std::int64_t threads) {
  return (threads + limits.warp_size - 1) / limits.warp_size;
}

std::string table_of(const std::string& title, const std::vector<OccupancyStep>& all, std::int64_t here,
                     const DeviceLimits& limits, const std::function<std::string(std::int64_t)>& amount) {
  Table table({{title, Align::right},
               {"blocks", Align::right},
               {"warps", Align::right},
               {"occupancy", Align::right},
               {"limited by"},
               {""}});
  const int warps = limits.max_threads_per_sm / limits.warp_size;
  const double most_warps = warps;
  std::int64_t below = -1;
  for (const OccupancyStep& range : all) {
    const Occupancy& got = range.occupancy;
    const bool is_here = below < here && here <= range.last;
    table.add({range.first == range.last ? amount(range.first)
                                         : fmt::format("{} to {}", amount(range.first), amount(range.last)),
               std::to_string(got.blocks_per_sm), fmt::format("{:.0f}", got.fraction * most_warps),
               format_percent(got.fraction), std::string(name(got.limiter)), is_here ? "<- this configuration" : ""});
    below = range.last;
  }
  return table.text();
}

nlohmann::json json_of(const std::vector<OccupancyStep>& all) {
  nlohmann::json out = nlohmann::json::array();
  for (const OccupancyStep& range : all)
    out.push_back({{"from", range.first},
                   {"to", range.last},
                   {"blocks_per_multiprocessor", range.occupancy.blocks_per_sm},
                   {"occupancy", range.occupancy.fraction},
                   {"limited_by", name(range.occupancy.limiter)}});
  return out;
}

/// "32": of a limit that admits any number, "any".
std::string admitted(int blocks) { return blocks == std::numeric_limits<int>::max() ? "any" : std::to_string(blocks); }

}  // namespace

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
  const auto number = [](std::int64_t amount) { return std::to_string(amount); };
  std::set<std::int64_t> sizes{need.threads};
  for (int threads = limits.warp_size; threads <= limits.max_threads_per_block; threads += threads < 256 ? 32 : 64)
    sizes.insert(threads);
  std::vector<OccupancyStep> each_size;
  for (const std::int64_t threads : sizes)
    each_size.push_back({threads, threads, occupancy(limits, threads, need.registers, need.shared_bytes)});
  return table_of("threads a block", each_size, need.threads, limits, number) + "\n" +
         table_of("registers a thread", by_registers(limits, need), need.registers, limits, number) + "\n" +
         table_of("shared memory a block", by_shared_bytes(limits, need), need.shared_bytes, limits, format_bytes);
}

nlohmann::json occupancy_json(const DeviceLimits& limits, const BlockNeed& need) {
  const Occupancy got = occupancy_of(limits, need);
  return {{"threads", need.threads},
          {"registers", need.registers},
          {"shared_bytes", need.shared_bytes},
          {"blocks_per_multiprocessor", got.blocks_per_sm},
          {"occupancy", got.fraction},
          {"limited_by", name(got.limiter)},
          {"best_block_sizes", best_block_sizes(limits, need.registers, need.shared_bytes)},
          {"by_threads", json_of(by_threads(limits, need))},
          {"by_registers", json_of(by_registers(limits, need))},
          {"by_shared_bytes", json_of(by_shared_bytes(limits, need))}};
}

nlohmann::json architectures_json() {
  nlohmann::json out = nlohmann::json::array();
  for (const std::string& name : cuda::known_architectures()) {
    const DeviceLimits limits = cuda::limits_of_architecture(name);
    const auto usual = cuda::usual_product(limits.compute_capability).value();
    out.push_back({{"architecture", name},
                   {"for_example", usual.name},
                   {"sm_count", usual.sm_count},
                   {"max_threads_per_sm", limits.max_threads_per_sm},
                   {"max_blocks_per_sm", limits.max_blocks_per_sm},
                   {"registers_per_sm", limits.registers_per_sm},
                   {"registers_per_block", limits.registers_per_block},
                   {"shared_bytes_per_sm", limits.shared_bytes_per_sm},
                   {"max_shared_bytes", limits.max_shared_bytes},
                   {"fp32_lanes_per_sm", cuda::cores_per_sm(limits.compute_capability)}});
  }
  return out;
}

std::string architectures_text() {
  Table table({{"architecture"},
               {"threads", Align::right},
               {"warps", Align::right},
               {"blocks", Align::right},
               {"registers", Align::right},
               {"of a block", Align::right},
               {"shared memory", Align::right},
               {"of a block", Align::right},
               {"FP32 lanes", Align::right},
               {"multiprocessors", Align::right},
               {"of a"}});
  for (const std::string& name : cuda::known_architectures()) {
    const DeviceLimits limits = cuda::limits_of_architecture(name);
    const auto usual = cuda::usual_product(limits.compute_capability).value();
    table.add({name, std::to_string(limits.max_threads_per_sm),
               std::to_string(limits.max_threads_per_sm / limits.warp_size), std::to_string(limits.max_blocks_per_sm),
               std::to_string(limits.registers_per_sm), std::to_string(limits.registers_per_block),
               format_bytes(limits.shared_bytes_per_sm), format_bytes(limits.max_shared_bytes),
               std::to_string(cuda::cores_per_sm(limits.compute_capability)), std::to_string(usual.sm_count),
               std::string(usual.name)});
  }
  return "Of one multiprocessor, and what one block may have of it; all have 32 threads a warp, and at most 1024\n"
         "threads a block and 255 registers a thread.\n\n" +
         table.text("");
}

}  // namespace tuner::cli
