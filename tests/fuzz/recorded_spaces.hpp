#pragma once
/// What the fuzzers of the readers of recorded spaces expect.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/replay/read_recorded_space.hpp>

namespace tuner::replay {

/// Any bytes are a recorded space, with a row for each configuration, or a RecordedSpaceError.
inline int expect_space_or_error(RecordedSpace (*parse)(std::string_view, const std::string&), const std::uint8_t* data,
                                 std::size_t size) {
  try {
    const RecordedSpace recorded = parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (recorded.rows.size() != recorded.space->size()) __builtin_trap();
    if (recorded.valid_count() > recorded.rows.size()) __builtin_trap();
  } catch (const RecordedSpaceError&) {
  }
  return 0;
}

}  // namespace tuner::replay
