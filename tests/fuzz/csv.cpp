/// libFuzzer: recordings as CSV.

#include "recordings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tuner::replay::expect_recording_or_error(tuner::replay::parse_csv, data, size);
}
