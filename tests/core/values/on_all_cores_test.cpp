#include <array>
#include <atomic>
#include <stdexcept>

#include <tuner/core/values/threads.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

TEST(OnAllCores, CallsEachIndexOnce) {
  std::array<std::atomic<int>, 1000> calls{};
  on_all_cores(calls.size(), [&](std::size_t i) { ++calls[i]; });
  for (const std::atomic<int>& one : calls) EXPECT_EQ(one, 1);
  on_all_cores(0, [](std::size_t) { FAIL(); });
}

TEST(OnAllCores, EndsWithTheFirstException) {
  constexpr std::size_t many = 1'000'000'000;
  std::atomic<std::size_t> calls{0};
  const auto fails = [&](std::size_t i) {
    ++calls;
    if (i == 100) throw std::runtime_error("no more");
  };
  EXPECT_THROW(on_all_cores(many, fails), std::runtime_error);
  EXPECT_LT(calls, many);
}

}  // namespace
}  // namespace tuner
