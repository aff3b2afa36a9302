#include <tuner/runtime/plan.hpp>

#include <bit>
#include <cmath>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>

#include "served_backend.hpp"

namespace tuner::runtime {
namespace {

using From = ParameterSource::Kind;

ParameterSource constant(std::int64_t value) { return {From::constant, 0, ElementType::int64, Argument::of(value)}; }

OpenExpression of_n(const char* text) {
  const std::string names[] = {"n"};
  return {Expression::parse(text, {}), names, {}};
}

class PlanTest : public ::testing::Test {
 protected:
  Plan plan_of(std::vector<PlannedLaunch> launches) {
    Plan plan(backend_);
    plan.module = std::make_shared<testing::ServedModule>();
    plan.launches = std::move(launches);
    return plan;
  }
  PlannedLaunch launch(std::vector<ParameterSource> parameters) {
    backend_.parameters_per_launch = parameters.size();
    PlannedLaunch planned;
    planned.parameters = std::move(parameters);
    return planned;
  }

  /// Launches \p plan for \p n and \p arguments on the default stream.
  template <typename... Arguments>
  bool run(const Plan& plan, std::int64_t n, const WorkSpace& work, Arguments... arguments) {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    const Sizes sizes{n};
    Plan::Shapes shapes;
    if (!plan.admits(sizes, shapes)) return false;
    plan.launch({nullptr, {}, sizes, list, sizeof...(arguments)}, shapes, work);
    return true;
  }

  testing::ServedBackend backend_;
  float buffer_ = 0;
};

TEST_F(PlanTest, PassesPointersNumbersSizesAndConstantsInTheKernelsOrder) {
  Plan plan = plan_of({launch({{From::pointer, 1, {}, {}},
                               constant(42),
                               {From::number, 0, ElementType::float64, {}},
                               {From::size, 0, ElementType::uint64, {}}})});
  ASSERT_TRUE(run(plan, 7, {}, 2.5, &buffer_));
  EXPECT_THAT(backend_.enqueued.at(0).parameters,
              ElementsAre(reinterpret_cast<std::uint64_t>(&buffer_), 42u, std::bit_cast<std::uint64_t>(2.5), 7u));
}

TEST_F(PlanTest, ConvertsNumbersToTheKernelsType) {
  Plan plan = plan_of({launch({{From::number, 0, ElementType::float32, {}},
                               {From::number, 1, ElementType::int64, {}},
                               {From::number, 2, ElementType::half, {}}})});
  backend_.parameter_bytes = {4, 8, 2};
  ASSERT_TRUE(run(plan, 1, {}, 3, std::int64_t{1} << 60, 1.5));
  EXPECT_THAT(backend_.enqueued.at(0).parameters,
              ElementsAre(std::bit_cast<std::uint32_t>(3.0f), std::uint64_t{1} << 60, 0x3e00u));
}

TEST_F(PlanTest, RefusesNumbersThatTheKernelsTypeCannotHold) {
  const auto given = [&](auto number) {
    Plan plan = plan_of({launch({constant(1)}), launch({{From::number, 0, ElementType::int32, {}}})});
    return error_of([&] { run(plan, 1, {}, number); });
  };
  EXPECT_THAT(given(INFINITY), HasSubstr("int, which cannot hold inf"));
  EXPECT_THAT(given(std::nan("")), HasSubstr("nan"));
  EXPECT_THAT(given(std::int64_t{1} << 31), HasSubstr("2147483648"));
  EXPECT_THAT(given(-2147483649.0), HasSubstr("-2147483649"));
  EXPECT_TRUE(backend_.enqueued.empty()) << "also of the launch before";
  given(-2147483648.0);
  EXPECT_EQ(backend_.enqueued.size(), 2u);
}

TEST_F(PlanTest, WorksOutExtentsForEachCallsSizes) {
  PlannedLaunch grid = launch({});
  grid.shape.block[0] = 32;
  grid.sized = {{0, of_n("ceil_div(n, 32)")}, {6, of_n("n * 4")}};
  const Plan plan = plan_of({grid});
  ASSERT_TRUE(run(plan, 100, {}));
  EXPECT_EQ(backend_.enqueued.at(0).shape.grid[0], 4);
  EXPECT_EQ(backend_.enqueued.at(0).shape.block[0], 32);
  EXPECT_EQ(backend_.enqueued.at(0).shape.shared_bytes, 400);
}

TEST_F(PlanTest, AdmitsOnlySizesThatMeetItsConditions) {
  const auto admits = [&](std::int64_t n) {
    Plan plan = plan_of({launch({})});
    plan.conditions = {{of_n("n <= 4194304"), 1, 1, true}, {of_n("100 / (n - 8)"), -100, 100, false}};
    return run(plan, n, {});
  };
  EXPECT_TRUE(admits(4194304));
  EXPECT_FALSE(admits(4194305));
  EXPECT_FALSE(admits(8)) << "a condition without an answer";
}

TEST_F(PlanTest, DoesNotAdmitSizesWhoseLaunchPassesTheDevicesLimits) {
  PlannedLaunch wide = launch({});
  wide.sized = {{1, of_n("n")}};
  wide.may_exceed = true;
  const Plan plan = plan_of({wide});
  EXPECT_TRUE(run(plan, 65535, {}));
  EXPECT_FALSE(run(plan, 65536, {}));
  EXPECT_FALSE(run(plan, 0, {}));
}

TEST_F(PlanTest, DoesNotAdmitSizesWhoseCooperativeGridIsNotResidentAtOnce) {
  PlannedLaunch meeting = launch({});
  meeting.shape.cooperative = true;
  meeting.sized = {{0, of_n("n")}};
  meeting.blocks_per_sm = 3;
  const Plan plan = plan_of({meeting});
  const int most = 3 * backend_.device().limits.sm_count;
  EXPECT_TRUE(run(plan, most, {}));
  EXPECT_TRUE(backend_.enqueued.at(0).shape.cooperative);
  EXPECT_FALSE(run(plan, most + 1, {}));
}

TEST_F(PlanTest, ServesItsOwnSizesAloneWhereTheyArePartOfTheCode) {
  Plan plan = plan_of({launch({})});
  plan.only = Sizes{17};
  EXPECT_TRUE(run(plan, 17, {}));
  EXPECT_FALSE(run(plan, 18, {}));
}

TEST_F(PlanTest, PassesPlacesInTheWorkSpaceOfTheCall) {
  Plan plan = plan_of({launch({{From::zeroed, 0, {}, {}}, {From::scratch, 256, {}, {}}})});
  run(plan, 1, {0x1000, 0x2000});
  EXPECT_THAT(backend_.enqueued.at(0).parameters, ElementsAre(0x1000u, 0x2100u));
}

TEST_F(PlanTest, EnqueuesAllLaunchesInOrder) {
  Plan plan = plan_of({launch({}), launch({}), launch({})});
  for (std::size_t i = 0; i < 3; ++i) plan.launches[i].function = i;
  run(plan, 1, {});
  ASSERT_EQ(backend_.enqueued.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(backend_.enqueued[i].function, i);
}

}  // namespace
}  // namespace tuner::runtime
