#pragma once
/// Reads JSON of other programs. Internal to the room.

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace tuner::convert {

/// Throws Error for more than \p most nested levels, because recursive functions read and write them, and
/// nlohmann::json::exception for a text that is not JSON.
nlohmann::json parse_json(const std::string& text, int most, const std::filesystem::path& file);

/// A string's contents; any other value as JSON.
std::string text_of(const nlohmann::json& value);
/// The beginning of text_of(), for messages.
std::string beginning_of(const nlohmann::json& value);

}  // namespace tuner::convert
