#pragma once
/// What somebody may have meant by a name that does not exist.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// The one of \p candidates nearest to \p name by edit distance, when it is near enough to be a misspelling.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// `; did you mean 'name'?`, or nothing when none is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tuner
