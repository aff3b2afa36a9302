#include <tuner/measure/single_run.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

using testing::argument;
using testing::block;
using testing::error_of;

class SingleRunTest : public testing::RunnerTest {};

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
    testing::scale_kernel<float>(launch);
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
