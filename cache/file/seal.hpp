#pragma once
/// The seal at the end of a frozen database: a hash of everything before it. It detects flipped bits and wrong copies,
/// not tampering. SQLite does not read it. Private to this room.

#include <optional>
#include <string>
#include <string_view>

namespace tuner::cache {

/// The seal for a database of these bytes.
std::string seal_of(std::string_view bytes);

/// The database in a file with these bytes, without its seal; nullopt when there is none, or the file has changed.
std::optional<std::string_view> unsealed(std::string_view file);

}  // namespace tuner::cache
