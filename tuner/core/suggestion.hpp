#pragma once
/// Suggestions for misspelt names.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// The candidate that is nearest to \p name by edit distance, if \p name may be a misspelling of it.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// `; did you mean 'name'?`, or nothing if no candidate is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tuner
