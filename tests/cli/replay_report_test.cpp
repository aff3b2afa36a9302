#include <tuner/cli/replay_report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tuner/cli/json.hpp>
#include <tuner/replay/read_recording.hpp>

namespace tuner::cli {
namespace {

using ::testing::HasSubstr;

/// Of a space twice, so that its name says nothing.
const replay::ReplayReport& sample_report() {
  static const replay::ReplayReport report = [] {
    const std::string file = TUNER_SOURCE_DIR "/tests/replay/data/convolution_A100.csv.gz";
    std::vector<replay::Recording> spaces = replay::read_recordings(file);
    spaces.push_back(spaces.front());
    replay::ReplayOptions options;
    options.strategies = {"mls", "random"};
    options.repeats = 4;
    return replay::run_replay(spaces, options);
  }();
  return report;
}

TEST(ReplayReport, IsATableForEachSpaceAndTheMeans) {
  const std::string text = replay_tables(sample_report());
  EXPECT_THAT(text, HasSubstr("convolution_A100: 4362 configurations, 4201 valid"));
  EXPECT_THAT(text, HasSubstr("\n  strategy  score            best/opt  <= 1%  trials  CPU ms/trial\n"));
  EXPECT_THAT(text, HasSubstr("\n  (random)      0              "));
  EXPECT_THAT(text, HasSubstr("\nmean of 2 spaces, 4 repeats, seed 1; score: 0 = random search"));
}

TEST(ReplayReport, IsADocumentWithTheCurvesOfEverySpace) {
  const Json json = to_json(sample_report());
  EXPECT_EQ(json["spaces"][0]["results"][0]["strategy"], "mls");
  EXPECT_EQ(json["spaces"][0]["results"][0]["curve"].size(), 1000u);
  EXPECT_EQ(json["spaces"][1]["results"].size(), 2u);
  EXPECT_DOUBLE_EQ(json["aggregate"][1]["score"], sample_report().aggregates[1].score);
}

}  // namespace
}  // namespace tuner::cli
