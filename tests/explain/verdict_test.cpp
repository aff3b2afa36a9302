// Kernels whose limit is known by construction, on a device of round numbers.

#include <tuner/explain/verdict.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

/// A GPU of 100 multiprocessors, 1 TB/s, 10 TFLOP/s, 300 ns a load (500 ns under load) and 2 us a launch.
VerdictInput input_of(double us, std::int64_t blocks = 10'000, std::int64_t threads = 256) {
  VerdictInput input;
  input.ns = us * 1e3;
  input.device.limits.sm_count = 100;
  input.device.limits.compute_capability = 90;
  input.device.limits.fp32_lanes_per_sm = 128;
  input.device.key.l2_bytes = 50'000'000;
  input.device.ceilings.loaded_latency_ns = 500;
  input.device.peaks.latency_ns = 300;
  input.device.peaks.launch_ns = 2000;
  input.memory_rate = 1e12;
  input.arithmetic_rate = 10e12;
  LaunchDetail launch;
  launch.shape.grid[0] = blocks;
  launch.shape.block[0] = threads;
  launch.occupancy = Occupancy{8, 1.0, OccupancyLimiter::threads};
  input.launches = {launch};
  return input;
}

constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kBarrier = "smsp__warp_issue_stalled_barrier_per_warp_active.pct";
constexpr const char* kSharedMemory = "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed";

TEST(Verdict, NamesTheLimit) {
  const struct {
    const char* kernel;
    double us;
    std::int64_t blocks;
    double bytes, flops;
    std::map<std::string, double> metrics;
    Limit limit;
    const char* reason;
  } table[] = {
      {"a copy at the rate of memory", 1000, 10'000, 9e8, 0, {}, Limit::dram, "900 GB/s, 90% of the 1.00 TB/s"},
      {"multiply-adds at the peak", 1000, 10'000, 1e7, 8e9, {}, Limit::arithmetic, ""},
      {"as short as an empty one", 2.5, 100, 1e4, 0, {}, Limit::launch, "2.00 us of its 2.50 us"},
      {"one block alone", 1000, 1, 1e7, 0, {}, Limit::latency, "its blocks occupy 1 of 100 multiprocessors"},
      {"busy shared memory", 1000, 10'000, 1e8, 0, {{kSharedMemory, 95}}, Limit::shared_memory, ""},
      {"waits at barriers", 1000, 10'000, 1e8, 0, {{kBarrier, 55}}, Limit::latency, "at barriers for 55%"},
      {"waits at barriers", 1000, 10'000, 1e8, 0, {{"stall_sync", 55}}, Limit::latency, "at barriers for 55%"},
      {"L2 about as busy as memory", 1000, 10'000, 0, 0, {{kDram, 63}, {kL2, 65}}, Limit::dram, ""},
      {"L2 busier than memory", 1000, 10'000, 0, 0, {{kDram, 63}, {kL2, 90}}, Limit::l2, ""},
  };
  for (const auto& [kernel, us, blocks, bytes, flops, metrics, limit, reason] : table) {
    VerdictInput input = input_of(us, blocks);
    if (bytes > 0) input.bytes = bytes;
    if (flops > 0) input.flops = flops;
    input.metrics = metrics;
    const Verdict verdict = explain(input);
    EXPECT_EQ(verdict.limit, limit) << kernel;
    EXPECT_THAT(verdict.reason, HasSubstr(reason)) << kernel;
    EXPECT_EQ(verdict.counted, !metrics.empty()) << kernel;
    if (limit == Limit::arithmetic) {
      EXPECT_NEAR(verdict.busiest, 0.8, 1e-9);
    }
    if (blocks == 1) {
      EXPECT_THAT(verdict.remarks, Contains(HasSubstr("99 of 100 multiprocessors without work")));
    }
  }
}

TEST(Verdict, WhatFitsIntoL2AndStayedThereIsLimitedByL2) {
  VerdictInput input = input_of(20);
  input.bytes = 3e7;
  input.cold = false;
  EXPECT_EQ(explain(input).limit, Limit::l2);
}

TEST(Verdict, BlamesBytesInFlightOnlyForTheRateThatTheyAllow) {
  VerdictInput input = input_of(1000);
  input.bytes = 1e8;
  input.thread_bytes = 8;
  input.launches.front().occupancy = Occupancy{1, 0.125, OccupancyLimiter::shared_memory};
  // 25,600 resident threads with 8 bytes each are 41% of the 500 kB that 1 TB/s needs at 500 ns.
  const Verdict slow = explain(input);
  EXPECT_EQ(slow.limit, Limit::latency);
  EXPECT_THAT(slow.numbers,
              Contains(HasSubstr("488.3 KiB are needed to keep 1.00 TB/s going, as a load then takes 500 ns")));
  EXPECT_THAT(slow.numbers, Contains(HasSubstr("resident threads have 200 KiB")));
  EXPECT_THAT(slow.reason, HasSubstr("as its bytes in flight would allow 41% of memory's rate"));
  input.ns = 3e5;
  EXPECT_THAT(explain(input).reason, HasSubstr("200 KiB are in flight where 488.3 KiB are needed"));
}

TEST(Verdict, NamesTheStartingOfBlocksWhereItTakesMostOfTheTime) {
  VerdictInput input = input_of(1000, 1'000'000, 128);
  input.bytes = 1e8;
  input.device.peaks.block_ns = 0.9;
  const Verdict verdict = explain(input);
  EXPECT_EQ(verdict.limit, Limit::launch);
  EXPECT_THAT(verdict.reason, HasSubstr("starting its 1000000 blocks takes about 900 us of its 1.00 ms"));
  input.bytes = 9.5e8;
  EXPECT_EQ(explain(input).limit, Limit::dram);
  input = input_of(1000);
  input.device.peaks.block_ns = 0.9;
  EXPECT_EQ(explain(input).limit, Limit::unknown) << "few blocks say nothing about the rest";
}

TEST(Verdict, SpeaksOfThreadsWarpsAndWarpsOfAMultiprocessor) {
  VerdictInput input = input_of(1000);
  input.bytes = 1e8;
  input.flops = 1e8;
  input.thread_bytes = 4;
  const Verdict verdict = explain(input);
  EXPECT_THAT(verdict.numbers,
              Contains(HasSubstr("125000 with 4 B each have them in flight: 3907 warps, 39.1 a multiprocessor")));
  EXPECT_THAT(verdict.numbers, Contains(HasSubstr("16 warps keep a multiprocessor's 128 lanes busy")));
}

TEST(Verdict, GivesTheBestOfASearchAndTheHostNoAdviceOnSizes) {
  VerdictInput input = input_of(1000, 150, 64);
  EXPECT_THAT(explain(input).remarks, Contains(HasSubstr("advised")));
  input.is_best = true;
  EXPECT_THAT(explain(input).remarks, IsEmpty());
  input = input_of(1000, 1, 1);
  input.device.limits.compute_capability = 0;
  EXPECT_THAT(explain(input).remarks, ElementsAre("its grid leaves 99 of 100 cores without work"));
}

TEST(Verdict, DoesNotTakeArithmeticThatWasNeverMeasuredForWaiting) {
  VerdictInput input = input_of(1000);
  input.bytes = 1e8;
  input.flops = 1e9;
  EXPECT_EQ(explain(input).limit, Limit::latency);
  input.arithmetic_rate = 0;
  EXPECT_EQ(explain(input).limit, Limit::unknown);
  EXPECT_THAT(explain(input).reason, HasSubstr("the arithmetic rate of this device was not measured"));
  input.flops = 1e8;
  EXPECT_EQ(explain(input).limit, Limit::latency) << "memory is what it would wait for";
}

TEST(Verdict, WhatIssuesInstructionsAllTheTimeThoughNoPipeIsBusyIsLimitedByIssue) {
  VerdictInput input = input_of(1000);
  input.metrics = {{"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", 45},
                   {"sm__inst_issued.avg.pct_of_peak_sustained_active", 90}};
  const Verdict verdict = explain(input);
  EXPECT_EQ(verdict.limit, Limit::issue);
  EXPECT_THAT(verdict.reason, HasSubstr("issued in 90% of the cycles"));
  input.metrics["sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"] = 85;
  EXPECT_THAT(explain(input).reason, HasSubstr("the busiest arithmetic pipe is 85% busy"));
}

TEST(Verdict, WhatTakesNoPartIsNoCounter) {
  VerdictInput input = input_of(1000);
  input.metrics = {{"energy", 0.2}, {"power", 400}, {"clock_step_ns", 32}};
  EXPECT_EQ(explain(input).limit, Limit::unknown);
  input.bytes = 9e8;
  EXPECT_FALSE(explain(input).counted);
  input.metrics["stall_sync"] = 10;
  EXPECT_FALSE(explain(input).counted) << "memory is busy: nobody asks what warps wait for";
  input.bytes = 1e8;
  EXPECT_TRUE(explain(input).counted);
}

TEST(Verdict, PartedWarpsAreRemarkedOn) {
  VerdictInput input = input_of(1000);
  input.metrics["smsp__thread_inst_executed_per_inst_executed.ratio"] = 16;
  EXPECT_THAT(explain(input).remarks, Contains(HasSubstr("16.0 of 32 lanes")));
  input.metrics = {{"warp_execution_efficiency", 25}};
  EXPECT_THAT(explain(input).remarks, Contains(HasSubstr("8.0 of 32 lanes")));
}

TEST(Verdict, KeepsSilentAboutGuidelinesThatAreKept) {
  VerdictInput input = input_of(1000);
  input.bytes = 9e8;
  EXPECT_THAT(explain(input).remarks, IsEmpty());
  EXPECT_THAT(explain(input_of(1000, 10'000, 80)).remarks, Contains(HasSubstr("16 lanes of its last warp never work")));
  EXPECT_THAT(explain(input_of(1000, 10'000, 64)).remarks, Contains(HasSubstr("at least 128")));
  EXPECT_THAT(explain(input_of(1000, 150)).remarks, Contains(HasSubstr("150 blocks are few")));
}

TEST(Verdict, SaysThatItKnowsNothingWhereNothingIsKnown) {
  VerdictInput input = input_of(1000);
  input.device.ceilings = {};
  input.device.peaks = {};
  input.memory_rate = input.arithmetic_rate = 0;
  EXPECT_EQ(explain(input).limit, Limit::unknown);
  EXPECT_EQ(explain(VerdictInput{}).limit, Limit::unknown);
}

TEST(Waves, CountTheIdleShareOfTheLast) {
  EXPECT_DOUBLE_EQ(waves(1200, 8, 100).count, 1.5);
  EXPECT_DOUBLE_EQ(waves(1200, 8, 100).idle_last, 0.5);
  EXPECT_DOUBLE_EQ(waves(800, 8, 100).idle_last, 0);
  EXPECT_DOUBLE_EQ(waves(5, 0, 100).count, 0);
}

TEST(BytesInFlight, FollowLittlesLaw) { EXPECT_DOUBLE_EQ(bytes_in_flight(1e12, 500), 500'000); }

}  // namespace
}  // namespace tuner
