#include <tuner/backend/cuda/architecture.hpp>

#include <array>
#include <charconv>

#include <tuner/core/error.hpp>

namespace tuner::cuda {
namespace {

struct Row {
  int compute_capability;
  int threads_per_sm;
  int blocks_per_sm;
  int shared_kib_per_sm;
  int shared_kib_per_block;  ///< opted in
  int reserved_kib;
  int cores_per_sm;
};

// Registers (65536 per SM and block, 255 per thread), block and grid dimensions and the 48 KB of shared memory without
// opting in are the same for all of them.
constexpr std::array<Row, 11> kRows{{
    {75, 1024, 16, 64, 64, 0, 64},
    {80, 2048, 32, 164, 163, 1, 64},
    {86, 1536, 16, 100, 99, 1, 128},
    {87, 1536, 16, 164, 163, 1, 128},
    {89, 1536, 24, 100, 99, 1, 128},
    {90, 2048, 32, 228, 227, 1, 128},
    {100, 2048, 32, 228, 227, 1, 128},
    {103, 2048, 32, 228, 227, 1, 128},
    {110, 1536, 24, 228, 227, 1, 128},
    {120, 1536, 24, 100, 99, 1, 128},
    {121, 1536, 24, 100, 99, 1, 128},
}};

}  // namespace

std::optional<int> compute_capability(std::string_view architecture) {
  if (!architecture.starts_with("sm_")) return std::nullopt;
  architecture.remove_prefix(3);
  int number = 0;
  const char* end = architecture.data() + architecture.size();
  const auto [rest, error] = std::from_chars(architecture.data(), end, number);
  if (error != std::errc() || number < 10 || number > 999) return std::nullopt;
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (!suffix.empty() && suffix != "a" && suffix != "f") return std::nullopt;
  return number;
}

std::string architecture_name(int compute_capability) { return "sm_" + std::to_string(compute_capability); }

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(architecture_name(row.compute_capability));
  return names;
}

DeviceLimits limits_of_architecture(std::string_view architecture) {
  const std::optional<int> wanted = compute_capability(architecture);
  for (const Row& row : kRows) {
    if (wanted != row.compute_capability) continue;
    DeviceLimits limits;
    limits.max_shared_bytes = row.shared_kib_per_block * std::int64_t{1024};
    limits.shared_bytes_per_sm = row.shared_kib_per_sm * std::int64_t{1024};
    limits.reserved_shared_bytes = row.reserved_kib * std::int64_t{1024};
    limits.max_threads_per_sm = row.threads_per_sm;
    limits.max_blocks_per_sm = row.blocks_per_sm;
    limits.compute_capability = row.compute_capability;
    return limits;
  }
  std::string known;
  for (const std::string& name : known_architectures()) known += ' ' + name;
  throw Error("unknown architecture '" + std::string(architecture) + "'; known are" + known);
}

int cores_per_sm(int compute_capability) {
  for (const Row& row : kRows) {
    if (row.compute_capability == compute_capability) return row.cores_per_sm;
  }
  return 0;
}

}  // namespace tuner::cuda
