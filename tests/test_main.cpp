// The main() of every test program. Exit status 77, which CTest reports as skipped, when no test ran: none matched the
// filter, or each one skipped itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
  const bool none_ran = tests.test_to_run_count() == tests.skipped_test_count();
  return status == 0 && none_ran ? 77 : status;
}
