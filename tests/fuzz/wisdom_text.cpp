/// libFuzzer: any bytes are exported results, or an ImportError; what was read is written in one form and reads as
/// itself.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cache/entries.hpp>
#include <cache/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner::cache;
  try {
    const auto entries = parse_entries({reinterpret_cast<const char*>(data), size}, "fuzz");
    const std::string text = entries_text(entries);
    std::string again;
    try {
      again = entries_text(parse_entries(text, "written"));
    } catch (const ImportError&) {
      __builtin_trap();  // what was accepted cannot be read back
    }
    if (again != text) __builtin_trap();
  } catch (const ImportError&) {
  }
  return 0;
}
