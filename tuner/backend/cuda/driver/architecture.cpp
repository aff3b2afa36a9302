#include <tuner/backend/cuda/driver/architecture.hpp>

#include <algorithm>
#include <array>

#include <tuner/core/values/characters.hpp>
#include <tuner/error.hpp>

namespace tuner::cuda {
namespace {

struct Row {
  int compute_capability;
  int threads_per_sm;
  int blocks_per_sm;
  int shared_kib_per_sm;
  int shared_kib_per_block;  ///< after opting in
  int reserved_kib;
  int cores_per_sm;
  int registers_per_block;
  UsualProduct usual;
  Throughput throughput;
};

// The same for all: block and grid dimensions, and 48 KB of shared memory without opting in. Fermi and Kepler (20 to
// 37) are here for the occupancy of the textbooks, because no toolkit of today compiles for them.
constexpr std::array<Row, 24> kRows{{
    {20, 1536, 8, 48, 48, 0, 32, 32768, {"Tesla C2050", 14}, {16, 0}},
    {21, 1536, 8, 48, 48, 0, 48, 32768, {"GeForce GTX 460", 7}, {4, 0}},
    {30, 2048, 16, 48, 48, 0, 192, 65536, {"GeForce GTX 680", 8}, {8, 0}},
    {35, 2048, 16, 48, 48, 0, 192, 65536, {"Tesla K40", 15}, {64, 0}},
    {37, 2048, 16, 112, 48, 0, 192, 65536, {"Tesla K80", 13}, {64, 0}},
    {50, 2048, 32, 64, 48, 0, 128, 65536, {"GeForce GTX 750 Ti", 5}, {4, 0}},
    {52, 2048, 32, 96, 48, 0, 128, 65536, {"Tesla M40", 24}, {4, 0}},
    {53, 2048, 32, 64, 48, 0, 128, 32768, {"Jetson TX1", 2}, {4, 0}},
    {60, 2048, 32, 64, 48, 0, 64, 65536, {"Tesla P100", 56}, {32, 0}},
    {61, 2048, 32, 96, 48, 0, 128, 65536, {"Tesla P40", 30}, {4, 0}},
    {62, 2048, 32, 64, 48, 0, 128, 32768, {"Jetson TX2", 2}, {4, 0}},
    {70, 2048, 32, 96, 96, 0, 64, 65536, {"Tesla V100", 80}, {32, 512}},
    {72, 2048, 32, 96, 96, 0, 64, 65536, {"Jetson AGX Xavier", 8}, {32, 512}},
    {75, 1024, 16, 64, 64, 0, 64, 65536, {"T4", 40}, {2, 512}},
    {80, 2048, 32, 164, 163, 1, 64, 65536, {"A100", 108}, {32, 1024}},
    {86, 1536, 16, 100, 99, 1, 128, 65536, {"A40", 84}, {2, 512}},
    {87, 1536, 16, 164, 163, 1, 128, 65536, {"Jetson AGX Orin", 16}, {}},
    {89, 1536, 24, 100, 99, 1, 128, 65536, {"L40S", 142}, {2, 512}},
    {90, 2048, 32, 228, 227, 1, 128, 65536, {"H100 or H200 SXM", 132}, {64, 2048}},
    {100, 2048, 32, 228, 227, 1, 128, 65536, {"B200", 148}, {64, 4096}},
    {103, 2048, 32, 228, 227, 1, 128, 65536, {"B300", 148}, {0, 4096}},
    {110, 1536, 24, 228, 227, 1, 128, 65536, {"Jetson AGX Thor", 20}, {}},
    {120, 1536, 24, 100, 99, 1, 128, 65536, {"GeForce RTX 5090", 170}, {2, 512}},
    {121, 1536, 24, 100, 99, 1, 128, 65536, {"GB10", 48}, {2, 512}},
}};

int registers_per_sm(int compute_capability) {
  return compute_capability < 30 ? 32768 : compute_capability == 37 ? 131072 : 65536;
}

const Row* find_row(std::optional<int> compute_capability) {
  const auto* const at = std::find_if(kRows.begin(), kRows.end(),
                                      [&](const Row& row) { return row.compute_capability == compute_capability; });
  return at == kRows.end() ? nullptr : at;
}

}  // namespace

std::optional<int> compute_capability(std::string_view architecture) {
  if (!architecture.starts_with("sm_")) return std::nullopt;
  architecture.remove_prefix(3);
  if (architecture.ends_with('a') || architecture.ends_with('f')) architecture.remove_suffix(1);
  const std::optional<int> number = number_of<int>(architecture);
  return number && *number >= 10 && *number <= 999 ? number : std::nullopt;
}

std::string architecture_name(int compute_capability) { return "sm_" + std::to_string(compute_capability); }

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(architecture_name(row.compute_capability));
  return names;
}

DeviceLimits limits_of_architecture(std::string_view architecture) {
  const Row* const row = find_row(compute_capability(architecture));
  if (row == nullptr) {
    std::string known;
    for (const std::string& name : known_architectures()) known += ' ' + name;
    throw Error("unknown architecture '" + std::string(architecture) + "'; known are" + known);
  }
  DeviceLimits limits;
  limits.max_shared_bytes = row->shared_kib_per_block * std::int64_t{1024};
  limits.shared_bytes_per_sm = row->shared_kib_per_sm * std::int64_t{1024};
  limits.reserved_shared_bytes = row->reserved_kib * std::int64_t{1024};
  limits.registers_per_block = row->registers_per_block;
  limits.registers_per_sm = registers_per_sm(row->compute_capability);
  if (row->compute_capability < 35) limits.max_registers_per_thread = 63;
  if (row->compute_capability < 30) limits.max_grid[0] = 65535;
  limits.fp32_lanes_per_sm = row->cores_per_sm;
  limits.sm_count = row->usual.sm_count;
  limits.max_threads_per_sm = row->threads_per_sm;
  limits.max_blocks_per_sm = row->blocks_per_sm;
  limits.compute_capability = row->compute_capability;
  limits.cooperative_launch = row->compute_capability >= 60;
  return limits;
}

std::optional<UsualProduct> usual_product(int compute_capability) {
  const Row* const row = find_row(compute_capability);
  return row != nullptr ? std::optional(row->usual) : std::nullopt;
}

int cores_per_sm(int compute_capability) {
  const Row* const row = find_row(compute_capability);
  return row != nullptr ? row->cores_per_sm : 0;
}

Throughput throughput_per_sm(int compute_capability) {
  const Row* const row = find_row(compute_capability);
  return row != nullptr ? row->throughput : Throughput{};
}

}  // namespace tuner::cuda
