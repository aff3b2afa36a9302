// What is said where there is no driver, or where it refuses its counters.

#include <tuner/backend/cuda/driver/driver.hpp>

#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/observe/chip_metrics.hpp>
#include <tuner/backend/cuda/run/device_report.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cuda {
namespace {

TEST(Driver, SaysThatNoneIsInstalledWhenTheLibraryIsMissing) {
  const LoadedDriver loaded = load_driver("libcuda-that-is-not-there.so.1");
  EXPECT_FALSE(loaded.status.available);
  EXPECT_EQ(loaded.status.reason, "libcuda-that-is-not-there.so.1 not found: no NVIDIA driver is installed");
  EXPECT_EQ(loaded.status.devices, 0);
}

TEST(Driver, RefusesALibraryThatIsNoDriver) {
  const LoadedDriver loaded = load_driver("libm.so.6");
  EXPECT_FALSE(loaded.status.available);
  EXPECT_THAT(loaded.status.reason, HasSubstr("is not a CUDA driver"));
}

TEST(Driver, SaysItsVersionAsPeopleWriteIt) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12080), "12.8");
  EXPECT_EQ(version_text(11040), "11.4");
}

TEST(Driver, KnowsWhichErrorsLoseTheContext) {
  for (const CUresult lost : {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_LAUNCH_FAILED,
                              CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_ASSERT}) {
    EXPECT_TRUE(is_sticky(lost)) << lost;
  }
  for (const CUresult harmless : {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY,
                                  CUDA_ERROR_NOT_READY, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES}) {
    EXPECT_FALSE(is_sticky(harmless)) << harmless;
  }
}

TEST(Driver, EveryFaceGivesTheReasonWhenThereIsNoGpu) {
  if (driver_status().available) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(driver_version(), driver_status().version);
  const std::string& reason = driver_status().reason;
  EXPECT_FALSE(reason.empty());
  EXPECT_THAT([] { make_cuda_backend(); }, ThrowsMessage<Error>(HasSubstr(reason)));
  EXPECT_THAT([] { device_report(0); }, ThrowsMessage<Error>(HasSubstr(reason)));
  EXPECT_THAT([] { driver(); }, ThrowsMessage<Error>(HasSubstr(reason)));
}

TEST(ProfilingPermission, IsForAdministratorsAloneWhereTheDriverSaysSo) {
  EXPECT_TRUE(only_for_administrators("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nTCEBypassMode: 0\n"));
  EXPECT_FALSE(only_for_administrators("RmProfilingAdminOnly: 0\n"));
  EXPECT_FALSE(only_for_administrators(""));
}

TEST(ProfilingPermission, IsGivenByEitherCapability) {
  EXPECT_TRUE(is_administrator("Name:\tx\nCapEff:\t000001ffffffffff\n"));
  EXPECT_TRUE(is_administrator("CapEff:\t0000000000200000\n")) << "CAP_SYS_ADMIN";
  EXPECT_TRUE(is_administrator("CapEff:\t0000004000000000")) << "CAP_PERFMON";
  EXPECT_FALSE(is_administrator("CapPrm:\t0000004000000000\nCapEff:\t00000000a80425fb\n"));
  EXPECT_FALSE(is_administrator(""));
}

TEST(ProfilingPermission, NamesEachCure) {
  for (const char* const cure : {"NVreg_RestrictProfilingToAdminUsers=0", "CAP_SYS_ADMIN", "CAP_PERFMON", "R565"})
    EXPECT_THAT(permission_cure(), HasSubstr(cure));
}

}  // namespace
}  // namespace tuner::cuda
