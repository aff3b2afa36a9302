#include <tuner/core/suggestion.hpp>

#include <algorithm>

namespace tuner {

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  // Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one each.
  constexpr std::size_t longest = 100;
  if (name.size() > longest) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = name.size() < 3 ? 2 : name.size() < 6 ? 3 : 4;  // must be below this
  std::vector<std::size_t> before, previous, current;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest || candidate == name) continue;
    previous.resize(candidate.size() + 1);
    current.resize(candidate.size() + 1);
    for (std::size_t j = 0; j <= candidate.size(); ++j) previous[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      current[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const bool same = name[i - 1] == candidate[j - 1];
        current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && name[i - 1] == candidate[j - 2] && name[i - 2] == candidate[j - 1]) {
          current[j] = std::min(current[j], before[j - 2] + 1);
        }
      }
      before = previous;
      previous = current;
    }
    const std::size_t distance = previous[candidate.size()];
    // Names without a common letter are not misspellings of each other.
    if (distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const auto near = nearest_name(name, candidates);
  return near ? "; did you mean '" + *near + "'?" : std::string();
}

}  // namespace tuner
