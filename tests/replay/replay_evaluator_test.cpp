#include <gtest/gtest.h>

#include <tuner/replay/replay_evaluator.hpp>

namespace tuner::replay {
namespace {

Recording recording() {
  const std::vector<RecordedTrial> trials{{{{"a", 1}}, 2.5, 0.5, OutcomeKind::ok},
                                          {{{"a", 2}}, std::nullopt, 0.25, OutcomeKind::timeout},
                                          {{{"a", 3}}, std::nullopt, 0.25, OutcomeKind::compile}};
  return make_recording("three", trials, "ms");
}

TEST(ReplayEvaluator, AnswersWithWhatWasRecorded) {
  const Recording three = recording();
  ReplayEvaluator evaluator(three, 4);
  EXPECT_EQ(evaluator.capacity(), 4u);
  evaluator.submit({{"a", 1}}, 0);
  evaluator.submit({{"a", 2}}, 2.5e6);
  evaluator.submit({{"a", 3}}, 2.5e6);
  EXPECT_EQ(evaluator.in_flight(), 3u);
  Trial trial = evaluator.next();
  ASSERT_TRUE(trial.measurement());
  EXPECT_DOUBLE_EQ(trial.measurement()->median_ns, 2.5e6);
  EXPECT_EQ(trial.configuration.text(), "a=1");
  EXPECT_TRUE(trial.verified);
  EXPECT_EQ(kind(evaluator.next().outcome), "timeout");
  EXPECT_EQ(kind(evaluator.next().outcome), "compile");
  EXPECT_EQ(evaluator.in_flight(), 0u);
  EXPECT_DOUBLE_EQ(evaluator.elapsed_seconds(), 1.0);
}

TEST(ReplayEvaluator, CallsAConfigurationThatIsNotRecordedInvalid) {
  const Recording three = recording();
  ReplayEvaluator evaluator(three);
  evaluator.submit({{"a", 9}}, 0);
  const Trial trial = evaluator.next();
  EXPECT_EQ(kind(trial.outcome), "invalid");
  EXPECT_NE(std::string(message(trial.outcome)).find("not in the recording 'three'"), std::string::npos);
}

}  // namespace
}  // namespace tuner::replay
