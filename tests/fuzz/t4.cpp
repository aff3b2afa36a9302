/// libFuzzer: any bytes are a recording (T4 results), or a RecordingError; a recording has a row for each
/// configuration.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tuner/replay/read_recording.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner::replay;
  try {
    const Recording recording = parse_recording({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (recording.rows.size() != recording.space.size()) __builtin_trap();
    if (recording.optimum().has_value() != (recording.valid_count() > 0)) __builtin_trap();
  } catch (const RecordingError&) {
  }
  return 0;
}
