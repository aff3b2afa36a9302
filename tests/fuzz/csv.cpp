/// libFuzzer: recorded spaces as CSV.

#include "recorded_spaces.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tuner::replay::expect_space_or_error(tuner::replay::parse_csv, data, size);
}
