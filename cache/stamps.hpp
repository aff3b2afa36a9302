#pragma once
/// What marks a record: when it was made, and a name that no other has. Private to this room.

#include <cstdint>
#include <optional>
#include <string>

namespace tuner::cache {

/// Milliseconds since 1970, UTC.
std::int64_t now_ms();
/// A random (version 4) uuid.
std::string make_uuid();
/// `2026-11-21T02:29:51.123Z`, and its inverse.
std::string instant_text(std::int64_t ms);
std::optional<std::int64_t> parse_instant(const std::string& text);

}  // namespace tuner::cache
