#pragma once
/// For tests of serving: a cache folder of its own for each test process, and no tuning unless a test asks for it.

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

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

}  // namespace tuner::testing
