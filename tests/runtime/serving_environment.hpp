#pragma once
/// For tests of serving: one cache folder for each test process, and no tuning unless a test asks for it.

#include <cstdlib>
#include <filesystem>

#include <tuner/kernel.hpp>
#include <tuner/settings.hpp>

#include <tests/support/stored_tuning.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner::testing {

/// The process's cache folder: databases stay open as long as the process, so it is removed at the very end.
inline const std::filesystem::path& cache_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

class ServingEnvironment : public ::testing::Test {
 protected:
  ServingEnvironment(const char* device, const char* tune) {
    ::setenv("TUNER_CACHE_DIR", cache_folder().c_str(), 1);
    ::unsetenv("TUNER_FROZEN");
    ::setenv("TUNER_DEVICE", device, 1);
    ::setenv("TUNER_TUNE", tune, 1);
    ::setenv("TUNER_TUNE_TIME", "1", 1);
  }
};

/// Collects the process's warnings until the end of its life.
class CollectedWarnings {
 public:
  CollectedWarnings() {
    Settings settings;
    settings.on_warning = [this](std::string_view message) { texts.emplace_back(message); };
    configure(settings);
  }
  ~CollectedWarnings() { configure({}); }
  CollectedWarnings(const CollectedWarnings&) = delete;
  CollectedWarnings& operator=(const CollectedWarnings&) = delete;

  std::vector<std::string> texts;
};

/// \p text with \p by for each \p word.
inline std::string replaced(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

/// The kernel \p name of a text in which the name is NAME: the process keeps what it knows of a kernel, so tests that
/// must not share that use names that differ.
inline Kernel kernel_named(const std::string& name, std::string_view text) {
  return Kernel::from_source(replaced(std::string(text), "NAME", name), name + ".cu");
}

/// The same for a kernel of one size in blocks of 32 or 64 threads: \p more are its other lines, and its code.
inline Kernel kernel_of_blocks(const std::string& name, const std::string& more) {
  return kernel_named(name, R"(#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter block = 32 64
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
)" + more);
}

}  // namespace tuner::testing
