/// blockReduce whose grid meets, on a GPU: sizes one by one, what is not resident at once, and its serving.

#include <string>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/single_run.hpp>

#include "sample.hpp"

namespace tuner {
namespace {

class GpuGridSync : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu_.backend) GTEST_SKIP() << gpu_.why_not;
  }

  Configuration configuration(const std::string& tail, const std::string& more) const {
    return testing::default_with(spec_, "finish=grid_sync tail=" + tail + ' ' + more);
  }

  void expect_right(std::int64_t n, const char* type, const Configuration& wanted) {
    SingleRun one(*gpu_.backend, spec_, {{{"n", n}}, {{"T", type}}}, wanted, testing::verify_only());
    const Trial trial = one.measure();
    EXPECT_TRUE(trial.verified) << "n=" << n << ' ' << type << ' ' << wanted.text() << ": " << kind(trial.outcome)
                                << ": " << message(trial.outcome);
  }

  const testing::Subject gpu_ = testing::subject();
  const KernelSpec spec_ = testing::built_in("blockReduce");
};

TEST_F(GpuGridSync, IsRightForEverySizeAndTail) {
  for (const char* const tail : {"barrier", "syncwarp", "shuffle_down", "shuffle_xor", "tile", "thread_group"})
    for (const std::int64_t n : {0, 1, 33, 4097, 100003})
      expect_right(n, "float", configuration(tail, "threads=128 grid_blocks=1024"));
}

TEST_F(GpuGridSync, IsRightForEveryTypeAndForMillions) {
  for (const char* const type : {"int", "float", "double"})
    expect_right(10'000'019, type, configuration("tile", "threads=256 grid_blocks=256"));
}

TEST_F(GpuGridSync, IsInvalidWithItsReasonWhereTheGridIsNotResidentAtOnce) {
  const Configuration large = configuration("shuffle_down", "threads=128 grid_blocks=10240");
  EXPECT_THAT(error_of([&] {
                SingleRun(*gpu_.backend, spec_, {{{"n", 10'000'000}}, {}}, large, testing::verify_only());
              }),
              HasSubstr("a cooperative grid of 10240 blocks of 128 threads is not resident at once"));
  expect_right(100'003, "float", large);  // 782 blocks
}

/// Shared memory, which only the compiler knows of, lets fewer blocks be resident than threads alone would.
TEST_F(GpuGridSync, IsInvalidWithItsReasonWhereWhatTheKernelTakesIsTooMuch) {
  const KernelSpec spec = parse_kernel_file(R"(
#pragma tuner kernel crowded
#pragma tuner size n = 1
#pragma tuner parameter of_each = 1 16
#pragma tuner out y[1] : int
#pragma tuner grid sm_count * of_each
#pragma tuner block 32
#pragma tuner cooperative
#pragma tuner arguments y
#pragma tuner instantiate crowded
#pragma tuner reference one
#pragma tuner default of_each=1
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
__global__ void crowded(int* y) {
  __shared__ int room[10000];
  room[threadIdx.x] = threadIdx.x + 1;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *y = room[0];
}
__global__ void one(int* y) { *y = 1; }
)",
                                            "crowded.cu");
  const auto outcome_of = [&](int of_each) {
    return SingleRun(*gpu_.backend, spec, {}, {{"of_each", of_each}}, testing::verify_only()).measure();
  };
  EXPECT_TRUE(outcome_of(1).verified);
  const Trial crowded = outcome_of(16);
  EXPECT_EQ(kind(crowded.outcome), "invalid");
  EXPECT_THAT(std::string(message(crowded.outcome)), HasSubstr("40000 bytes of shared memory: a cooperative grid of "));
}

}  // namespace
}  // namespace tuner
