// Two configurations that are measured beside each other in several processes.

#include <tuner/session/tuning/compare_configurations.hpp>

#include <random>

#include <tests/support/session_fakes.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;

class ComparedConfigurations : public ::testing::Test {
 protected:
  /// Every process has times of its own. The first of the two that are loaded gains as much as \p first_gains.
  StartEvaluator start(double b_over_a, double first_gains = 0) {
    return [this, b_over_a, first_gains](std::size_t rounds) {
      rounds_.push_back(rounds);
      auto evaluator = std::make_unique<FakeEvaluator>(verified_);
      auto* const fake = evaluator.get();
      std::normal_distribution<double> noise(0, 0.002);
      evaluator->again = [this, fake, b_over_a, first_gains, noise](const Configuration& c) mutable {
        ++measured_;
        const double gain = c == fake->remeasured.front() ? 1 - first_gains : 1;
        return measured(c, 20e3 * (c == b_ ? b_over_a : 1) * gain * (1 + noise(random_)));
      };
      return evaluator;
    };
  }
  PairResult compare(const StartEvaluator& start, double seconds = 1000) {
    PairOptions options;
    options.seconds = seconds;
    return compare_configurations(start, a_, b_, options);
  }

  const Configuration a_{{"block", 32}, {"unroll", 1}};
  const Configuration b_{{"block", 64}, {"unroll", 1}};
  FakeEvaluator::Answer verified_ = cost_of;
  std::mt19937_64 random_{3};
  std::vector<std::size_t> rounds_;  // of each process
  std::size_t measured_ = 0;
};

TEST_F(ComparedConfigurations, AreMeasuredInTwelveProcessesUntilTheyDiffer) {
  const PairResult slower = compare(start(1.01));
  EXPECT_EQ(slower.comparison.verdict, Difference::slower);
  EXPECT_NEAR(slower.comparison.ratio, 1.01, 0.003);
  EXPECT_EQ(slower.comparison.placements, 12u);
  EXPECT_EQ(rounds_.size(), 13u) << "the first one verifies";
  EXPECT_EQ(compare(start(1 / 1.01)).comparison.verdict, Difference::faster);
}

TEST_F(ComparedConfigurations, AreTheSameWithinTheMargin) {
  const PairResult same = compare(start(1));
  EXPECT_EQ(same.comparison.verdict, Difference::same);
  EXPECT_EQ(same.failure, "");
}

TEST_F(ComparedConfigurations, AreLoadedInAnOrderByLotSoThatThePlaceFavoursNone) {
  EXPECT_THAT(compare(start(1, 0.004)).comparison.verdict, AnyOf(Difference::same, Difference::undecided));
  const PairResult found = compare(start(1, 0.03));
  EXPECT_THAT(found.comparison.verdict, AnyOf(Difference::same, Difference::undecided));
}

TEST_F(ComparedConfigurations, StayUndecidedWhenTheTimeIsUp) {
  const PairResult none = compare(start(1.5), 0);
  EXPECT_EQ(none.comparison.verdict, Difference::undecided);
  EXPECT_EQ(none.comparison.next_look, 12u);
  EXPECT_EQ(measured_, 0u);
}

TEST_F(ComparedConfigurations, AreNotMeasuredIfOneFails) {
  verified_ = [&](const Configuration& c) {
    return c == b_ ? failed(c, WrongResult{"b[0] is 1, not 2\nmore"}) : cost_of(c);
  };
  EXPECT_EQ(compare(start(1)).failure, b_.text() + ": wrong: b[0] is 1, not 2");
  EXPECT_EQ(rounds_.size(), 1u);
}

TEST_F(ComparedConfigurations, TakeFewerRoundsWhenTheyAreSlow) {
  compare(start(1.01));
  EXPECT_EQ(rounds_.back(), 10u);
  verified_ = [](const Configuration& c) { return measured(c, 1e12); };
  compare(start(1.01));
  EXPECT_EQ(rounds_.back(), 3u);
}

}  // namespace
}  // namespace tuner
