#pragma once
/// For tests of serving: one cache folder for each test process, and no tuning unless a test asks for it.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tuner/kernel.hpp>

#include <tests/error_of.hpp>
#include <tests/temporary_folder.hpp>

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

}  // namespace tuner::testing
