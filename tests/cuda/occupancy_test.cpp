#include <tuner/core/launch_shape.hpp>

#include <gtest/gtest.h>

#include <cuda_occupancy.h>

#include <random>

#include <tuner/backend/cuda/architecture.hpp>

namespace tuner::cuda {
namespace {

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
