/// libFuzzer: recordings as JSON, Kernel Tuner's cache files and T4 results.

#include "recordings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tuner::replay::expect_recording_or_error(tuner::replay::parse_recording, data, size);
}
