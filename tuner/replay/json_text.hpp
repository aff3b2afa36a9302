#pragma once
/// JSON with its faults placed: what the readers of recordings share. Internal to the room.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <tuner/core/value.hpp>

namespace tuner::replay {

/// Parses \p text. When it ends too early (an interrupted writer), the open brackets are closed; when that is not
/// enough, what follows the last complete entry at depth 2 is dropped. Throws RecordingError with the line.
nlohmann::json parse_json(std::string_view text, const std::string& origin);

/// `file:line: ` of the first place where \p needle stands, or `file: `.
std::string place_of(std::string_view needle, std::string_view text, const std::string& origin);

/// A parameter's value: numbers that are not integers become text, because a Value has no fractions.
Value json_value(const nlohmann::json& value);

/// Member \p key of \p object as a number, or \p fallback when it is absent or no number.
double number_or(const nlohmann::json& object, const char* key, double fallback);

}  // namespace tuner::replay
