#include <tuner/core/launch_shape.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace tuner {
namespace {

TEST(LaunchShape, FitsWithinTheLimits) {
  EXPECT_EQ(violated_limit({{2147483647, 65535, 65535}, {1024, 1, 1}, 49152}, {}), std::nullopt);
  EXPECT_EQ(violated_limit({{1, 1, 1}, {4, 4, 64}, 0}, {}), std::nullopt);
}

TEST(LaunchShape, NamesTheLimitItExceeds) {
  EXPECT_EQ(violated_limit({{1, 1, 1}, {256, 8, 1}, 0}, {}),
            "block of 256x8x1 = 2048 threads exceeds the limit of 1024 threads per block");
  EXPECT_EQ(violated_limit({{1, 1, 1}, {1, 1, 65}, 0}, {}), "block of 1x1x65 exceeds the limit of 64 in z");
  EXPECT_EQ(violated_limit({{1, 65536, 1}, {1, 1, 1}, 0}, {}), "grid of 1x65536x1 exceeds the limit of 65535 in y");
  EXPECT_EQ(violated_limit({{2147483648, 1, 1}, {1, 1, 1}, 0}, {}),
            "grid of 2147483648x1x1 exceeds the limit of 2147483647 in x");
  EXPECT_EQ(violated_limit({{1, 1, 1}, {1, 1, 1}, 49153}, {}),
            "dynamic shared memory of 49153 bytes exceeds the limit of 49152 bytes per block");
}

TEST(LaunchShape, RefusesEmptyAndNegativeExtents) {
  EXPECT_EQ(violated_limit({{0, 1, 1}, {32, 1, 1}, 0}, {}), "grid of 0x1x1 is empty: its extent in x is 0");
  EXPECT_EQ(violated_limit({{1, 1, 1}, {32, -1, 1}, 0}, {}), "block of 32x-1x1 is empty: its extent in y is -1");
  EXPECT_EQ(violated_limit({{1, 1, 1}, {32, 1, 1}, -4}, {}), "dynamic shared memory of -4 bytes is negative");
}

TEST(LaunchShape, DoesNotOverflowWhenItCountsThreads) {
  EXPECT_EQ(violated_limit({{1, 1, 1}, {INT64_MAX, 2, 2}, 0}, {}),
            "block of 9223372036854775807x2x2 exceeds the limit of 1024 threads per block");
}

}  // namespace
}  // namespace tuner
