#pragma once
/// JSON for all rooms. Its parser and its printer take seconds to compile, so that only json.cpp has them.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tuner {

using Json = nlohmann::ordered_json;

/// Throws Json::exception if \p text is not JSON.
Json json_of_text(std::string_view text);
/// Returns a discarded value if \p text is not JSON, or has more brackets in each other than any record: copying and
/// printing such a value would exhaust the stack.
Json json_or_discarded(std::string_view text);
/// Whether \p text has more brackets in each other than any record.
bool nests_deeply(std::string_view text);

/// The fault of a text that is not JSON, in the library's words. Leaves out tag and place of its message, which is
/// `[json.exception.parse_error.101] parse error at line 1, column 2: WORDS`, or without a place
/// `[json.exception.out_of_range.406] WORDS`.
std::string json_fault(const Json::exception& error);

/// In one line, unless \p indent is at least 0. Text that is not UTF-8 is repaired. \p ascii: without other characters.
std::string text_of_json(const Json& value, int indent = -1, bool ascii = false);

}  // namespace tuner
