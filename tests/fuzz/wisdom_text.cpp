/// libFuzzer: any bytes are results to import, or a CacheError; what was imported is exported in one form and imports
/// as itself.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cache/exchange/exchange.hpp>

namespace {

std::string imported(std::string_view text) {
  auto database = tuner::cache::Database::in_memory();
  tuner::cache::import_text(database, text, "fuzz");
  return tuner::cache::export_all(database);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tuner::cache::CacheError;
  try {
    const std::string text = imported({reinterpret_cast<const char*>(data), size});
    try {
      if (imported(text) != text) __builtin_trap();
    } catch (const CacheError&) {
      __builtin_trap();  // what was accepted cannot be read back
    }
  } catch (const CacheError&) {
  }
  return 0;
}
