// The scorer against the figures published with the recorded spaces (data/README.md).

#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include <cache/file/disk.hpp>

#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/replay/scorer.hpp>

#include <tests/support/testing.hpp>

namespace tuner::replay {
namespace {

const std::string data = std::string(TUNER_SOURCE_DIR) + "/tests/replay/data/convolution_A100";

RecordedSpace published_convolution() { return std::move(read_recorded_spaces(data + ".csv.gz").front()); }

TEST(Scorer, ReproducesThePublishedBaseline) {
  const RecordedSpace recorded = published_convolution();
  const Scorer scorer(recorded);
  std::istringstream lines(cache::read_text(data + ".baseline.csv.gz"));
  std::string line;
  std::size_t i = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with('#')) continue;
    const std::size_t comma = line.find(',');
    ASSERT_LT(i, scorer.times().size());
    EXPECT_NEAR(scorer.times()[i], std::stod(line.substr(0, comma)), 1e-9);
    EXPECT_NEAR(scorer.baseline()[i], std::stod(line.substr(comma + 1)), 1e-9);
    ++i;
  }
  EXPECT_EQ(i, 1000u);
}

TEST(Scorer, ReproducesThePublishedScoreOfRecordedTraces) {
  const RecordedSpace recorded = published_convolution();
  const Scorer scorer(recorded);
  std::istringstream lines(cache::read_text(data + ".genetic_algorithm.traces.jsonl.gz"));
  std::string line;
  std::vector<RankCurve> repeats;
  while (std::getline(lines, line)) {
    const auto rows = nlohmann::json::parse(line)["rows"].get<std::vector<std::uint64_t>>();
    repeats.push_back(scorer.rank_curve(rows));
  }
  ASSERT_EQ(repeats.size(), 20u);
  const Score score = scorer.score(repeats);
  EXPECT_NEAR(score.value, 0.535241, 1e-3);
  EXPECT_GT(score.standard_error, 0.05);
  EXPECT_LT(score.standard_error, 0.5);
}

/// Objectives 1 … count, one second each.
RecordedSpace staircase(int count) {
  std::vector<RecordedTrial> trials;
  for (int i = 1; i <= count; ++i) trials.push_back({{static_cast<double>(i), 1.0, OutcomeKind::ok}, {{"i", i}}});
  return make_recorded_space("staircase", trials);
}

/// Of one repeat that proposed \p row alone.
Score score_of(const RecordedSpace& recorded, std::uint64_t row) {
  const Scorer scorer(recorded);
  return scorer.score(std::vector<RankCurve>{scorer.rank_curve({&row, 1})});
}

TEST(Scorer, GivesOneToTheOptimumAtOnceAndLessThanZeroToTheWorst) {
  const RecordedSpace recorded = staircase(500);
  const Score best = score_of(recorded, 0);
  EXPECT_NEAR(best.value, 1, 1e-12);
  EXPECT_EQ(best.standard_error, 0);
  EXPECT_NEAR(best.relative_to_optimum, 1, 1e-12);
  EXPECT_LT(score_of(recorded, 499).value, -1) << "the worst";
}

TEST(Scorer, CountsAResultFromTheTimeItIsKnownAndBackFillsTheFirst) {
  RecordedSpace recorded = staircase(500);
  for (RecordedRow& row : recorded.rows) row.eval_seconds = 5;
  const Scorer scorer(recorded);
  const std::vector<std::uint64_t> rows{99, 9};
  const RankCurve curve = scorer.rank_curve(rows);
  for (std::size_t i = 0; i < curve.size(); ++i) EXPECT_EQ(curve[i], scorer.times()[i] < 10 ? 99u : 9u);
}

TEST(Scorer, GivesTheWorstRankToARepeatWithoutAnyValidResult) {
  std::vector<RecordedTrial> trials{{{std::nullopt, 1.0, OutcomeKind::compile}, {{"i", 0}}}};
  for (int i = 1; i <= 50; ++i) trials.push_back({{static_cast<double>(i), 1.0, OutcomeKind::ok}, {{"i", i}}});
  const RecordedSpace recorded = make_recorded_space("failing", trials);
  const Scorer scorer(recorded);
  const std::uint64_t failed = 0;
  for (const std::uint32_t rank : scorer.rank_curve({&failed, 1})) EXPECT_EQ(rank, 49u);
}

TEST(Scorer, ScoresTinyAndConstantSpacesWithoutDividingByZero) {
  for (const int count : {1, 2, 3}) EXPECT_TRUE(std::isfinite(score_of(staircase(count), 0).value)) << count;
  const std::vector<RecordedTrial> equal{{{2.0, 0.0, OutcomeKind::ok}, {{"i", 1}}},
                                         {{2.0, 0.0, OutcomeKind::ok}, {{"i", 2}}}};
  EXPECT_TRUE(std::isfinite(score_of(make_recorded_space("equal", equal), 1).value));
}

TEST(Scorer, CallsAnOptimumOfZeroReachedWhereItIs) {
  const std::vector<RecordedTrial> trials{{{0.0, 1.0, OutcomeKind::ok}, {{"i", 1}}},
                                          {{4.0, 1.0, OutcomeKind::ok}, {{"i", 2}}}};
  EXPECT_EQ(score_of(make_recorded_space("zero", trials), 0).relative_to_optimum, 1);
  EXPECT_EQ(share_of_optimum(0, 4), 0);
}

TEST(Scorer, CountsOneDrawWhereNoneTakesTime) {
  std::vector<RecordedTrial> trials;
  for (int i = 1; i <= 3; ++i) trials.push_back({{0.0, 0.0, OutcomeKind::ok}, {{"i", i}}});
  const RecordedSpace recorded = make_recorded_space("no time", trials);
  EXPECT_EQ(Scorer(recorded).random_draws(), 1);
}

TEST(Scorer, RefusesARecordingWithoutAValidRow) {
  const std::vector<RecordedTrial> trials{{{std::nullopt, 1.0, OutcomeKind::compile}, {{"i", 0}}}};
  const RecordedSpace recorded = make_recorded_space("failing", trials);
  EXPECT_THROW(Scorer{recorded}, RecordedSpaceError);
}

}  // namespace
}  // namespace tuner::replay
