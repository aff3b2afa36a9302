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
  EXPECT_EQ(not_resident(meeting(20, 1024), 20, limits), std::nullopt);
  EXPECT_EQ(not_resident(meeting(20, 1024), 10, limits),
            "a cooperative grid of 20 blocks of 1024 threads is not resident at once: 1 on each of 10 multiprocessors "
            "are 10");
}

LaunchShape clustered(std::array<std::int64_t, 3> grid, std::array<std::int64_t, 3> cluster) {
  LaunchShape shape{grid, {128, 1, 1}, 0};
  shape.cluster = cluster;
  return shape;
}

DeviceLimits cluster_limits() {
  DeviceLimits limits;
  limits.compute_capability = 90;
  limits.sm_count = 132;
  return limits;
}

TEST(LaunchShape, ConsistsOfWholeClusters) {
  EXPECT_EQ(violated_limit(clustered({4, 6, 1}, {2, 3, 1}), cluster_limits()), std::nullopt);
  EXPECT_EQ(violated_limit(clustered({16, 1, 1}, {16, 1, 1}), cluster_limits()), std::nullopt);
  EXPECT_EQ(violated_limit(clustered({4, 7, 1}, {2, 3, 1}), cluster_limits()),
            "grid of 4x7x1 does not consist of clusters of 2x3x1: its extent in y is not a multiple of 3");
  EXPECT_EQ(violated_limit(clustered({4, 6, 1}, {0, 1, 1}), cluster_limits()),
            "cluster of 0x1x1 is empty: its extent in x is 0");
  EXPECT_EQ(violated_limit(clustered({32, 1, 1}, {32, 1, 1}), cluster_limits()),
            "cluster of 32x1x1 exceeds the limit of 16 in x");
  EXPECT_EQ(violated_limit(clustered({8, 4, 1}, {8, 4, 1}), cluster_limits()),
            "cluster of 8x4x1 = 32 blocks exceeds the limit of 16 blocks");
}

TEST(LaunchShape, HasClustersAndDependentLaunchesOnlyWhereTheDeviceDoes) {
  DeviceLimits ampere = cluster_limits();
  ampere.compute_capability = 86;
  LaunchShape dependent = clustered({4, 1, 1}, {1, 1, 1});
  EXPECT_EQ(violated_limit(dependent, ampere), std::nullopt);
  dependent.dependent = true;
  EXPECT_EQ(violated_limit(clustered({4, 1, 1}, {2, 1, 1}), ampere),
            "a launch with a cluster needs compute capability 9.0, and this device has 8.6");
  EXPECT_EQ(violated_limit(dependent, ampere),
            "a dependent launch needs compute capability 9.0, and this device has 8.6");
  EXPECT_EQ(violated_limit(dependent, cluster_limits()), std::nullopt);
  EXPECT_EQ(violated_limit(clustered({4, 1, 1}, {2, 1, 1}), {}), std::nullopt) << "the host";
}

TEST(LaunchShape, PrefersAShareOfSharedMemory) {
  LaunchShape shape = clustered({4, 1, 1}, {1, 1, 1});
  EXPECT_FALSE(shape.has_attributes());
  for (const std::int64_t share : {0, 50, 100}) {
    shape.carveout = share;
    EXPECT_TRUE(shape.has_attributes());
    EXPECT_EQ(violated_limit(shape, {}), std::nullopt);
  }
  shape.carveout = 101;
  EXPECT_EQ(violated_limit(shape, {}), "carveout of 101 is not a share in percent (-1 leaves it to the driver)");
}

TEST(LaunchShape, TakesTheClusterThatItsKernelIsCompiledFor) {
  LaunchShape shape = clustered({8, 2, 1}, {1, 1, 1});
  EXPECT_EQ(adopt_cluster(shape, {}), std::nullopt);
  EXPECT_EQ(shape, clustered({8, 2, 1}, {1, 1, 1}));
  EXPECT_EQ(adopt_cluster(shape, {4, 2, 1}), std::nullopt);
  EXPECT_EQ(shape, clustered({8, 2, 1}, {4, 2, 1}));
  EXPECT_EQ(adopt_cluster(shape, {4, 2, 1}), std::nullopt) << "the same in the launch";
  EXPECT_EQ(adopt_cluster(shape, {2, 1, 1}),
            "the launch has a cluster of 4x2x1, and its kernel is compiled for one of 2x1x1 (__cluster_dims__): make "
            "them equal, or remove one");
  LaunchShape odd = clustered({9, 1, 1}, {1, 1, 1});
  EXPECT_EQ(adopt_cluster(odd, {2, 1, 1}),
            "grid of 9x1x1 does not consist of clusters of 2x1x1: its extent in x is not a multiple of 2");
}

TEST(LaunchShape, OfCooperativeClustersIsResidentByWhatTheDeviceHolds) {
  LaunchShape shape = clustered({128, 1, 1}, {16, 1, 1});
  shape.cooperative = true;
  EXPECT_EQ(not_resident(shape, 128, cluster_limits()), std::nullopt);
  EXPECT_EQ(not_resident(shape, 112, cluster_limits()),
            "a cooperative grid of 128 blocks of 128 threads is not resident at once: the device holds 112");
}

}  // namespace
}  // namespace tuner
