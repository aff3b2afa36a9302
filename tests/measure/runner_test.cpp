// Configurations that are right, wrong, or cannot run.

#include <tuner/measure/single_run.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

TEST_F(RunnerTest, VerifiesAndMeasuresACorrectKernel) {
  backend.compiler_.resources["scale<32>"].registers = 12;
  const Trial trial = evaluate(block(32));
  ASSERT_NE(trial.measurement(), nullptr) << message(trial.outcome);
  EXPECT_TRUE(trial.verified);
  EXPECT_EQ(trial.configuration, block(32));
  EXPECT_EQ(trial.resources->registers, 12);
  EXPECT_EQ(trial.measurement()->median_ns, 1000);
}

TEST_F(RunnerTest, NamesThePlaceAndBothValuesOfAWrongResult) {
  backend.kernels["scale<32>"] = scaled_except(7, -5);
  const std::string text = failure(block(32));
  EXPECT_THAT(text, HasSubstr("wrong: c[7] is -5, expected "));
  EXPECT_THAT(text, ContainsRegex(", tolerance [0-9.]+e-0[0-9] "));
  EXPECT_THAT(text, HasSubstr("(1 of 1000 elements differ) on n=1000"));
  backend.kernels["scale<32>"] = scaled_except(999, kNan);
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[999] is nan"));
  backend.kernels["scale<32>"] = [](const Launch& launch) {
    for (int i = 1; i < argument<int>(launch, 2); ++i)
      argument<float*>(launch, 1)[i] = 2 * argument<float*>(launch, 0)[i];
    return std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[0] was not written, expected "));
}

TEST_F(RunnerTest, SuggestsAToleranceWhereDifferencesAreSmall) {
  const auto off_by = [](float factor) {
    return scaled_then([factor](const Launch& launch) { argument<float*>(launch, 1)[7] *= factor; });
  };
  backend.kernels["scale<32>"] = off_by(1 + 1e-4f);
  EXPECT_THAT(failure(block(32)), HasSubstr("terms are added in another order; if that is right here, add "
                                            "`accumulates TERMS` or `tolerance relative 2e-04` on n=1000"));
  backend.kernels["scale<32>"] = off_by(1.01f);
  EXPECT_THAT(failure(block(32)), Not(HasSubstr("another order")));
}

TEST_F(RunnerTest, SeesAnUnwrittenIntegerWhoseExpectedValueEqualsAPoison) {
  for (const int value : {-1, 0x5a5a5a5a}) {
    spec = testing::scale_spec("int32");
    const auto constant = [value](int from) {
      return [=](const Launch& launch) {
        for (int i = from; i < argument<int>(launch, 2); ++i) argument<int*>(launch, 1)[i] = value;
        return std::nullopt;
      };
    };
    backend.kernels = {{"reference", constant(0)}, {"scale<32>", constant(1)}, {"scale<64>", constant(0)}};
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[0] was not written"));
    EXPECT_TRUE(evaluate(block(64)).verified);
  }
}

TEST_F(RunnerTest, SeesAnUnwrittenByteWhenEveryByteIsExpectedSomewhere) {
  spec = testing::scale_spec("uint8");
  for (const int skipped : {0xff, 0x5a, 0x00}) {
    const auto count = [](int skip) {
      return [=](const Launch& launch) {
        for (int i = 0; i < argument<int>(launch, 2); ++i)
          if (i != skip) argument<std::uint8_t*>(launch, 1)[i] = std::uint8_t(i);
        return std::nullopt;
      };
    };
    backend.kernels = {{"reference", count(-1)}, {"scale<32>", count(skipped)}, {"scale<64>", count(-1)}};
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[" + std::to_string(skipped) + "]"));
    EXPECT_TRUE(evaluate(block(64)).verified);
  }
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatIsRightForItsFirstRunsOnly) {
  for (const std::size_t good : {1, 2}) {  // the first verification, and the warm-up
    std::size_t runs = 0;
    backend.kernels["scale<32>"] = scaled_while([&] { return runs++ < good; });
    EXPECT_THAT(failure(block(32)), HasSubstr("wrong: right at first, but in a timed run c[0] was not written"));
  }
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatIsRightInOneOrderOfItsThreadsOnly) {
  backend.kernels["scale<32>"] = scaled_while([&] { return backend.order.kind == ThreadOrder::Kind::forward; });
  EXPECT_TRUE(evaluate(block(32)).verified);
  backend.has_order = true;
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: with its threads and blocks in reverse order"));
  EXPECT_EQ(backend.order.kind, ThreadOrder::Kind::forward) << "later runs are in order";
}

TEST_F(RunnerTest, SaysOfAWrongResultThatItDependsOnTheOrderOfThreadsIfItDoes) {
  backend.has_order = true;
  const std::string by_order = "depending on the order of its threads";
  backend.kernels["scale<32>"] = scaled_while([&] { return backend.order.kind == ThreadOrder::Kind::reverse; });
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: " + by_order));
  backend.kernels["scale<32>"] = scaled_while([] { return false; });
  EXPECT_THAT(failure(block(32)), Not(HasSubstr(by_order)));
  float unset = 0;
  backend.kernels["scale<32>"] = scaled_then([&](const Launch& l) { argument<float*>(l, 1)[0] = unset += 100; });
  EXPECT_THAT(failure(block(32)), Not(HasSubstr(by_order))) << "wrong in another way each time";
}

TEST_F(RunnerTest, BelievesAKernelWhoseBlocksWaitForThoseBeforeThemIfItsThreadsMayRunInAnyOrder) {
  backend.has_order = true;
  std::size_t backwards = 0;
  for (const bool right : {true, false}) {
    backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
      if (backend.order.kind == ThreadOrder::Kind::reverse) {
        ++backwards;
        return Timeout{"did not end"};
      }
      if (right || backend.order.kind == ThreadOrder::Kind::forward) scale_kernel<float>(launch);
      return std::nullopt;
    };
    const auto shared = runner();
    const Image image = compile({"scale<32>"});
    const Trial first = shared->evaluate(block(32), image, 0);
    EXPECT_EQ(first.verified, right) << message(first.outcome);
    EXPECT_EQ(message(first.outcome).starts_with("with its threads in another order"), !right);
    EXPECT_EQ(shared->evaluate(block(32), image, 0).verified, right);
    EXPECT_EQ(std::exchange(backwards, 0), right ? 1u : 2u) << "a wrong one says nothing about others";
  }
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatIsRightOnlyWhileItsThreadsDoNotSwitch) {
  backend.has_order = true;
  backend.kernels["scale<32>"] = scaled_while([&] { return backend.order.kind != ThreadOrder::Kind::interleaved; });
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: with its threads switching at memory accesses"));
  EXPECT_EQ(backend.order.kind, ThreadOrder::Kind::forward) << "later runs are in order";
}

TEST_F(RunnerTest, LetsThreadsSwitchOnlyInWhatMayBeNamedBest) {
  backend.has_order = true;
  std::size_t compiles = 0;
  backend.compiler_.before = [&](const CompileRequest& request) { compiles += request.interleaved ? 1 : 0; };
  const auto shared = runner();
  const Image image = compile({"scale<32>", "scale<64>"});
  EXPECT_TRUE(shared->evaluate(block(32), image, 0).verified);
  EXPECT_EQ(compiles, 1u) << "the first";
  EXPECT_TRUE(shared->evaluate(block(64), image, 500).verified);
  EXPECT_EQ(compiles, 1u) << "slower than the best";
  for (const Trial& trial : remeasure(*shared)) EXPECT_TRUE(trial.verified);
  EXPECT_EQ(compiles, 2u) << "a finalist that was not looked at before";
}

TEST_F(RunnerTest, BelievesWhatCannotBeCompiledOrDoesNotEndWhileThreadsSwitch) {
  backend.has_order = true;
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    if (backend.order.kind == ThreadOrder::Kind::interleaved) return Timeout{"slow"};
    return scale_kernel<float>(launch);
  };
  EXPECT_TRUE(evaluate(block(32)).verified);
  const auto shared = runner();
  const Image image = compile({"scale<64>"});
  backend.compiler_.refused["scale<64>"] = 1;
  EXPECT_TRUE(shared->evaluate(block(64), image, 0).verified);
}

TEST_F(RunnerTest, StillRefusesAKernelThatIsWrongOnceOnly) {
  int runs = 0;
  backend.kernels["scale<32>"] = scaled_then([&](const Launch& launch) {
    if (++runs == 1) argument<float*>(launch, 1)[5] = 1;
  });
  EXPECT_EQ(kind(evaluate(block(32)).outcome), "wrong");
}

TEST_F(RunnerTest, NeverLaunchesACooperativeGridThatIsNotResidentAtOnce) {
  spec.launches[0].cooperative = parsed("block == 64");
  backend.compiler_.resources["scale<32>"].blocks_per_sm = 3;
  backend.compiler_.resources["scale<64>"] = {
      .registers = 40, .static_shared_bytes = 100, .blocks_per_sm = 7, .target = {}};
  options.second_inputs = false;
  const std::size_t before = backend.runs;
  EXPECT_EQ(failure(block(64)),
            "invalid: scale<64>, with 40 registers a thread and 100 bytes of shared memory: a cooperative grid of 16 "
            "blocks of 64 threads is not resident at once: 7 on each of 2 multiprocessors are 14");
  EXPECT_EQ(backend.runs, before + 1) << "the reference's run alone";
  backend.compiler_.resources["scale<64>"].blocks_per_sm = 8;
  bool cooperative = false;
  backend.kernels["scale<64>"] = scaled_after([&](const Launch& l) { cooperative = l.shape.cooperative; });
  EXPECT_TRUE(evaluate(*runner(), block(64)).verified);
  EXPECT_TRUE(cooperative);
  EXPECT_TRUE(evaluate(*runner(), block(32)).verified) << "32 blocks that need not meet";
}

TEST_F(RunnerTest, NeverLaunchesAClusterThatContradictsItsKernelOrHasNoRoom) {
  backend.clusters["scale<64>"] = {4, 1, 1};
  backend.clusters["scale<32>"] = {5, 1, 1};
  options.second_inputs = false;
  LaunchShape launched;
  backend.kernels["scale<64>"] = scaled_after([&](const Launch& l) { launched = l.shape; });
  EXPECT_TRUE(evaluate(*runner(), block(64)).verified) << "16 blocks are 4 clusters";
  EXPECT_EQ(launched.cluster, (std::array<std::int64_t, 3>{4, 1, 1}));
  const std::size_t before = backend.runs;
  EXPECT_EQ(
      failure(block(32)),
      "invalid: scale<32>: grid of 32x1x1 does not consist of clusters of 5x1x1: its extent in x is not a multiple "
      "of 5");
  spec.launches[0].cluster = {parsed("2"), parsed("1"), parsed("1")};
  EXPECT_EQ(failure(block(64)),
            "invalid: scale<64>: the launch has a cluster of 2x1x1, and its kernel is compiled for one of 4x1x1 "
            "(__cluster_dims__): make them equal, or remove one");
  backend.clusters.clear();
  backend.resident_clusters = 0;
  EXPECT_THAT(failure(block(64)), StartsWith("invalid: scale<64>: no cluster of 2 blocks fits on the device, with 64 "
                                             "threads"));
  EXPECT_EQ(backend.runs, before + 3) << "only the references ran";
  backend.resident_clusters = 2;
  EXPECT_TRUE(evaluate(*runner(), block(64)).verified) << "the clusters of a grid need not run at once";
}

TEST_F(RunnerTest, ReportsAFaultAsALaunchErrorAndAHangAsATimeout) {
  backend.kernels["scale<32>"] = [](const Launch&) { return LaunchError{"illegal address"}; };
  backend.kernels["scale<64>"] = [](const Launch&) { return Timeout{"endless"}; };
  EXPECT_EQ(failure(block(32)), "launch: illegal address");
  EXPECT_EQ(failure(block(64)), "timeout: endless");
}

TEST_F(RunnerTest, NeverLaunchesWhatCannotRun) {
  EXPECT_THAT(failure(block(33)), HasSubstr("invalid: "));
  backend.compiler_.resources["scale<256>"].registers = 255;
  backend.device_.limits.registers_per_block = 32768;
  options.second_inputs = false;
  const std::size_t before = backend.runs;
  EXPECT_EQ(failure(block(256)),
            "invalid: scale<256>: 255 registers a thread in blocks of 256 threads are 65536, more than the 32768 of a "
            "block");
  backend.compiler_.resources["scale<64>"].static_shared_bytes = 50000;
  EXPECT_THAT(failure(block(64)), HasSubstr("invalid: scale<64>: 50000 bytes of shared memory"));
  EXPECT_EQ(backend.runs, before + 2) << "only the two references ran";
}

TEST_F(RunnerTest, DoesNotBelieveAKernelThatGivesWhatAnEarlierRunComputed) {
  std::vector<float> known;
  backend.kernels["scale<32>"] = scaled_then([&](const Launch& launch) {
    auto* const c = argument<float*>(launch, 1);
    if (known.empty()) known.assign(c, c + 1000);
    std::copy(known.begin(), known.end(), c);
  });
  spec.verification.problems.clear();
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: right for the inputs it was timed with, but with others c[0] is "));
  EXPECT_TRUE(evaluate(block(64)).verified);
}

TEST_F(RunnerTest, RefusesRoundingInOneDirectionOnlyIfItConcernsSeveralNumbers) {
  spec.buffers[1].type = "e4m3";
  const auto writes = [](int different, int off) {
    return [different, off](const Launch& launch) -> std::optional<Outcome> {
      for (int i = 0; i < argument<int>(launch, 2); ++i)
        argument<std::uint8_t*>(launch, 1)[i] = static_cast<std::uint8_t>(64 + i % different + off);
      return std::nullopt;
    };
  };
  for (const int different : {4, 40}) {
    backend.kernels["reference"] = writes(different, 0);
    backend.kernels["scale<32>"] = writes(different, -1);
    EXPECT_THAT(failure(block(32)), HasSubstr("numbers are less than expected, all by one place of e4m3"));
  }
  backend.kernels["reference"] = writes(3, 0);
  backend.kernels["scale<32>"] = writes(3, -1);
  EXPECT_TRUE(evaluate(block(32)).verified) << "3 numbers may be near the middle by chance";
  backend.kernels["scale<32>"] = writes(3, -2);
  EXPECT_THAT(failure(block(32)), HasSubstr(", tolerance one place of e4m3"));
}

class SingleRunTest : public RunnerTest {};

TEST_F(SingleRunTest, TellsTheShapeAndResourcesOfEveryLaunch) {
  backend.compiler_.resources["scale<32>"].registers = 32;
  const SingleRun one(backend, spec, {}, block(32));
  ASSERT_EQ(one.launches().size(), 1u);
  const LaunchDetail& launch = one.launches()[0];
  EXPECT_EQ(launch.expression, "scale<32>");
  EXPECT_EQ(launch.shape.threads_per_block(), 32);
  ASSERT_TRUE(launch.occupancy);
  EXPECT_EQ(launch.occupancy->limiter, OccupancyLimiter::blocks);
}

TEST_F(SingleRunTest, TellsTheClusterThatIsCompiledIntoTheKernel) {
  backend.clusters["scale<32>"] = {2, 1, 1};
  const SingleRun one(backend, spec, {}, block(32));
  EXPECT_EQ(one.launches().at(0).shape.cluster, (std::array<std::int64_t, 3>{2, 1, 1}));
  EXPECT_EQ(one.launches().at(0).clusters, std::nullopt) << "the driver does not count them";
  backend.resident_clusters = 3;
  EXPECT_EQ(SingleRun(backend, spec, {}, block(32)).launches().at(0).clusters, 3);
}

TEST_F(SingleRunTest, VerifiesAndMeasuresAsATrialDoes) {
  SingleRun one(backend, spec, {}, block(32));
  const Trial trial = one.measure();
  ASSERT_NE(trial.measurement(), nullptr) << message(trial.outcome);
  EXPECT_TRUE(trial.verified);
}

TEST_F(SingleRunTest, LaunchesExactlyOnceAndLeavesTheOutputs) {
  int launches = 0;
  backend.kernels["scale<32>"] = [&](const Launch& launch) {
    ++launches;
    scale_kernel<float>(launch);
    return std::nullopt;
  };
  options.verify = false;
  SingleRun one(backend, spec, {}, block(32), options);
  EXPECT_FALSE(one.launch());
  EXPECT_EQ(launches, 1);
  const HostBuffers outputs = one.outputs();
  ASSERT_EQ(outputs.count("c"), 1u);
  EXPECT_NE(element_text(outputs.at("c"), 0), "nan");
  EXPECT_TRUE(one.expected().empty());
}

TEST_F(SingleRunTest, SaysWhyAConfigurationCannotRun) {
  EXPECT_THAT(error_of([&] { SingleRun(backend, spec, {}, block(33)); }), HasSubstr("cannot run on"));
}

TEST_F(SingleRunTest, TimesTheReferenceByItself) {
  const ReferenceRun run = run_reference(backend, spec, {});
  ASSERT_NE(std::get_if<Measurement>(&run.outcome), nullptr) << message(run.outcome);
  EXPECT_EQ(run.outputs.count("c"), 1u);
  spec.verification.reference.clear();
  EXPECT_THAT(error_of([&] { run_reference(backend, spec, {}); }), HasSubstr("has no reference"));
}

TEST(LaunchShapeText, IsWrittenAsALaunchIs) {
  EXPECT_EQ(text(LaunchShape{{64, 1, 1}, {256, 1, 1}, 0}), "<<<64, 256>>>");
  EXPECT_EQ(text(LaunchShape{{64, 512, 1}, {32, 8, 1}, 4096}), "<<<(64, 512), (32, 8), 4096>>>");
  EXPECT_EQ(text(LaunchShape{{1, 2, 3}, {4, 1, 5}, 0}), "<<<(1, 2, 3), (4, 1, 5)>>>");
}

}  // namespace
}  // namespace tuner
