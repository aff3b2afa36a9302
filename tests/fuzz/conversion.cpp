/// libFuzzer: T1 descriptions, Kernel Tuner scripts, and what Kernel Launcher writes and reads.

#include <cstddef>
#include <cstdint>
#include <string>

#include <tuner/convert/conversion.hpp>
#include <tuner/core/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const tuner::convert::Conversion made = tuner::convert::convert_text(text, "/nowhere/file", "/nowhere");
    if (made.text.empty()) __builtin_trap();
  } catch (const tuner::Error&) {
  }
  return 0;
}
