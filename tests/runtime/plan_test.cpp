#include <tuner/runtime/plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "fake_backend.hpp"

namespace tuner::runtime {
namespace {

using ::testing::ElementsAre;

ParameterSource source(ParameterSource::Kind kind, std::size_t index, ElementType type = ElementType::int32) {
  ParameterSource result;
  result.kind = kind;
  result.index = index;
  result.type = type;
  return result;
}

ParameterSource constant(std::int64_t value) {
  ParameterSource result;
  result.constant = Argument::of(value);
  return result;
}

class PlanTest : public ::testing::Test {
 protected:
  PlannedLaunch launch(std::vector<ParameterSource> parameters) {
    backend_.parameters_per_launch = parameters.size();
    PlannedLaunch planned;
    planned.module = std::make_shared<testing::FakeModule>();
    planned.parameters = std::move(parameters);
    return planned;
  }

  testing::FakeBackend backend_;
  float buffer_ = 0;
};

TEST_F(PlanTest, PassesPointersNumbersAndConstantsInTheKernelsOrder) {
  PlanParts parts;
  parts.launches = {launch({source(ParameterSource::Kind::caller_pointer, 1), constant(42),
                            source(ParameterSource::Kind::caller_number, 0, ElementType::float64)})};
  const detail::LaunchArgument arguments[] = {detail::launch_argument(2.5), detail::launch_argument(&buffer_)};
  Plan(backend_, std::move(parts)).launch(arguments, nullptr);
  ASSERT_EQ(backend_.enqueued.size(), 1u);
  EXPECT_THAT(backend_.enqueued[0].parameters,
              ElementsAre(reinterpret_cast<std::uint64_t>(&buffer_), 42u, std::bit_cast<std::uint64_t>(2.5)));
}

TEST_F(PlanTest, ConvertsNumbersToTheKernelsType) {
  PlanParts parts;
  parts.launches = {launch({source(ParameterSource::Kind::caller_number, 0, ElementType::float32),
                            source(ParameterSource::Kind::caller_number, 1, ElementType::int64)})};
  backend_.parameter_bytes = {4, 8};
  const detail::LaunchArgument arguments[] = {detail::launch_argument(3),
                                              detail::launch_argument(std::int64_t{1} << 60)};
  Plan(backend_, std::move(parts)).launch(arguments, nullptr);
  EXPECT_THAT(backend_.enqueued[0].parameters, ElementsAre(std::bit_cast<std::uint32_t>(3.0f), std::uint64_t{1} << 60));
}

TEST_F(PlanTest, GivesEachStreamAWorkSpaceOfItsOwnOnce) {
  PlanParts parts;
  parts.launches = {launch({source(ParameterSource::Kind::work_buffer, 0)})};
  parts.work_buffers = {{64, true}};
  const Plan plan(backend_, std::move(parts));
  int streams[2];
  plan.launch(nullptr, &streams[0]);
  plan.launch(nullptr, &streams[1]);
  plan.launch(nullptr, &streams[0]);
  EXPECT_EQ(backend_.allocations, 2u);
  EXPECT_EQ(backend_.enqueued[0].parameters, backend_.enqueued[2].parameters);
  EXPECT_NE(backend_.enqueued[0].parameters, backend_.enqueued[1].parameters);
}

TEST_F(PlanTest, AllocatesNothingAtLaunchOncePrepared) {
  PlanParts parts;
  parts.launches = {launch({source(ParameterSource::Kind::work_buffer, 0)})};
  parts.work_buffers = {{64, false}};
  const Plan plan(backend_, std::move(parts));
  int stream = 0;
  EXPECT_FALSE(plan.prepared(&stream));
  plan.prepare(&stream);
  EXPECT_TRUE(plan.prepared(&stream));
  plan.launch(nullptr, &stream);
  EXPECT_EQ(backend_.allocations, 1u);
}

TEST_F(PlanTest, EnqueuesAllLaunchesInOrderOnTheCallersStream) {
  PlanParts parts;
  parts.launches = {launch({}), launch({}), launch({})};
  for (std::size_t i = 0; i < 3; ++i) parts.launches[i].function = i;
  parts.work_buffers = {{8, false}};
  int stream = 0;
  Plan(backend_, std::move(parts)).launch(nullptr, &stream);
  ASSERT_EQ(backend_.enqueued.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(backend_.enqueued[i].function, i);
    EXPECT_EQ(backend_.enqueued[i].stream, &stream);
  }
}

}  // namespace
}  // namespace tuner::runtime
