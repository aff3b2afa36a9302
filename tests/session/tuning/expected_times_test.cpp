// Which configurations are judged before the first run, and in which order.

#include <tuner/session/tuning/expected_times.hpp>

#include <span>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>

#include <tests/support/session_fakes.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;
using search::Observation;

KernelSpec with_estimate(const std::string& text) {
  KernelSpec spec = small_kernel();
  spec.work.estimate = Expression::parse(text, {});
  return spec;
}

/// `BLOCK/UNROLL=ESTIMATE` of each, as the search gets them.
std::vector<std::string> judged(const KernelSpec& spec) {
  const DeviceLimits limits;
  const EnumeratedSpace space = enumerate(spec, small_problem(), limits);
  std::vector<std::string> out;
  for (const Observation& one : ExpectedTimes(spec, small_problem(), limits, space).all(1)) {
    const Configuration configuration = space.configuration(one.index);
    out.push_back(configuration.find("block")->text() + '/' + configuration.find("unroll")->text() + '=' +
                  std::to_string(static_cast<int>(one.objective.value())));
  }
  return out;
}

TEST(ExpectedTimes, AreTheFilesEstimateOfEachConfigurationNearestToTheDefaultFirst) {
  KernelSpec spec = with_estimate("n / block");
  EXPECT_THAT(judged(spec), ElementsAre("32/1=31", "32/2=31", "32/4=31", "64/1=15", "64/2=15", "64/4=15", "128/1=7",
                                        "128/2=7", "128/4=7", "256/1=3", "256/2=3"));
  spec.default_configuration = Configuration{{"block", 128}, {"unroll", 2}};
  const std::vector<std::string> near = judged(spec);
  ASSERT_EQ(near.size(), 11u);
  EXPECT_EQ(near.front(), "128/2=7");
  EXPECT_THAT(std::span(near).subspan(1, 5),
              ::testing::UnorderedElementsAre("32/2=31", "64/2=15", "256/2=3", "128/1=7", "128/4=7"));
}

TEST(ExpectedTimes, LeaveOutConfigurationsWithoutANumber) {
  EXPECT_THAT(judged(with_estimate("100 / (unroll - 2)")), Each(Not(HasSubstr("/2="))));
  EXPECT_EQ(judged(with_estimate("100 / (unroll - 2)")).size(), 7u);
}

TEST(ExpectedTimes, ArePositiveWithTheSameDifferencesWhereAnEstimateReachesZero) {
  for (const char* const estimate : {"block - 32", "block - 128"})
    EXPECT_THAT(judged(with_estimate(estimate)),
                ElementsAre("32/1=22", "32/2=22", "32/4=22", "64/1=54", "64/2=54", "64/4=54", "128/1=118", "128/2=118",
                            "128/4=118", "256/1=246", "256/2=246"))
        << estimate;
  EXPECT_EQ(judged(with_estimate("block - 31")).front(), "32/1=1");
}

TEST(ExpectedTimes, WithoutAnEstimateAreThoseOfTheLaunchesAndALittleMoreForEachChangeOfTheDefault) {
  KernelSpec spec = small_kernel();
  spec.default_configuration = Configuration{{"block", 128}, {"unroll", 2}};
  const ProblemSize size = complete(spec, {{{"n", 1 << 24}}, {}});
  DeviceLimits limits;
  EXPECT_TRUE(ExpectedTimes(spec, size, limits, enumerate(spec, size, limits)).all(1).empty());  // a CPU
  limits.compute_capability = 90;
  limits.sm_count = 132;
  const EnumeratedSpace space = enumerate(spec, size, limits);
  ExpectedTimes times(spec, size, limits, space);
  const auto expected = [&](int block, int unroll, const Resources* compiled = nullptr) {
    return times.of(space.find({{"block", block}, {"unroll", unroll}}).value(), compiled).value();
  };
  EXPECT_EQ(times.all(1).size(), space.size());
  EXPECT_EQ(times.all(1).front().objective, expected(128, 2));
  const double far = expected(32, 1);  // from the default in both parameters
  spec.default_configuration = Configuration{{"block", 32}, {"unroll", 2}};
  const auto index = space.find({{"block", 32}, {"unroll", 1}}).value();
  EXPECT_DOUBLE_EQ(1.1 * ExpectedTimes(spec, size, limits, space).of(index).value(), 1.05 * far);
  Resources spilling;
  spilling.registers = 32;
  spilling.spill_bytes = 64;
  EXPECT_DOUBLE_EQ(expected(128, 2, &spilling), 2 * expected(128, 2));
}

TEST(ExpectedTimes, SayNothingWhereAllAreEqualOrNoneHasANumber) {
  EXPECT_THAT(judged(with_estimate("n")), IsEmpty());
  EXPECT_THAT(judged(with_estimate("1 / (n - 1000)")), IsEmpty());
}

TEST(ExpectedTimes, OfALargeSpaceAreThoseOfAPartWithTheNeighboursOfTheDefault) {
  KernelSpec spec = with_estimate("p1 + p2");
  std::vector<TuningParameter> parameters;
  Configuration common;
  for (const char* const name : {"p1", "p2", "p3", "p4"}) {
    std::vector<Value> values;
    for (int i = 0; i < 20; ++i) values.emplace_back(i);
    parameters.push_back({name, values});
    common.set(name, Value(19));
  }
  spec.launches.clear();
  spec.space = SearchSpace(parameters, {});
  spec.default_configuration = common;
  std::vector<std::uint64_t> codes(160'000);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = i;
  const EnumeratedSpace space = EnumeratedSpace::from_codes(parameters, codes);
  const DeviceLimits limits;
  const std::vector<Observation> part = ExpectedTimes(spec, small_problem(), limits, space).all(1);
  EXPECT_GT(part.size(), 10'000u);
  EXPECT_LT(part.size(), 17'000u);
  const auto differing = [&](const Observation& one) {
    int count = 0;
    for (std::size_t p = 0; p < parameters.size(); ++p) count += space.digit(one.index, p) != 19 ? 1 : 0;
    return count;
  };
  EXPECT_EQ(differing(part.at(0)), 0);
  for (int i = 1; i <= 4 * 19; ++i) EXPECT_EQ(differing(part.at(static_cast<std::size_t>(i))), 1);
  EXPECT_TRUE(ExpectedTimes(spec, small_problem(), limits, space).all(1, [] { return true; }).empty());
  std::size_t asked = 0;
  const auto go_on = [&] {
    ++asked;
    return false;
  };
  EXPECT_EQ(ExpectedTimes(spec, small_problem(), limits, space).all(1, go_on).size(), part.size());
  EXPECT_GT(asked, part.size() + 10'000) << "at each draw, too";
}

}  // namespace
}  // namespace tuner
