#include <stdexcept>

#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/replay/replay_run.hpp>
#include <tuner/replay/svg_report.hpp>

#include <tests/support/testing.hpp>

namespace tuner::replay {
namespace {

const RecordedSpace& convolution() {
  static const RecordedSpace recorded = std::move(
      read_recorded_spaces(std::string(TUNER_SOURCE_DIR) + "/tests/replay/data/convolution_A100.csv.gz").front());
  return recorded;
}

ReplayOptions quick() {
  ReplayOptions options;
  options.strategies = {"mls", "random"};
  options.repeats = 4;
  return options;
}

TEST(Replay, ReportsEveryStrategyOnEverySpaceAndTheirMean) {
  std::vector<std::string> observed;
  const ReplayReport report = run_replay({convolution(), convolution()}, quick(),
                                         [&](const ReplayResult& result) { observed.push_back(result.strategy); });
  EXPECT_EQ(report.spaces.size(), 2u);
  EXPECT_EQ(report.spaces[1].results.size(), 2u);
  EXPECT_EQ(observed, (std::vector<std::string>{"mls", "random", "mls", "random"}));
  ASSERT_EQ(report.aggregates.size(), 2u);
  EXPECT_EQ(report.aggregates[0].score, report.spaces[0].results[0].score.value);
  EXPECT_DOUBLE_EQ(report.aggregates[0].relative_to_optimum, report.spaces[0].results[0].score.relative_to_optimum);
  EXPECT_EQ(report.aggregates[0].shares, report.spaces[0].results[0].shares);
  EXPECT_GT(report.spaces[0].results[0].mean_trials, 500);
}

TEST(Replay, LetsAPriorAndProposalsAheadBeReplayed) {
  ReplayOptions options = quick();
  options.strategies = {"auto"};
  options.repeats = 2;
  options.budget.trials = 40;
  const RecordedSpace& prior = convolution();
  options.prior = &prior;
  options.ahead = 8;
  const ReplayReport report = run_replay({convolution()}, options);
  EXPECT_EQ(report.spaces[0].results[0].mean_trials, 40);
  EXPECT_EQ(report.spaces[0].results[0].trials_to_percent.size(), 2u)
      << "the prior is the very space: its best is tried at once";
}

TEST(Replay, GivesEachSpaceToTheOthersOfItsKernel) {
  RecordedSpace slower = convolution();
  slower.name = "slower";
  for (RecordedRow& row : slower.rows)
    if (row.objective) *row.objective *= 2;
  RecordedSpace unrelated = make_recorded_space(
      "unrelated", std::vector<RecordedTrial>{{{1, 1}, {{"x", 1}}}, {{2, 1}, {{"x", 2}}}, {{3, 1}, {{"x", 3}}}});
  ReplayOptions options = quick();
  options.strategies = {"auto"};
  const std::vector<ReplayPair> pairs = replay_pairs({convolution(), unrelated, slower}, options);
  ASSERT_THAT(pairs, SizeIs(2));
  EXPECT_EQ(pairs[0].space, convolution().name);
  EXPECT_EQ(pairs[0].prior, "slower");
  EXPECT_EQ(pairs[1].space, "slower");
  EXPECT_EQ(pairs[1].prior, convolution().name);
  for (const ReplayPair& pair : pairs) {
    EXPECT_THAT(pair.with, Each(1)) << "the same order: its best is tried at once";
    EXPECT_LT(pair.without.front(), 1);
    EXPECT_TRUE(std::ranges::is_sorted(pair.without));
  }
  options.budget.trials = kPairTrials;
  EXPECT_EQ(run_replay({convolution()}, options).spaces[0].results[0].shares, pairs[0].without);
  EXPECT_THROW(replay_pairs({convolution(), unrelated}, options), std::invalid_argument);
}

TEST(Replay, GivesTheSameReportAgainUnlessTheSeedIsAnother) {
  ReplayOptions options = quick();
  const ReplayReport one = run_replay({convolution()}, options);
  const ReplayReport again = run_replay({convolution()}, options);
  EXPECT_EQ(one.spaces[0].results[0].score.curve, again.spaces[0].results[0].score.curve);
  EXPECT_EQ(one.spaces[0].results[1].score.value, again.spaces[0].results[1].score.value);
  options.seed = 77;
  EXPECT_NE(run_replay({convolution()}, options).spaces[0].results[0].score.value,
            one.spaces[0].results[0].score.value);
}

TEST(Replay, EndsARepeatAtEachKindOfBudget) {
  const auto trials_of = [](const auto& limit) {
    ReplayOptions options = quick();
    options.strategies = {"random"};
    limit(options.budget);
    return run_replay({convolution()}, options).spaces[0].results[0].mean_trials;
  };
  EXPECT_EQ(trials_of([](Budget& budget) { budget.trials = 25; }), 25);
  EXPECT_EQ(trials_of([](Budget& budget) { budget.fraction = 0.01; }), 44);
  EXPECT_THAT(trials_of([](Budget& budget) { budget.wall_time = std::chrono::seconds(30); }),
              AllOf(::testing::Gt(2), ::testing::Lt(60)));
  EXPECT_LT(trials_of([](Budget& budget) { budget.target = 3e6 * Scorer(convolution()).optimum(); }), 200);
}

TEST(Replay, TriesFirstWhatItIsTold) {
  const RecordedSpace& recorded = convolution();
  const double optimum = Scorer(recorded).optimum();
  EnumeratedSpace::Index best = 0;
  while (recorded.rows[best].objective != optimum) ++best;
  ReplayOptions options = quick();
  options.first = {{{"of", "another space"}}, recorded.space->configuration(best)};
  const ReplayReport report = run_replay({recorded}, options);
  for (const ReplayResult& result : report.spaces[0].results)
    EXPECT_EQ(result.trials_to_percent, std::vector<std::size_t>(options.repeats, 1)) << result.strategy;
}

TEST(Replay, RefusesUnknownStrategiesAndOptions) {
  ReplayOptions options = quick();
  options.strategies = {"autoo"};
  EXPECT_THROW(run_replay({convolution()}, options), std::invalid_argument);
  options = quick();
  options.strategy_options["nonsense"] = 1;
  EXPECT_THROW(run_replay({convolution()}, options), std::invalid_argument);
  EXPECT_THROW(run_replay({}, quick()), std::invalid_argument);
  options = quick();
  options.repeats = 0;
  EXPECT_THROW(run_replay({convolution()}, options), std::invalid_argument);
}

TEST(Replay, IsDrawnAsXmlWhateverTheNameOfASpaceHolds) {
  RecordedSpace hostile = convolution();
  hostile.name = "a\x1b[2J\x01\xff\xef\xbf\xbf<&]]>";
  const std::string svg = svg_report(run_replay({hostile}, quick()));
  EXPECT_TRUE(std::none_of(svg.begin(), svg.end(), [](unsigned char c) { return c < ' ' && c != '\n'; })) << svg;
  EXPECT_THAT(svg, HasSubstr("<title>a\\x1b[2J\\x01\\xff\\uffff&lt;&amp;]]&gt;</title>"));
}

/// The texts of the `<text …>` elements of \p svg.
std::vector<std::string> texts_of(const std::string& svg) {
  std::vector<std::string> texts;
  for (std::size_t at = svg.find("<text"); at != std::string::npos; at = svg.find("<text", at + 1)) {
    const std::size_t begin = svg.find('>', at) + 1;
    texts.push_back(svg.substr(begin, svg.find('<', begin) - begin));
  }
  return texts;
}

/// One space with a long name and strategies enough for several lines of legend.
ReplayReport drawn(double seconds) {
  ReplayReport report;
  report.repeats = 10;
  ReplaySpace& space = report.spaces.emplace_back();
  space.name = "gemm T=float beta_is=zero k=2048 m=2048 n=2048 NVIDIA H200 of a very long name";
  space.optimum = 1;
  for (int i = 0; i < 100; ++i) {
    space.times.push_back(seconds * (i + 1) / 100);
    space.baseline.push_back(1 + 1.0 / (i + 1));
  }
  for (const char* const strategy : {"auto", "genetic_algorithm", "simulated_annealing", "basin_hopping"}) {
    report.aggregates.push_back({strategy, 0.5, 0.1, 0.9, {1}});
    space.results.push_back({space.name, strategy, {}, 1, 1, 1, {}});
    space.results.back().score.curve = space.baseline;
  }
  return report;
}

TEST(ReplayDrawing, HasRoundTicksWithUnits) {
  EXPECT_THAT(texts_of(svg_report(drawn(12.21))), Contains("10 s"));
  EXPECT_THAT(texts_of(svg_report(drawn(0.1446))), Contains("100 ms"));
  EXPECT_THAT(texts_of(svg_report(drawn(1800))), Contains("20 min"));
  EXPECT_THAT(texts_of(svg_report(drawn(12.21))), Contains("100%"));
  for (const std::string& text : texts_of(svg_report(drawn(12.21)))) EXPECT_THAT(text, Not(HasSubstr("12.21")));
}

TEST(ReplayDrawing, CutsNoNameAtItsEdge) {
  const std::string svg = svg_report(drawn(10));
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"420\""));
  const std::vector<std::string> texts = texts_of(svg);
  const auto is_title = [](const std::string& text) { return text.rfind("gemm", 0) == 0; };
  const auto title = std::find_if(texts.begin(), texts.end(), is_title);
  ASSERT_NE(title, texts.end());
  EXPECT_LT(title->size(), 55u) << "shortened";
  EXPECT_NE(svg.find("<title>gemm T=float beta_is=zero k=2048 m=2048 n=2048 NVIDIA H200 of a very long name</title>"),
            std::string::npos);
  // Four names of strategies in one panel's width take more than one line.
  EXPECT_THAT(svg, HasSubstr("y=\"90.0\" text-anchor=\"start\""));
}

}  // namespace
}  // namespace tuner::replay
