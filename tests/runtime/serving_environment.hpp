#pragma once
/// A cache folder of its own for each test process, and no tuning unless a test asks for it.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace tuner::testing {

class ServingEnvironment : public ::testing::Test {
 protected:
  ServingEnvironment(const char* device, const char* tune)
      : folder_(std::filesystem::path(::testing::TempDir()) / ("serving-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    ::setenv("TUNER_CACHE_DIR", folder_.c_str(), 1);
    ::setenv("TUNER_DEVICE", device, 1);
    ::setenv("TUNER_TUNE", tune, 1);
    ::setenv("TUNER_TUNE_TIME", "1", 1);
  }
  ~ServingEnvironment() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const std::filesystem::path folder_;
};

}  // namespace tuner::testing
