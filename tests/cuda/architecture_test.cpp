#include <tuner/backend/cuda/architecture.hpp>

#include <tests/matchers.hpp>
#include <tuner/core/error.hpp>

namespace tuner::cuda {
namespace {

using ::testing::Property;
using ::testing::ThrowsMessage;

TEST(Architecture, ReadsTheComputeCapabilityFromItsName) {
  EXPECT_EQ(compute_capability("sm_90"), 90);
  EXPECT_EQ(compute_capability("sm_90a"), 90);
  EXPECT_EQ(compute_capability("sm_120"), 120);
  for (const char* wrong : {"", "sm_", "90", "compute_90", "sm_9", "sm_90x", "sm_90aa", "sm_-90", "host"}) {
    EXPECT_EQ(compute_capability(wrong), std::nullopt) << wrong;
  }
}

TEST(Architecture, KnowsTheLimitsOfTheProgrammingGuide) {
  const DeviceLimits turing = limits_of_architecture("sm_75");
  EXPECT_EQ(turing.max_threads_per_sm, 1024);
  EXPECT_EQ(turing.max_shared_bytes, 65536);
  EXPECT_EQ(turing.reserved_shared_bytes, 0);
  const DeviceLimits maxwell = limits_of_architecture("sm_53");
  EXPECT_EQ(maxwell.registers_per_block, 32768);
  EXPECT_EQ(maxwell.max_shared_bytes, 49152);
  const DeviceLimits hopper = limits_of_architecture("sm_90");
  EXPECT_EQ(hopper.sm_count, 132) << "of the product that stands for it";
  EXPECT_EQ(hopper.max_threads_per_sm, 2048);
  EXPECT_EQ(hopper.max_blocks_per_sm, 32);
  EXPECT_EQ(hopper.max_shared_bytes, 232448);
  EXPECT_EQ(hopper.shared_bytes_per_sm, 233472);
  EXPECT_EQ(hopper.compute_capability, 90);
  const DeviceLimits blackwell = limits_of_architecture("sm_120");
  EXPECT_EQ(blackwell.max_threads_per_sm, 1536);
  EXPECT_EQ(blackwell.max_blocks_per_sm, 24);
  EXPECT_EQ(blackwell.max_shared_bytes, 101376);
}

TEST(Architecture, EveryKnownOneHoldsItsOwnBlockLimits) {
  for (const std::string& architecture : known_architectures()) {
    const DeviceLimits limits = limits_of_architecture(architecture);
    EXPECT_EQ(architecture_name(limits.compute_capability), architecture);
    EXPECT_LE(limits.max_shared_bytes + limits.reserved_shared_bytes, limits.shared_bytes_per_sm) << architecture;
    EXPECT_GE(limits.max_threads_per_sm, limits.max_threads_per_block) << architecture;
    EXPECT_GT(cores_per_sm(limits.compute_capability), 0) << architecture;
  }
}

TEST(Architecture, GivesTheRatesOfTheWhitePapers) {
  // TFLOP/s at the clock in the white papers: A100 SXM 19.5 and 9.7, tensor cores 312; H100 SXM5 at 1.83 GHz 989.
  const Throughput ampere = throughput_per_sm(80), hopper = throughput_per_sm(90);
  EXPECT_NEAR(2 * cores_per_sm(80) * 108 * 1.41e-3, 19.5, 0.05);
  EXPECT_NEAR(2 * ampere.fp64 * 108 * 1.41e-3, 9.7, 0.05);
  EXPECT_NEAR(2 * ampere.tensor * 108 * 1.41e-3, 312, 0.5);
  EXPECT_NEAR(2 * hopper.tensor * 132 * 1.83e-3, 989, 1);
  EXPECT_NEAR(2 * throughput_per_sm(70).tensor * 80 * 1.53e-3, 125, 0.5) << "V100 SXM2";
  EXPECT_NEAR(2 * throughput_per_sm(70).fp64 * 80 * 1.53e-3, 7.8, 0.05);
  EXPECT_NEAR(2 * throughput_per_sm(75).tensor * 40 * 1.59e-3, 65, 0.5) << "T4";
  EXPECT_NEAR(2 * throughput_per_sm(86).tensor * 82 * 1.695e-3, 142, 0.5) << "RTX 3090";
  EXPECT_NEAR(2 * throughput_per_sm(89).tensor * 128 * 2.52e-3, 330, 0.5) << "RTX 4090";
  EXPECT_EQ(throughput_per_sm(35).fp64, 0);
}

TEST(Architecture, AnUnknownOneIsAnErrorThatListsTheKnownOnes) {
  EXPECT_THAT([] { limits_of_architecture("sm_35"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'sm_35'"), HasSubstr("sm_50"), HasSubstr("sm_121"))));
}

}  // namespace
}  // namespace tuner::cuda
