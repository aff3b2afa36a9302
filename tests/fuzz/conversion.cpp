/// libFuzzer: T1 descriptions, Kernel Tuner scripts, and what Kernel Launcher writes and reads; behind the first line
/// `// f.cu`, the text of the kernel that they are held against.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <tests/temporary_folder.hpp>
#include <tuner/convert/conversion.hpp>
#include <tuner/core/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tuner::testing::TemporaryFolder folder;
  static const std::string line = "\n// f.cu\n";
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t kernel = text.find(line);
  const std::filesystem::path source = folder.path() / "f.cu";
  if (kernel == std::string::npos) {
    std::filesystem::remove(source);
  } else {
    std::ofstream(source, std::ios::binary) << text.substr(kernel + line.size());
  }
  try {
    const tuner::convert::Conversion made =
        tuner::convert::convert_text(text.substr(0, kernel), folder.path() / "file", folder.path());
    if (made.text.empty()) __builtin_trap();
  } catch (const tuner::Error&) {
  }
  return 0;
}
