#include <tuner/core/device/launch_shape.hpp>

#include <tests/support/testing.hpp>

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

LaunchShape meeting(std::int64_t blocks, std::int64_t threads, std::int64_t shared_bytes = 0) {
  return {{blocks, 1, 1}, {threads, 1, 1}, shared_bytes, true};
}

TEST(LaunchShape, OfACooperativeLaunchIsResidentAtOnce) {
  DeviceLimits limits;
  limits.sm_count = 132;
  EXPECT_EQ(violated_limit(meeting(2112, 128), limits), std::nullopt);
  EXPECT_EQ(violated_limit(meeting(2113, 128), limits),
            "a cooperative grid of 2113 blocks of 128 threads is not resident at once: 16 on each of 132 "
            "multiprocessors are 2112");
  EXPECT_EQ(violated_limit(meeting(264, 1000), limits), std::nullopt) << "31.25 warps count as 32";
  EXPECT_THAT(violated_limit(meeting(265, 1000), limits), ::testing::Ne(std::nullopt));
  EXPECT_EQ(violated_limit(meeting(32 * 132, 1), limits), std::nullopt) << "32 blocks, however small";
  EXPECT_THAT(violated_limit(meeting(32 * 132 + 1, 1), limits), ::testing::Ne(std::nullopt));
  LaunchShape ordinary = meeting(1 << 20, 128);
  ordinary.cooperative = false;
  EXPECT_EQ(violated_limit(ordinary, limits), std::nullopt);
}

TEST(LaunchShape, OfACooperativeLaunchNeedsADeviceThatHasThem) {
  DeviceLimits limits;
  limits.cooperative_launch = false;
  EXPECT_EQ(violated_limit(meeting(1, 32), limits), "this device has no cooperative launches");
}

TEST(LaunchShape, IsResidentByWhatItsKernelLeavesRoomFor) {
  DeviceLimits limits;
  limits.sm_count = 10;
  EXPECT_EQ(not_resident(meeting(20, 1024), 2, limits), std::nullopt);
  EXPECT_EQ(not_resident(meeting(20, 1024), 1, limits),
            "a cooperative grid of 20 blocks of 1024 threads is not resident at once: 1 on each of 10 multiprocessors "
            "are 10");
}

}  // namespace
}  // namespace tuner
