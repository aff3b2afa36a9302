#pragma once
/// JSON of other programs, as the readers take it. Internal to the room.

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace tuner::convert {

/// Throws Error for what is nested in more than \p most levels, which is walked and written again level by level on the
/// stack, and nlohmann::json::exception for what is no JSON.
nlohmann::json parse_json(const std::string& text, int most, const std::filesystem::path& file);

/// A text itself, everything else as JSON writes it.
std::string text_of(const nlohmann::json& value);
/// The first of what text_of() says, for messages.
std::string beginning_of(const nlohmann::json& value);

}  // namespace tuner::convert
