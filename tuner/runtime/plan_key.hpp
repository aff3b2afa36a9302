#pragma once
/// What makes two launches of one kernel the same: sizes, the pattern of arguments, the device context. Comparing and
/// hashing it is the whole cost of finding a plan.

#include <cstdint>
#include <optional>

#include <tuner/kernel.hpp>
#include <tuner/problem.hpp>

namespace tuner::runtime {

struct PlanKey {
  std::uint64_t context = 0;  ///< of the device; see served_device.hpp
  std::uint64_t pattern = 0;  ///< four bits an argument: element code + 1, kVoidPointer or kNumber; 0: none
  Sizes sizes;

  friend bool operator==(const PlanKey&, const PlanKey&) = default;

  std::uint64_t hash() const {
    std::uint64_t h = context * 0x9e3779b97f4a7c15u ^ pattern;
    for (std::size_t i = 0; i < sizes.count(); ++i) {
      h = (h ^ static_cast<std::uint64_t>(sizes[i])) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return h;
  }
};

inline constexpr std::uint64_t kVoidPointer = 13;
inline constexpr std::uint64_t kNumber = 14;
inline constexpr std::size_t kMaxArguments = 16;

/// Nothing for more than kMaxArguments.
inline std::optional<std::uint64_t> pattern_of(const detail::LaunchArgument* arguments, std::size_t count) {
  if (count > kMaxArguments) return std::nullopt;
  std::uint64_t pattern = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t code = !arguments[i].is_pointer   ? kNumber
                               : arguments[i].element < 0 ? kVoidPointer
                                                          : static_cast<std::uint64_t>(arguments[i].element) + 1;
    pattern |= code << (4 * i);
  }
  return pattern;
}

}  // namespace tuner::runtime
