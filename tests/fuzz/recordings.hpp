#pragma once
/// What the fuzzers of the readers of recordings expect.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/replay/read_recording.hpp>

namespace tuner::replay {

/// Any bytes are a recording, with a row for each configuration, or a RecordingError.
inline int expect_recording_or_error(Recording (*parse)(std::string_view, const std::string&), const std::uint8_t* data,
                                     std::size_t size) {
  try {
    const Recording recording = parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (recording.rows.size() != recording.space->size()) __builtin_trap();
    if (recording.valid_count() > recording.rows.size()) __builtin_trap();
  } catch (const RecordingError&) {
  }
  return 0;
}

}  // namespace tuner::replay
