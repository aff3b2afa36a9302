#include <tuner/cli/progress.hpp>

#include <tests/matchers.hpp>
#include <tuner/cli/table.hpp>

namespace tuner::cli {
namespace {

Progress half_way() {
  Progress progress;
  progress.finished = 50;
  progress.planned = 100;
  progress.elapsed = std::chrono::duration<double>(10);
  progress.remaining = std::chrono::duration<double>(108);
  return progress;
}

OutcomeCounts some_outcomes() {
  OutcomeCounts counts;
  counts.add(Measurement{});
  counts.add(Measurement{});
  counts.add(WrongResult{"y[3] is 1, not 2"});
  counts.add(CompileError{"expected ;", ""});
  return counts;
}

TEST(OutcomeCounts, ListsKindsInAFixedOrderWithoutThoseThatDidNotOccur) {
  EXPECT_EQ(some_outcomes().text(), "2 ok, 1 compile, 1 wrong");
  EXPECT_EQ(some_outcomes().failures(), 2u);
  EXPECT_EQ(OutcomeCounts().text(), "");
}

TEST(ProgressLine, SaysHowFarHowFastHowLongAndHowGood) {
  EXPECT_EQ(progress_line(half_way(), some_outcomes(), {}, "12.3 us 4.21 TB/s", 200),
            "[########--------] 50/100  best 12.3 us 4.21 TB/s  1:48 left  5/s  2 ok, 1 compile, 1 wrong");
}

TEST(ProgressLine, NeverPassesTheWidthAndKeepsTheCountLongest) {
  for (std::size_t width = 6; width < 120; ++width) {
    const std::string line = progress_line(half_way(), some_outcomes(), {}, "12.3 us 4.21 TB/s", width);
    EXPECT_LE(display_width(line), width);
    EXPECT_THAT(line, HasSubstr("50/100"));
  }
  EXPECT_THAT(progress_line(half_way(), some_outcomes(), {}, "12.3 us", 50), Not(HasSubstr("compile")));
}

TEST(ProgressLine, FillsItsBarByTimeWhenNoNumberOfTrialsIsPlanned) {
  Progress progress = half_way();
  progress.planned.reset();
  progress.remaining = std::chrono::duration<double>(30);
  EXPECT_THAT(progress_line(progress, {}, {}, "", 200), StartsWith("[####------------] 50  30 s left"));
}

TEST(ProgressLine, CountsTheTrialsOfEachOfSeveralLanes) {
  EXPECT_THAT(progress_line(half_way(), {}, {2, 0, 1}, "", 200), HasSubstr("  lanes 2 0 1"));
  EXPECT_THAT(progress_line(half_way(), {}, {3}, "", 200), Not(HasSubstr("lanes")));
}

TEST(TuneListener, SaysHowManyTrialsOfEarlierRunsAreTakenOver) {
  for (const auto& [resumed, text] : {std::pair{std::size_t{1}, "1 trial of earlier runs is taken over"},
                                      std::pair{std::size_t{2}, "2 trials of earlier runs are taken over"}}) {
    ::testing::internal::CaptureStderr();
    Output output;
    SessionPlan plan;
    plan.resumed = resumed;
    TuneListener(output).on_start(plan);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(text));
  }
}

TEST(ProgressLine, MentionsResumedTrials) {
  Progress progress = half_way();
  progress.resumed = 7;
  EXPECT_THAT(progress_line(progress, {}, {}, "", 200), HasSubstr("7 resumed"));
}

}  // namespace
}  // namespace tuner::cli
