// Part of a space in a table: `--fix`, `--vary`, `--rows`, `--csv`, `--by`; the program runs on the host backend.
#include <sstream>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

class SweepProgram : public ProgramTest {
 protected:
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
};

TEST_F(SweepProgram, TriesAllOfThePartAndShowsWhatCannotRunWithItsReason) {
  const Finished run = call("scale.cu --fix block=128 --vary unroll --rows all");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("(8,1)"));    // the grid of unroll=1
  EXPECT_THAT(run.out, HasSubstr("(128,1)"));  // its block
  EXPECT_THAT(run.out, HasSubstr("small: block * unroll <= 256"));
  EXPECT_THAT(run.err, Not(HasSubstr("budget")));
}

TEST_F(SweepProgram, DecidesNothing) {
  ASSERT_EQ(call("scale.cu --fix 'block=64 unroll=1' --quiet").code, 0);
  const json answer = document("show scale.cu --why --json");
  EXPECT_EQ(answer["answers"][0]["tier"], "default");
}

TEST_F(SweepProgram, PrintsTheBestForEachValueInDeclaredOrder) {
  const json by = document("scale.cu --fix unroll=1 --by block,T --type float,int --json")["by"];
  ASSERT_EQ(by["block"].size(), 3u);
  EXPECT_EQ(by["block"][0]["value"], "32");
  EXPECT_EQ(by["block"][2]["value"], "128");
  EXPECT_EQ(by["block"][0]["speed_up"], 1.0);
  EXPECT_EQ(by["T"][1]["value"], "int");
}

TEST_F(SweepProgram, KeepsTheValueOfAParameterThatIsCalledStep) {
  std::string text = contents(small_kernel());
  for (std::size_t at = 0; (at = text.find("unroll", at)) != std::string::npos;) text.replace(at, 6, "step");
  file("steps.cu", text);
  const json by = document("steps.cu --fix block=32 --by step --json")["by"]["step"];
  ASSERT_EQ(by.size(), 3u);
  EXPECT_EQ(by[1]["value"], "2");
  EXPECT_EQ(by[1]["over"], "1");
  EXPECT_TRUE(by[1]["gain"].is_number());
}

TEST_F(SweepProgram, ComparesAValueWithTheOneThatItWasMadeFrom) {
  file("parents.cu", contents(small_kernel()) + "#pragma tuner parents block = 128:32\n");
  const json by = document("parents.cu --fix unroll=1 --by block --json")["by"]["block"];
  ASSERT_EQ(by.size(), 3u);
  EXPECT_EQ(by[1]["over"], "32");
  EXPECT_EQ(by[2]["over"], "32");
  EXPECT_EQ(by[2]["gain"], by[2]["speed_up"]);
}

TEST_F(SweepProgram, ShowsFailuresOfAWholeSpaceWhereAllRowsAreAskedFor) {
  std::string text = contents(small_kernel());
  text.insert(text.find("  for (int k"), "  static_assert(block != 64 || unroll != 2, \"no such tile\");\n");
  file("refuses.cu", text);
  const Finished run = call("refuses.cu --rows all");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, Holds("why not", "compile: "));
}

TEST_F(SweepProgram, WritesEveryRowAsCsvAndReplacesOnlyItsOwn) {
  ASSERT_EQ(call("scale.cu --vary block,unroll --csv rows.csv").code, 0);
  const std::vector<std::string> rows = lines(contents(folder() / "rows.csv"));
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_THAT(rows[0], StartsWith("kernel,problem,block,unroll,launch.grid,launch.block,outcome,median_ns"));
  EXPECT_THAT(rows[9], Holds(",128,4,", ",invalid,"));
  EXPECT_EQ(call("scale.cu --fix 'block=32 unroll=1' --csv rows.csv").code, 0);
  file("mine.txt", "notes\n");
  EXPECT_EQ(call("scale.cu --fix 'block=32 unroll=1' --csv mine.txt").code, 1);
  EXPECT_EQ(contents(folder() / "mine.txt"), "notes\n");
}

TEST_F(SweepProgram, RefusesUnknownNamesBeforeAnythingRuns) {
  expect_failures(2, "did you mean 'block'", {"scale.cu --fix blok=32", "scale.cu --vary blok", "scale.cu --by blok"});
  EXPECT_EQ(call("scale.cu --rows some").code, 2);
}

}  // namespace
}  // namespace tuner::cli
