// The arithmetic of bench/truth, and what its table says about findings.

#include <cmath>

#include <bench/truth/numbers.hpp>
#include <bench/truth/table.hpp>

#include <tests/support/testing.hpp>

namespace bench::truth {
namespace {

using Json = nlohmann::json;

TEST(TruthNumbers, AQuantileIsTheSmallestValueThatEnoughValuesDoNotExceed) {
  const std::vector<double> values{5, 1, 4, 2, 3};
  EXPECT_EQ(quantile(values, 0.6), 3);
  EXPECT_EQ(quantile(values, 0.61), 4);
  EXPECT_EQ(quantile(values, 1), 5);
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

// The bounds by hand: without a hit (1 - p)^n = 0.025; with hits only p^n = 0.025.
TEST(TruthNumbers, ARateHasItsExactInterval) {
  EXPECT_EQ((Rate{0, 10}).low(), 0);
  EXPECT_NEAR((Rate{0, 10}).high(), 1 - std::pow(0.025, 0.1), 1e-9);
  EXPECT_NEAR((Rate{10, 10}).low(), std::pow(0.025, 0.1), 1e-9);
  EXPECT_EQ((Rate{10, 10}).high(), 1);
  EXPECT_NEAR((Rate{1, 10}).low(), 1 - std::pow(0.975, 0.1), 1e-9);
  EXPECT_NEAR((Rate{0, 3688}).high(), 0.001, 1e-6) << "so many cases show a rate of one in a thousand";
  EXPECT_EQ((Rate{}).low(), 0);
  EXPECT_EQ((Rate{}).high(), 1);
  EXPECT_TRUE(std::isnan(Rate{}.value()));
}

TEST(TruthNumbers, TimesAreComparedWithinTheirProcess) {
  const Replays replays{{"a", {10, 20, 30}}, {"b", {11, 22, 33}}, {"c", {9, 40, 60}}};
  EXPECT_NEAR(paired_ratio(replays, "b", "a"), 1.1, 1e-12);
  EXPECT_NEAR(paired_ratio(replays, "c", "a"), 2, 1e-12) << "the median of 0.9, 2 and 2";
  EXPECT_TRUE(std::isnan(paired_ratio(replays, "a", "other")));
  const std::vector<std::string> names{"c", "b", "a"};
  EXPECT_EQ(fastest(replays, names), "a");
  EXPECT_EQ(fastest(replays, {}), "");
}

TEST(TruthNumbers, IfEachIsBeatenByAnotherTheLowestMedianIsTheFastest) {
  const Replays replays{{"a", {1, 2, 6}}, {"b", {2, 3, 1}}, {"c", {3, 1, 2}}};
  const std::vector<std::string> names{"a", "b", "c"};
  ASSERT_GT(paired_ratio(replays, "a", "c"), 1);
  EXPECT_EQ(fastest(replays, names), "a");
}

TEST(TruthNumbers, ShortTimesMayDifferByFiftyNanoseconds) {
  EXPECT_EQ(tolerance_ns(1000), 50);
  EXPECT_EQ(tolerance_ns(10'000), 200);
}

/// Tunings that named \p picks. The times of `slow` are \p slow times those of `fast`.
Json winners(const std::vector<std::string>& picks, double slow) {
  Json seeds = Json::array();
  for (const std::string& pick : picks) seeds.push_back({{"seed", seeds.size()}, {"configuration", pick}});
  return {{"part", "winners"},
          {"problem", "scale n=4"},
          {"seeds", seeds},
          {"default", "slow"},
          {"replays", {{"fast", {100, 200}}, {"slow", {100 * slow, 200 * slow}}}}};
}

Json told(double told_ns, double had_ns) {
  return {{"part", "told"},
          {"problem", "scale n=4"},
          {"told_ns", told_ns},
          {"had", {{"search", told_ns}, {"finalists", told_ns}, {"new process", told_ns}, {"served call", had_ns}}}};
}

Json compared(const std::vector<std::string>& equal, const std::vector<std::string>& slower) {
  Json one{{"part", "compare"}, {"problem", "slowed n=4"}, {"equal", Json::array()}, {"slower", Json::array()}};
  for (const std::string& verdict : equal) one["equal"].push_back({{"verdict", verdict}, {"apart", true}});
  for (const std::string& verdict : slower) one["slower"].push_back({{"verdict", verdict}});
  return one;
}

TEST(TruthTable, TellsTheRegretOfWinnersAndHowOftenTuningsDiffer) {
  const Table table = table_of(Json::array({winners({"fast", "fast", "slow"}, 1.004)}));
  EXPECT_TRUE(table.holds) << table.text;
  EXPECT_NEAR(table.json.at("regret").at("p95").get<double>(), 0.004, 1e-9);
  EXPECT_EQ(table.json.at("regret").at("median"), 0);
  EXPECT_EQ(table.json.at("tunings_differ").at("pairs"), 3);
  EXPECT_EQ(table.json.at("tunings_differ").at("differ"), 2);
  EXPECT_NE(table.text.find("| scale n=4 | 3 | 2 | 0.00% | 0.40% | 0.40% | 1.004 |"), std::string::npos) << table.text;
  EXPECT_FALSE(table_of(Json::array({winners({"fast", "fast", "slow"}, 1.02)})).holds);
}

TEST(TruthTable, JoinsTheFindingsOfSeveralRuns) {
  const Table table = table_of(Json::array({winners({"fast", "fast"}, 1.02), winners({"slow"}, 1.008)}));
  EXPECT_EQ(table.json.at("regret").at("tunings"), 3);
  EXPECT_EQ(table.json.at("tunings_differ").at("pairs"), 1) << "tunings of one problem and one run";
  EXPECT_NEAR(table.json.at("regret").at("p95").get<double>(), 0.008, 1e-9);
}

TEST(TruthTable, NamesTimesThatAreNotHad) {
  EXPECT_TRUE(table_of(Json::array({told(1000, 1049), told(10'000, 10'199)})).holds);
  const Table table = table_of(Json::array({told(1000, 1051)}));
  EXPECT_FALSE(table.holds);
  EXPECT_EQ(table.json.at("told_over_had").at("exceed"), 1);
  EXPECT_NE(table.text.find("0.951 (-51 ns) EXCEEDS"), std::string::npos) << table.text;
}

TEST(TruthTable, TellsTheRegretOfASizeClass) {
  const auto drawn = [](double served) {
    return Json{
        {"part", "classes"},
        {"problem", "scale n=4"},
        {"draws",
         {{{"problem", "scale n=5"}, {"served", "a"}, {"own", "b"}, {"replays", {{"a", {served}}, {"b", {100}}}}}}}};
  };
  EXPECT_TRUE(table_of(Json::array({drawn(101), drawn(90)})).holds);
  const Table table = table_of(Json::array({drawn(101), drawn(103)}));
  EXPECT_FALSE(table.holds);
  EXPECT_NEAR(table.json.at("size_class_regret").at("p95").get<double>(), 0.03, 1e-9);
}

TEST(TruthTable, CountsFalseAlarmsAndMisses) {
  EXPECT_TRUE(table_of(Json::array({compared({"same", "undecided"}, {"slower", "slower"})})).holds);
  const Table alarm = table_of(Json::array({compared({"same", "faster"}, {"slower"})}));
  EXPECT_FALSE(alarm.holds);
  EXPECT_EQ(alarm.json.at("compare").at("false_alarms"), 1);
  const Table missed = table_of(Json::array({compared({"same"}, {"slower", "undecided", "same", "faster"})}));
  EXPECT_FALSE(missed.holds);
  EXPECT_EQ(missed.json.at("compare").at("missed"), 3);
}

TEST(TruthTable, HasOnlyThePartsThatWereMeasured) {
  const Table table = table_of(Json::array({told(1000, 1000)}));
  EXPECT_EQ(table.json.size(), 1u);
  EXPECT_EQ(table_of(Json::array()).text, "");
}

}  // namespace
}  // namespace bench::truth
