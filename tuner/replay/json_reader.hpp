#pragma once
/// Reads the recorded spaces of other programs that write JSON.

#include <cstddef>
#include <string>
#include <string_view>

#include <tuner/replay/recorded_space.hpp>

namespace tuner::replay {

// A larger file is refused before it fills the memory: files come from strangers.
inline constexpr std::size_t kMostJsonValues = std::size_t{1} << 24;
inline constexpr std::size_t kMostJsonDepth = 64;

/// JSON of T4 or of Kernel Tuner, as parse_recorded_space() (read_recorded_space.hpp) accepts it. Throws
/// RecordedSpaceError.
RecordedSpace parse_json(std::string_view text, const std::string& origin);

}  // namespace tuner::replay
