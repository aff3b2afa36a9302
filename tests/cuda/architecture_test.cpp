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
  struct Row {
    const char* name;
    std::int64_t threads_per_sm, blocks_per_sm, shared_per_block, shared_per_sm, reserved, registers_per_block;
  };
  const Row rows[] = {{"sm_53", 2048, 32, 49152, 65536, 0, 32768},
                      {"sm_75", 1024, 16, 65536, 65536, 0, 65536},
                      {"sm_90", 2048, 32, 232448, 233472, 1024, 65536},
                      {"sm_120", 1536, 24, 101376, 102400, 1024, 65536}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const DeviceLimits limits = limits_of_architecture(row.name);
    EXPECT_EQ(limits.max_threads_per_sm, row.threads_per_sm);
    EXPECT_EQ(limits.max_blocks_per_sm, row.blocks_per_sm);
    EXPECT_EQ(limits.max_shared_bytes, row.shared_per_block);
    EXPECT_EQ(limits.shared_bytes_per_sm, row.shared_per_sm);
    EXPECT_EQ(limits.reserved_shared_bytes, row.reserved);
    EXPECT_EQ(limits.registers_per_block, row.registers_per_block);
  }
  EXPECT_EQ(limits_of_architecture("sm_90").sm_count, 132) << "of the product that stands for it";
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
  EXPECT_EQ(throughput_per_sm(99).fp64, 0);
}

TEST(Architecture, AnUnknownOneIsAnErrorThatListsTheKnownOnes) {
  EXPECT_THAT([] { limits_of_architecture("sm_40"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'sm_40'"), HasSubstr("sm_20"), HasSubstr("sm_121"))));
}

}  // namespace
}  // namespace tuner::cuda
