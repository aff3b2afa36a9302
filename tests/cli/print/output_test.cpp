// What people read in a terminal: tables, and the line of progress.

#include <cstdio>
#include <stdexcept>

#include <tests/support/testing.hpp>
#include <tuner/cli/print/progress.hpp>
#include <tuner/cli/print/table.hpp>

namespace tuner::cli {
namespace {

TEST(Table, AlignsNumbersRightAndWordsLeft) {
  Table table({"name", "count", "note"});
  table.add({"a", 1, "x"});
  table.add({"long one", 12345});
  EXPECT_EQ(table.text(""),
            "name      count  note\n"
            "a             1  x\n"
            "long one  12345\n");
}

TEST(Table, LeavesOutColumnsThatAreEmptyEverywhere) {
  Table table({"a", "b", "c"});
  table.add({"1", "", "3"});
  EXPECT_EQ(table.text("> "), "> a  c\n> 1  3\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({"x", "y"});
  table.add({"µs", 1});
  table.add({"ms", 2});
  EXPECT_EQ(table.text(""), "x   y\nµs  1\nms  2\n");
}

TEST(Table, RefusesMoreCellsThanColumns) {
  Table table({"only"});
  EXPECT_THROW(table.add({"1", "2"}), std::invalid_argument);
}

TEST(Table, PrintsTheSameRowsForPeopleAndForPrograms) {
  Table table({"kernel", named("median", "median_ns"), people("interval"), data("low_ns"), "reason"});
  table.add({"a,b", Cell::ns(12345.678), Cell::right("+- 1%"), 12000.5, Cell(nullptr, "-")});
  table.add({"say \"hi\"", Cell()});
  EXPECT_EQ(table.text(""),
            "kernel     median  interval  reason\n"
            "a,b       12.3 us     +- 1%  -\n"
            "say \"hi\"\n");
  EXPECT_EQ(table.json(), Json::parse(R"([{"kernel": "a,b", "median_ns": 12345.678, "low_ns": 12000.5, "reason": null},
                                          {"kernel": "say \"hi\""}])"));
  EXPECT_EQ(table.csv(),
            "kernel,median_ns,low_ns,reason\n"
            "\"a,b\",12345.7,12000.5,\n"
            "\"say \"\"hi\"\"\",,,\n");
}

TEST(Facts, AlignsNames) {
  EXPECT_EQ(facts({{"a", "1"}, {"long", "2"}}, " "), " a     1\n long  2\n");
  EXPECT_EQ(facts({{"a", "1"}}, "", 4), "a     1\n");
}

/// What \p print prints with and without --json.
std::string printed(bool json, const std::function<void(const Given&)>& print) {
  const Given given = Options().add("json").read(json ? Texts{"--json"} : Texts());
  ::testing::internal::CaptureStdout();
  print(given);
  std::fflush(stdout);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Answer, ShowsEachPartOnceAndAlignsThem) {
  const auto print = [](const Given& given) {
    Answer answer(6);
    answer.fact("a", 1).show(given);
    answer.fact("longer", 2).print(given);
  };
  EXPECT_EQ(printed(false, print), "a       1\nlonger  2\n");
  EXPECT_EQ(Json::parse(printed(true, print)), Json::parse(R"({"a": 1, "longer": 2})"));
}

TEST(Answer, SendsNoControlCharacterToATerminalAndLosesNoneInJson) {
  const std::string hostile = "x\x1b[2J\x7f\xc2\x9b\xe2\x80\xae", shown = "x\\x1b[2J\\x7f\\u009b\\u202e";
  const auto print = [&](const Given& given) {
    Table table({"name"});
    table.add({hostile});
    Answer().fact("fact", hostile).text(hostile + '\n').rows("rows", table, "").print(given);
  };
  EXPECT_EQ(printed(false, print), "fact  " + shown + '\n' + shown + "\nname\n" + shown + '\n');
  const std::string json = printed(true, print);
  EXPECT_TRUE(std::all_of(json.begin(), json.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
      << json;
  EXPECT_EQ(Json::parse(json), (Json{{"fact", hostile}, {"rows", Json::array({{{"name", hostile}}})}}));
}

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
