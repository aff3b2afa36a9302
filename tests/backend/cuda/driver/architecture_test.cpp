// Each architecture, and how many blocks of a kernel fit on it.

#include <random>

#include <cuda_occupancy.h>

#include <tuner/backend/cuda/driver/architecture.hpp>

#include <tuner/core/device/launch_shape.hpp>
#include <tuner/error.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cuda {
namespace {

using ::testing::Property;

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

/// The results of NVIDIA's calculator for a kernel that opts in to the shared memory it uses.
cudaOccResult expected(const DeviceLimits& limits, int threads, int registers, std::int64_t static_shared,
                       std::int64_t dynamic_shared) {
  cudaOccDeviceProp device;
  device.computeMajor = limits.compute_capability / 10;
  device.computeMinor = limits.compute_capability % 10;
  device.maxThreadsPerBlock = limits.max_threads_per_block;
  device.maxThreadsPerMultiprocessor = limits.max_threads_per_sm;
  device.regsPerBlock = limits.registers_per_block;
  device.regsPerMultiprocessor = limits.registers_per_sm;
  device.warpSize = limits.warp_size;
  device.sharedMemPerBlock = static_cast<std::size_t>(limits.shared_bytes_per_block);
  device.sharedMemPerMultiprocessor = static_cast<std::size_t>(limits.shared_bytes_per_sm);
  device.numSms = 1;
  device.sharedMemPerBlockOptin = static_cast<std::size_t>(limits.max_shared_bytes);
  device.reservedSharedMemPerBlock = static_cast<std::size_t>(limits.reserved_shared_bytes);
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = limits.max_threads_per_block;
  function.numRegs = registers;
  function.sharedSizeBytes = static_cast<std::size_t>(static_shared);
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(dynamic_shared);
  function.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads,
                                                    static_cast<std::size_t>(dynamic_shared)),
            CUDA_OCC_SUCCESS);
  return result;
}

unsigned bit(OccupancyLimiter limiter) {
  switch (limiter) {
    case OccupancyLimiter::threads:
      return OCC_LIMIT_WARPS;
    case OccupancyLimiter::blocks:
      return OCC_LIMIT_BLOCKS;
    case OccupancyLimiter::registers:
      return OCC_LIMIT_REGISTERS;
    case OccupancyLimiter::shared_memory:
      return OCC_LIMIT_SHARED_MEMORY;
  }
  return 0;
}

class OccupancyOf : public ::testing::TestWithParam<std::string> {};

TEST_P(OccupancyOf, EqualsTheToolkitsCalculatorForRandomKernels) {
  const DeviceLimits limits = limits_of_architecture(GetParam());
  std::mt19937 random(20240607);
  std::uniform_int_distribution<int> any_threads(1, 1024), any_registers(0, limits.max_registers_per_thread),
      percent(0, 99);
  std::uniform_int_distribution<std::int64_t> any_static(0, 49152), any_shared(0, limits.max_shared_bytes);
  for (int i = 0; i < 5000; ++i) {
    const int threads =
        percent(random) < 50 ? any_threads(random) : any_threads(random) / 32 * 32 + 32 * (i % 2 == 0 ? 0 : 1);
    if (threads < 1 || threads > 1024) continue;
    const int registers = percent(random) < 50 ? any_registers(random) : any_registers(random) / 4;
    const std::int64_t fixed = percent(random) < 60 ? 0 : any_static(random) / (1 + percent(random));
    const std::int64_t dynamic =
        percent(random) < 40 ? 0 : std::max<std::int64_t>(0, any_shared(random) / (1 + i % 16) - fixed);
    const Occupancy actual = occupancy(limits, threads, registers, fixed + dynamic);
    const cudaOccResult wanted = expected(limits, threads, registers, fixed, dynamic);
    ASSERT_EQ(actual.blocks_per_sm, wanted.activeBlocksPerMultiprocessor)
        << threads << " threads, " << registers << " registers, " << fixed << " + " << dynamic << " bytes";
    if (actual.blocks_per_sm > 0) {
      ASSERT_NE(bit(actual.limiter) & wanted.limitingFactors, 0u)
          << name(actual.limiter) << " for " << threads << " threads, " << registers << " registers";
    }
  }
}

std::string parameter_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

/// The toolkit's calculator knows them from Kepler on.
std::vector<std::string> calculated_architectures() {
  std::vector<std::string> names = known_architectures();
  std::erase_if(names, [](const std::string& name) { return name == "sm_20" || name == "sm_21"; });
  return names;
}
INSTANTIATE_TEST_SUITE_P(EachArchitecture, OccupancyOf, ::testing::ValuesIn(calculated_architectures()),
                         parameter_name);

TEST(Occupancy, OfFermiIsThatOfTheTextBooks) {
  const DeviceLimits fermi = limits_of_architecture("sm_20");
  // 48 warps, 8 blocks, 32768 registers in units of 64 a warp, 48 KiB in units of 128 bytes
  EXPECT_DOUBLE_EQ(occupancy(fermi, 192, 20, 0).fraction, 1.0);
  EXPECT_EQ(occupancy(fermi, 64, 16, 0).blocks_per_sm, 8);
  EXPECT_EQ(occupancy(fermi, 256, 33, 0).blocks_per_sm, 3);  // 1088 registers a warp
  EXPECT_EQ(occupancy(fermi, 128, 16, 9 * 1024).blocks_per_sm, 5);
  EXPECT_EQ(occupancy(fermi, 128, 70, 0).blocks_per_sm, 0);
}

TEST(Occupancy, NamesWhatLimitsIt) {
  const DeviceLimits hopper = limits_of_architecture("sm_90");
  struct Row {
    std::int64_t threads;
    int registers;
    std::int64_t shared;
    int blocks;
    double fraction;
    OccupancyLimiter limiter;
  };
  const Row rows[] = {
      {1024, 32, 0, 2, 1.0, OccupancyLimiter::threads},
      {32, 16, 0, 32, 0.5, OccupancyLimiter::blocks},
      {256, 64, 0, 4, 0.5, OccupancyLimiter::registers},
      {256, 32, 100 * 1024, 2, 0.25, OccupancyLimiter::shared_memory},
      {1024, 128, 0, 0, 0.0, OccupancyLimiter::registers},
      {256, 32, 228 * 1024, 0, 0.0, OccupancyLimiter::shared_memory},
      {1025, 32, 0, 0, 0.0, OccupancyLimiter::threads},
  };
  for (const Row& row : rows) {
    const Occupancy actual = occupancy(hopper, row.threads, row.registers, row.shared);
    EXPECT_EQ(actual.blocks_per_sm, row.blocks) << row.threads << ' ' << row.registers << ' ' << row.shared;
    EXPECT_DOUBLE_EQ(actual.fraction, row.fraction) << row.threads << ' ' << row.registers << ' ' << row.shared;
    EXPECT_EQ(actual.limiter, row.limiter) << row.threads << ' ' << row.registers << ' ' << row.shared;
  }
}

}  // namespace
}  // namespace tuner::cuda
