// Many sizes in the trials of few.

#include <cmath>
#include <functional>

#include <tuner/search/strategy.hpp>
#include <tuner/session/batch/size_race.hpp>

#include <tests/support/spaces.hpp>
#include <tests/support/testing.hpp>

namespace tuner::testing {
namespace {

/// 1024, 2048, …
std::vector<JointSize> doubling(std::size_t count) {
  std::vector<JointSize> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({{{"n", std::int64_t{1024} << i}}});
  return all;
}

class Race : public ::testing::Test {
 protected:
  using Time = std::function<std::optional<double>(const Configuration&, std::size_t size)>;

  /// The whole race, in which a search tries part of \p one_size trials, chosen by `auto`.
  void run(std::size_t one_size) {
    while (const auto step = race_.next()) {
      if (step->search > 0) search(step->size, static_cast<std::size_t>(step->search * double(one_size)));
      for (const Configuration& one : step->measure) learn(one, step->size);
    }
  }

  void search(std::size_t size, std::size_t trials) {
    const auto strategy = tuner::search::make_strategy("auto", space_, {1, trials, {}, {}});
    for (std::size_t i = 0; i < trials; ++i) {
      const auto index = strategy->propose(1).at(0);
      const auto time = learn(space_.configuration(index), size);
      const tuner::search::Observation seen{index, time, {}};
      strategy->learn({&seen, 1});
    }
  }

  std::optional<double> learn(const Configuration& configuration, std::size_t size) {
    const auto time = time_(configuration, size);
    race_.learn(size, configuration, time);
    ++tried_[{configuration, size}];
    return time;
  }

  double optimum(std::size_t size) const {
    double best = HUGE_VAL;
    for (EnumeratedSpace::Index i = 0; i < space_.size(); ++i)
      best = std::min(best, time_(space_.configuration(i), size).value_or(HUGE_VAL));
    return best;
  }
  double worst_regret(const SizeRule& rule) const {
    double worst = 0;
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      const auto time = time_(rule.branch(sizes_[size].sizes)->configuration, size);
      worst = std::max(worst, time.value_or(HUGE_VAL) / optimum(size) - 1);
    }
    return worst;
  }

  const EnumeratedSpace space_ = test::product({test::numbers("wide", 20), test::numbers("deep", 12)});
  std::vector<JointSize> sizes_ = doubling(30);
  /// The best `wide` grows with the size, and both have a valley.
  Time time_ = [](const Configuration& c, std::size_t size) {
    const double wide = double(c.find("wide")->integer()), deep = double(c.find("deep")->integer());
    const double best = 4 + double(size) / 3;
    return 1000.0 * std::exp2(double(size)) * (1 + 0.002 * (wide - best) * (wide - best) + 0.01 * std::abs(deep - 7));
  };
  SizeRace race_{sizes_};
  std::map<std::pair<Configuration, std::size_t>, int> tried_;
};

TEST_F(Race, FindsFourConfigurationsForThirtySizesInOneAndAHalfTimesTheTrialsOfOne) {
  run(100);
  EXPECT_LE(race_.trials(), 150u);
  const auto found = race_.rule();
  ASSERT_TRUE(found);
  EXPECT_LE(found->rule.branches.size(), 4u);
  EXPECT_LE(worst_regret(found->rule), 0.03);
  EXPECT_THAT(found->regrets, Each(Optional(Le(0.03)))) << "each choice was measured at its size";
}

TEST_F(Race, ProposesNoPairTwice) {
  run(60);
  for (const auto& [pair, times] : tried_) EXPECT_EQ(times, 1) << pair.first.text() << " at " << pair.second;
}

TEST_F(Race, TellsTheRegretBetweenTheSizesWithItsInterval) {
  run(100);
  const SizeRule::Regret between = race_.rule()->rule.between;
  EXPECT_GE(between.sizes, 20u) << "of 28 that are not at an end";
  EXPECT_LE(between.low, between.median);
  EXPECT_LE(between.median, between.high);
  EXPECT_LE(between.high, between.worst);
  EXPECT_LE(between.median, 0.03);
}

TEST_F(Race, EndsWithTheSameRuleForTheSameTimes) {
  run(40);
  const std::string first = race_.rule()->rule.text();
  race_ = SizeRace(sizes_);
  run(40);
  EXPECT_EQ(race_.rule()->rule.text(), first);
}

TEST_F(Race, NeverChoosesAConfigurationThatFailsAtTheSize) {
  const Time works = time_;
  time_ = [works](const Configuration& c, std::size_t size) -> std::optional<double> {
    if (size > 20 && c.find("wide")->integer() % 2 == 1) return std::nullopt;
    return works(c, size);
  };
  run(60);
  EXPECT_LE(worst_regret(race_.rule()->rule), 1) << "a failure would be infinite";
}

TEST_F(Race, SearchesFirstWhereSizesOccurMost) {
  sizes_[25].weight = 1000;
  race_ = SizeRace(sizes_);
  const auto step = race_.next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->size, 25u);
  EXPECT_GT(step->search, 0);
}

TEST_F(Race, GivesOneSizeAllTrials) {
  sizes_.resize(1);
  race_ = SizeRace(sizes_);
  EXPECT_EQ(race_.next()->search, 1);
  search(0, 20);
  while (const auto step = race_.next())
    for (const Configuration& one : step->measure) learn(one, step->size);
  const auto found = race_.rule();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rule.branches.size(), 1u);
  EXPECT_EQ(found->rule.between.sizes, 0u);
}

TEST_F(Race, ThatLearntEverythingBeforeMeasuresNothingAgain) {
  run(60);
  const auto known = tried_;
  race_ = SizeRace(sizes_);
  for (const auto& [pair, times] : known) race_.learn(pair.second, pair.first, time_(pair.first, pair.second));
  const std::size_t before = race_.trials();
  std::size_t searches = 0;
  while (const auto step = race_.next()) {
    searches += step->search > 0;
    for (const Configuration& one : step->measure) learn(one, step->size);
  }
  EXPECT_EQ(searches, 7u) << "whether a search has enough trials is the caller's decision";
  for (const auto& [pair, times] : tried_) EXPECT_EQ(times, 1);
  EXPECT_LE(race_.trials(), before + before / 2);
}

TEST_F(Race, HasNoRuleIfNothingWorks) {
  time_ = [](const Configuration&, std::size_t) { return std::nullopt; };
  run(50);
  EXPECT_EQ(race_.rule(), std::nullopt);
}

}  // namespace
}  // namespace tuner::testing
