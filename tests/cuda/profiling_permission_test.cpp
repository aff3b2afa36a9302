#include <tuner/backend/cuda/chip_metrics.hpp>

#include <tests/matchers.hpp>

namespace tuner::cuda {
namespace {

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
