// The main() of every test program. Exit status 77, which CTest reports as skipped, when no test ran: each one skipped
// itself, or this shard has none. A filter of CTest's that matches nothing is an error: its tests were renamed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  // A person's GTEST_FILTER replaces the filter that CTest gives.
  const bool is_by_name = std::getenv("GTEST_FILTER") != nullptr;
  if (is_by_name) {
    const auto is_filter = [](const char* word) { return std::string_view(word).starts_with("--gtest_filter="); };
    argc = static_cast<int>(std::remove_if(argv, argv + argc, is_filter) - argv);
  }
  ::testing::InitGoogleMock(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
  if (tests.test_to_run_count() == 0 && !is_by_name && std::getenv("GTEST_TOTAL_SHARDS") == nullptr) {
    std::fprintf(stderr, "no test matches the filter\n");
    return 1;
  }
  const bool none_ran = tests.test_to_run_count() == tests.skipped_test_count();
  return status == 0 && none_ran ? 77 : status;
}
