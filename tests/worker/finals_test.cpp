// Finalists that several devices measure again.

#include <span>

#include <tuner/worker/finals.hpp>

#include <tests/support/testing.hpp>

namespace tuner::worker {
namespace {

Configuration block(std::int64_t threads) { return Configuration{{"block", threads}}; }

Trial measured(const Configuration& configuration, double ns) {
  Measurement measurement;
  measurement.median_ns = ns;
  return {configuration, measurement};
}

constexpr int both[] = {0, 1};

class FinalsTest : public ::testing::Test {
 protected:
  FinalsTest() {
    finals.begin({block(32), block(64), block(128)}, 5);
    for (Finals::Finalist& one : finals.finalists()) one.image = std::make_shared<Image>();
  }

  void measure(int lane, double factor) {
    finals.measured(
        lane, *finals.job(),
        {measured(block(32), 10 * factor), measured(block(64), 20 * factor), measured(block(128), 30 * factor)});
  }

  Finals finals;
};

TEST_F(FinalsTest, HaveNoJobBeforeAllAreCompiled) {
  finals.finalists()[1].image.reset();
  EXPECT_FALSE(finals.job());
  finals.finalists()[1].failed = Trial{block(64), CompileError{"no", ""}};
  ASSERT_TRUE(finals.job());
  EXPECT_EQ(finals.job()->configurations, (std::vector{block(32), block(128)}));
  EXPECT_EQ(finals.job()->finals_s, 5);
}

TEST_F(FinalsTest, HaveTheImagesOfTheFastest) {
  const auto image = std::make_shared<const Image>();
  std::vector<Configuration> all;
  for (int ns = 100; ns > 0; --ns) finals.offer(measured(all.emplace_back(block(ns)), ns), image);
  finals.begin(all, 5);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(finals.finalists()[i].image != nullptr, i >= 36) << i;
}

TEST_F(FinalsTest, AreTakenOnceEachLaneHasMeasuredThem) {
  measure(0, 1);
  EXPECT_FALSE(finals.take(both));
  measure(1, 1.02);
  const auto trials = finals.take(both);
  ASSERT_TRUE(trials);
  EXPECT_EQ(trials->at(2).measurement()->median_ns, 30);
  EXPECT_FALSE(finals.take(both)) << "a round ends once";
}

TEST_F(FinalsTest, AreDecidedByTheNextLaneWhereTheFirstIsGone) {
  measure(1, 1.02);
  EXPECT_FALSE(finals.take(both));
  const auto trials = finals.take(std::span(both).last(1));
  ASSERT_TRUE(trials);
  EXPECT_DOUBLE_EQ(trials->at(0).measurement()->median_ns, 10.2);
}

TEST_F(FinalsTest, AreDecidedByTheLaneOnWhichMostWorked) {
  const Trial slow{block(128), Timeout{"limit"}};
  finals.measured(0, *finals.job(), {measured(block(32), 10), measured(block(64), 20), slow});
  measure(1, 1.02);
  const auto trials = finals.take(both);
  ASSERT_TRUE(trials);
  EXPECT_DOUBLE_EQ(trials->at(0).measurement()->median_ns, 10.2);
  EXPECT_NE(trials->at(2).measurement(), nullptr);
}

TEST_F(FinalsTest, AreWrongWhereAnyLaneSawItAndCrashedWhereAnyDid) {
  measure(0, 1);
  Trial crashed{block(64), LaunchError{"its process was killed by signal 11"}};
  crashed.crashed = true;
  finals.measured(1, *finals.job(),
                  {Trial{block(32), WrongResult{"c[0] is 1, not 2"}}, crashed, measured(block(128), 30)});
  const auto trials = finals.take(both);
  ASSERT_TRUE(trials);
  EXPECT_EQ(kind(trials->at(0).outcome), "wrong");
  EXPECT_EQ(kind(trials->at(1).outcome), "launch");
  EXPECT_EQ(trials->at(2).measurement()->median_ns, 30);
}

TEST_F(FinalsTest, AreNotTakenWhileNobodyMeasuresThem) { EXPECT_FALSE(finals.take({})); }

TEST_F(FinalsTest, TellTheMiddleOfHowFarLanesAreApartOverAllRounds) {
  measure(0, 1);
  measure(1, 1.02);
  ASSERT_TRUE(finals.take(both));
  finals.begin({block(32)}, 5);
  finals.finalists()[0].image = std::make_shared<Image>();
  finals.measured(0, *finals.job(), {measured(block(32), 10)});
  finals.measured(1, *finals.job(), {measured(block(32), 10.6)});
  ASSERT_TRUE(finals.take(both));
  LaneReport first, second;
  finals.describe(0, first);
  finals.describe(1, second);
  EXPECT_EQ(first.offset, 0);
  EXPECT_NEAR(second.offset, 1.02, 1e-9);
  EXPECT_NEAR(second.offset_low, 1.02, 1e-9);
  EXPECT_NEAR(second.offset_high, 1.03, 1e-9);
}

TEST_F(FinalsTest, OfOneRoundAreThoseThatWereMeasuredSideBySide) {
  measure(0, 1);
  const auto together = finals.take(std::span(both).first(1));
  EXPECT_NE(together->at(0).round, 0);
  EXPECT_EQ(together->at(0).round, together->at(2).round);
  finals.begin({block(32), block(64)}, 5);
  for (Finals::Finalist& one : finals.finalists()) one.image = std::make_shared<Image>();
  for (const Configuration& one : {block(32), block(64)})
    finals.measured(0, {{one}, {std::make_shared<Image>()}, 2.5}, {measured(one, 10)});
  const auto apart = finals.take(std::span(both).first(1));
  EXPECT_EQ(apart->at(0).round, 0);
  EXPECT_EQ(apart->at(1).round, 0);
}

TEST_F(FinalsTest, KeepWhatDidNotCompileAsItIs) {
  finals.finalists()[1].failed = Trial{block(64), CompileError{"no", ""}};
  finals.measured(0, *finals.job(), {measured(block(32), 10), measured(block(128), 30)});
  const auto trials = finals.take(std::span(both).first(1));
  ASSERT_TRUE(trials);
  EXPECT_EQ(kind(trials->at(1).outcome), "compile");
}

}  // namespace
}  // namespace tuner::worker
