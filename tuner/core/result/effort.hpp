#pragma once
/// The meaning of each Effort, in one table: its word, and the limits that end its search.

#include <chrono>
#include <optional>
#include <string_view>

#include <tuner/core/result/objective.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/effort.hpp>

namespace tuner {

struct NamedEffort {
  std::string_view name;
  double gpu_s, host_s;   ///< Budget::wall_time on each; 0: none
  double until_unlikely;  ///< Budget::until_unlikely; 0: none
};
/// In the order of Effort. More effort means more time, or a search until an improvement is less likely.
inline constexpr NamedEffort kEfforts[] = {
    {"none", 0, 0, 0},  // no search
    {"quick", 10, 5, 0.05},
    {"normal", 60, 30, 0},
    {"thorough", 0, 0, 0.001},
};
inline constexpr const NamedEffort& named(Effort effort) { return kEfforts[static_cast<std::size_t>(effort)]; }
/// The effort with this word.
inline std::optional<Effort> effort_named(std::string_view name) {
  const NamedEffort* const at = find_named(kEfforts, name);
  return at == nullptr ? std::nullopt : std::optional(static_cast<Effort>(at - kEfforts));
}

/// The limits of a search with \p effort. Precondition: it is not `none`.
inline Budget limits_of(Effort effort, bool is_gpu) {
  const NamedEffort& meaning = named(effort);
  Budget limits;
  if (const double seconds = is_gpu ? meaning.gpu_s : meaning.host_s; seconds > 0)
    limits.wall_time = std::chrono::duration<double>(seconds);
  if (meaning.until_unlikely > 0) limits.until_unlikely = meaning.until_unlikely;
  return limits;
}

}  // namespace tuner
