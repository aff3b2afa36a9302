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
  const Finished run = tune_small({"--fix", "block=128", "--vary", "unroll", "--rows", "all"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("(8,1)"));    // the grid of unroll=1
  EXPECT_THAT(run.out, HasSubstr("(128,1)"));  // its block
  EXPECT_THAT(run.out, HasSubstr("small: block * unroll <= 256"));
  EXPECT_THAT(run.err, Not(HasSubstr("budget")));
}

TEST_F(SweepProgram, DecidesNothing) {
  ASSERT_EQ(tune_small({"--fix", "block=64 unroll=1", "--quiet"}).code, 0);
  const json answer = json::parse(tune_small({"show", "--why", "--json"}).out);
  EXPECT_EQ(answer["answers"][0]["tier"], "default");
}

TEST_F(SweepProgram, PrintsTheBestForEachValueInDeclaredOrder) {
  const Finished run = tune_small({"--fix", "unroll=1", "--by", "block,T", "--type", "float,int", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json by = json::parse(run.out)["by"];
  ASSERT_EQ(by["block"].size(), 3u);
  EXPECT_EQ(by["block"][0]["value"], "32");
  EXPECT_EQ(by["block"][2]["value"], "128");
  EXPECT_EQ(by["block"][0]["speed_up"], 1.0);
  EXPECT_EQ(by["T"][1]["value"], "int");
}

TEST_F(SweepProgram, KeepsTheValueOfAParameterThatIsCalledStep) {
  std::string text = contents(small_kernel());
  for (std::size_t at = 0; (at = text.find("unroll", at)) != std::string::npos;) text.replace(at, 6, "step");
  const Finished run =
      tune({"--kernel", file("steps.cu", text), "--device", "host", "--fix", "block=32", "--by", "step", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json by = json::parse(run.out)["by"]["step"];
  ASSERT_EQ(by.size(), 3u);
  EXPECT_EQ(by[1]["value"], "2");
  EXPECT_EQ(by[1]["over"], "1");
  EXPECT_TRUE(by[1]["gain"].is_number());
}

TEST_F(SweepProgram, ComparesAValueWithTheOneThatItWasMadeFrom) {
  std::string text = contents(small_kernel());
  text += "#pragma tuner parents block = 128:32\n";
  const Finished run =
      tune({"--kernel", file("parents.cu", text), "--device", "host", "--fix", "unroll=1", "--by", "block", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json by = json::parse(run.out)["by"]["block"];
  ASSERT_EQ(by.size(), 3u);
  EXPECT_EQ(by[1]["over"], "32");
  EXPECT_EQ(by[2]["over"], "32");
  EXPECT_EQ(by[2]["gain"], by[2]["speed_up"]);
}

TEST_F(SweepProgram, ShowsFailuresOfAWholeSpaceWhereAllRowsAreAskedFor) {
  std::string text = contents(small_kernel());
  text.insert(text.find("  for (int k"), "  static_assert(block != 64 || unroll != 2, \"no such tile\");\n");
  const std::string kernel = file("refuses.cu", text);
  const Finished run = tune({"--kernel", kernel, "--device", "host", "--rows", "all"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, Holds("why not", "compile: "));
}

TEST_F(SweepProgram, WritesEveryRowAsCsvAndReplacesOnlyItsOwn) {
  const std::string path = (folder() / "rows.csv").string();
  ASSERT_EQ(tune_small({"--vary", "block,unroll", "--csv", path}).code, 0);
  const std::vector<std::string> rows = lines(contents(path));
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_THAT(rows[0], StartsWith("kernel,problem,block,unroll,grid,block,outcome,median_ns"));
  EXPECT_THAT(rows[9], Holds(",128,4,", ",invalid,"));
  EXPECT_EQ(tune_small({"--fix", "block=32 unroll=1", "--csv", path}).code, 0);
  const Finished foreign = tune_small({"--fix", "block=32 unroll=1", "--csv", file("mine.txt", "notes\n")});
  EXPECT_EQ(foreign.code, 1);
  EXPECT_EQ(contents(folder() / "mine.txt"), "notes\n");
}

TEST_F(SweepProgram, RefusesUnknownNamesBeforeAnythingRuns) {
  EXPECT_THAT(tune_small({"--fix", "blok=32"}).err, HasSubstr("did you mean 'block'"));
  EXPECT_THAT(tune_small({"--by", "blok"}).err, HasSubstr("did you mean 'block'"));
  EXPECT_EQ(tune_small({"--rows", "some"}).code, 2);
}

}  // namespace
}  // namespace tuner::cli
