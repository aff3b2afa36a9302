#include <tuner/core/values/passing.hpp>

#include <cerrno>
#include <cstring>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(Passing, AreFailuresThatAnotherMomentMayNotHave) {
  for (const int number : {EMFILE, ENFILE, ENOMEM, EAGAIN, EIO}) {
    EXPECT_TRUE(is_passing(number));
    EXPECT_TRUE(is_passing(std::string("libcuda.so.1: cannot open shared object file: ") + std::strerror(number)));
  }
  for (const int number : {ENOENT, EACCES, ENOEXEC, 0}) {
    EXPECT_FALSE(is_passing(number));
    EXPECT_FALSE(is_passing(std::strerror(number)));
  }
}

TEST(Passing, SayWhatToDoAboutDescriptors) {
  EXPECT_THAT(system_text(EMFILE), AllOf(StartsWith(std::strerror(EMFILE)), HasSubstr("ulimit -n")));
  EXPECT_EQ(system_text(ENOENT), std::strerror(ENOENT));
}

}  // namespace
}  // namespace tuner
