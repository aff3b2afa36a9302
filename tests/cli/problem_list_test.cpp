#include <tuner/cli/tune_request.hpp>

#include <tests/matchers.hpp>
#include <tuner/cli/options.hpp>

namespace tuner::cli {
namespace {

/// The message of the UsageError that \p text causes.
std::string complaint(const std::string& text) {
  try {
    parse_problem_list(text, "night.txt");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProblemList, ReadsTheOptionsOfEachLine) {
  const auto list = parse_problem_list(
      "# overnight\n\n--kernel reduce --type float,int --size 'n=4; n=5'  # small ones\r\n"
      "  -k ./mine.cu --choice operation=max --trials 7 --isolation none",
      "night.txt");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].place, "night.txt:3");
  EXPECT_EQ(list[0].kernel, "reduce");
  EXPECT_THAT(list[0].problems.types, ElementsAre("float,int"));
  EXPECT_THAT(list[0].problems.sizes, ElementsAre("n=4; n=5"));
  EXPECT_FALSE(list[0].budget || list[0].isolation) << "the command line's";
  EXPECT_EQ(list[1].kernel, "./mine.cu");
  EXPECT_THAT(list[1].problems.choices, ElementsAre("operation=max"));
  EXPECT_EQ(list[1].budget->trials, 7u);
  EXPECT_EQ(list[1].isolation, Isolation::none);
}

TEST(ProblemList, MayBeginWithAByteOrderMark) {
  EXPECT_EQ(parse_problem_list("\xEF\xBB\xBF--kernel reduce\n", "night.txt").front().kernel, "reduce");
}

TEST(ProblemList, SaysWhichLineIsWrong) {
  EXPECT_THAT(complaint("--kernel reduce\n--kernel reduce --sise n=4\n"),
              AllOf(StartsWith("night.txt:2: "), HasSubstr("did you mean '--size'")));
  EXPECT_THAT(complaint("\n\n--type float"), AllOf(StartsWith("night.txt:3: "), HasSubstr("which kernel?")));
  EXPECT_THAT(complaint("reduce more"), AllOf(StartsWith("night.txt:1: "), HasSubstr("too many arguments")));
  EXPECT_THAT(complaint("--kernel reduce --trials none"), StartsWith("night.txt:1: --trials"));
  EXPECT_THAT(complaint("--kernel 'reduce"), AllOf(StartsWith("night.txt:1: "), HasSubstr("not closed")));
  EXPECT_THAT(complaint("--kernel reduce --db other.db"), HasSubstr("unknown option '--db'"));
}

TEST(ProblemList, HasToNameSomething) {
  EXPECT_THAT(complaint(""), HasSubstr("names no problem"));
  EXPECT_THAT(complaint("  # nothing yet\n"), HasSubstr("names no problem"));
}

TEST(ProblemList, SplitsWordsAsAShellDoesWithoutExpandingThem) {
  EXPECT_THAT(split_words("", "f:1"), IsEmpty());
  EXPECT_THAT(split_words(" a\tb  'c d'\"e f\" x#y #z '", "f:1"), ElementsAre("a", "b", "c de f", "x#y"));
  EXPECT_THAT(split_words("$HOME \\n ''", "f:1"), ElementsAre("$HOME", "\\n", ""));
}

}  // namespace
}  // namespace tuner::cli
