// The problems that a command line and a list name, and how devices share them.

#include <tuner/cli/input/problems.hpp>

#include <tuner/cli/input/options.hpp>
#include <tuner/cli/input/tune_arguments.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/batch/problem_spread.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cli {
namespace {

/// \p more: its last lines.
KernelSpec scale_kernel(const std::string& more = "") {
  return parse_kernel_file(R"(
#pragma tuner kernel      scale
#pragma tuner type        T = float double int
#pragma tuner choice      operation = sum max
#pragma tuner size        n = 16777216
#pragma tuner parameter   block = 32 64
#pragma tuner inout       x[n]
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner arguments   x, n
#pragma tuner instantiate scale<T, block>
#pragma tuner reference   scaleReference<T>
#pragma tuner bytes       2 * n * sizeof(T)
#pragma tuner default     block=32
)" + more,
                           "scale.cu");
}

KernelSpec plane_kernel() {
  return parse_kernel_file(R"(
#pragma tuner kernel      fill
#pragma tuner size        nx = 64
#pragma tuner size        ny = 64
#pragma tuner parameter   block = 32 64
#pragma tuner out         x[nx * ny] : float
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(nx * ny, block))
#pragma tuner arguments   x, nx, ny
#pragma tuner instantiate fill<block>
#pragma tuner reference   fillReference
)",
                           "fill.cu");
}

Device device(const char* backend) {
  Device device;
  device.key.backend = backend;
  return device;
}

std::string problem_complaint(const ProblemOptions& options) {
  return error_of<UsageError>([&] { select_problems(scale_kernel(), options, device("cuda")); });
}

TEST(SelectProblems, TakesDefaultsWhenNothingIsGiven) {
  const Problems problems = select_problems(scale_kernel(), {}, device("cuda"));
  ASSERT_EQ(problems.list.size(), 1u);
  EXPECT_EQ(problems.list[0].text(), "T=float operation=sum n=16777216");
  EXPECT_FALSE(problems.shrunk);
}

TEST(SelectProblems, CombinesEverySizeWithEveryType) {
  const Problems problems =
      select_problems(scale_kernel(), {{"n=4k;n=8k", "16M"}, {"float,int"}, {"operation=max"}}, device("cuda"));
  ASSERT_EQ(problems.list.size(), 6u);
  EXPECT_EQ(problems.list[0].text(), "T=float operation=max n=4096");
  EXPECT_EQ(problems.list[5].sizes.at("n"), 16 << 20);
}

TEST(SelectProblems, TakesTheTypeByEitherOptionAndByItsOtherNames) {
  for (const ProblemOptions& options : {ProblemOptions{{}, {"float64"}, {}}, ProblemOptions{{}, {}, {"T=double"}}})
    EXPECT_EQ(select_problems(scale_kernel(), options, device("cuda")).list.front().choices.at("T"), "double");
}

TEST(SelectProblems, ShrinksDefaultsButNotWhatWasAskedForOnTheHost) {
  const Problems problems = select_problems(scale_kernel(), {}, device("host"));
  EXPECT_TRUE(problems.shrunk);
  EXPECT_EQ(problems.list[0].sizes.at("n") * 2 * 4, kHostDefaultBytes);
  const Problems asked = select_problems(scale_kernel(), {{"n=16M"}, {}, {}}, device("host"));
  EXPECT_FALSE(asked.shrunk);
  EXPECT_EQ(asked.list[0].sizes.at("n"), 16 << 20);
}

TEST(SelectProblems, ShrinksOnlyAsLongAsTheDefaultConfigurationStaysValid) {
  const KernelSpec kernel = scale_kernel("#pragma tuner constraint whole: n % (block * 65536) == 0\n");
  const Problems problems = select_problems(kernel, {}, device("host"));
  EXPECT_EQ(problems.list[0].sizes.at("n"), 32 * 65536);
}

TEST(SelectProblems, TellsWhereSizesMayHaveBeenMeantForOneProblem) {
  const auto may_be_one = [](std::vector<std::string> sizes) {
    return select_problems(plane_kernel(), {std::move(sizes), {}, {}}, device("cuda")).may_be_one;
  };
  EXPECT_TRUE(may_be_one({"nx=67", "ny=35"}));
  EXPECT_TRUE(may_be_one({"nx=67;ny=35"}));
  EXPECT_FALSE(may_be_one({"nx=67,ny=35"}));
  EXPECT_FALSE(may_be_one({"nx=67", "nx=35"}));
  EXPECT_FALSE(may_be_one({"nx=67", "nx=35,ny=3"}));
  EXPECT_FALSE(may_be_one({}));
}

TEST(SelectProblems, RefusesWhatItDoesNotKnowWithAHint) {
  for (const auto& [options, hint] :
       {std::pair<ProblemOptions, const char*>{{{}, {"flaot"}, {}}, "did you mean 'float'?"},
        {{{}, {}, {"operatoin=sum"}}, "did you mean 'operation'?"},
        {{{}, {}, {"operation=summ"}}, "did you mean 'sum'?"},
        {{{}, {}, {"foo=1"}}, "unknown choice of kernel scale 'foo'; known: T, operation."},
        {{{"m=4"}, {}, {}}, "unknown size 'm'"},
        {{{}, {"float"}, {"T=double"}}, "both choose the type; give one"}})
    EXPECT_THAT(problem_complaint(options), HasSubstr(hint));
}

TEST(SelectProblems, ChoicesTakeListsAsTypesDo) {
  ProblemOptions options;
  options.types = {"float", "int"};
  options.choices = {"operation=sum,max"};
  std::vector<std::string> found;
  for (const ProblemSize& one : select_problems(scale_kernel(), options, device("cuda")).list)
    found.push_back(one.choices_text());
  EXPECT_EQ(found, (std::vector<std::string>{"T=float operation=sum", "T=float operation=max", "T=int operation=sum",
                                             "T=int operation=max"}));
}

/// The message of the UsageError that \p text causes.
std::string complaint(const std::string& text) {
  return error_of<UsageError>([&] { parse_problem_list(text, "night.txt"); });
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
  EXPECT_EQ(parse_problem_list("-k reduce --effort quick", "night.txt").front().effort, Effort::quick);
  EXPECT_THAT(complaint("-k reduce --effort quick --trials 3"), HasSubstr("--effort and --trials do not go together"));
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

using Share = ProblemSpread::Share;

/// \p problems that can use all devices.
std::vector<std::size_t> any(std::size_t problems) { return std::vector<std::size_t>(problems, 8); }

/// All that begins now.
std::vector<Share> begin(ProblemSpread& spread) {
  std::vector<Share> all;
  while (std::optional<Share> share = spread.next()) all.push_back(std::move(*share));
  return all;
}

TEST(ProblemSpread, GivesEachDeviceItsOwnProblemWhileThereAreEnough) {
  ProblemSpread spread(any(6), 4);
  const std::vector<Share> first = begin(spread);
  ASSERT_EQ(first.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(first[i].problem, i);
    EXPECT_THAT(first[i].devices, ElementsAre(i));
  }
  spread.done(first[2]);
  const std::vector<Share> next = begin(spread);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].problem, 4u);
  EXPECT_THAT(next[0].devices, ElementsAre(2));
}

TEST(ProblemSpread, GivesSeveralDevicesToEachOfFewProblems) {
  ProblemSpread spread(any(3), 4);
  const std::vector<Share> all = begin(spread);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0].devices, ElementsAre(0));
  EXPECT_THAT(all[1].devices, ElementsAre(1));
  EXPECT_THAT(all[2].devices, ElementsAre(2, 3));
  EXPECT_THAT(ProblemSpread(any(1), 4).next()->devices, ElementsAre(0, 1, 2, 3));
}

TEST(ProblemSpread, GivesAProblemNoMoreDevicesThanItCanUse) {
  ProblemSpread spread({1, 8}, 4);
  const std::vector<Share> all = begin(spread);
  EXPECT_THAT(all[0].devices, ElementsAre(0));
  EXPECT_THAT(all[1].devices, ElementsAre(1, 2, 3));
}

TEST(ProblemSpread, HandsOutWhatIsFreeWhenAProblemBegins) {
  ProblemSpread spread(any(5), 2);
  const std::vector<Share> first = begin(spread);
  spread.done(first[1]);
  spread.done(first[0]);
  EXPECT_EQ(begin(spread).size(), 2u);
}

TEST(ProblemSpread, BringsTheProblemOfALostDeviceToAnotherOnce) {
  ProblemSpread spread(any(3), 3);
  const std::vector<Share> first = begin(spread);
  EXPECT_TRUE(spread.lost(first[0]));
  EXPECT_EQ(spread.devices(), 2u);
  EXPECT_FALSE(spread.next()) << "the others are in use";
  spread.done(first[2]);
  const std::optional<Share> again = spread.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->problem, 0u);
  EXPECT_THAT(again->devices, ElementsAre(2));
  EXPECT_FALSE(spread.lost(*again)) << "it lost two devices: the problem is the cause";
  EXPECT_EQ(spread.devices(), 3u) << "and they are not";
}

TEST(ProblemSpread, TakesADeviceAwayForGoodWhereItsProblemSucceedsOnAnother) {
  ProblemSpread spread(any(2), 2);
  const std::vector<Share> first = begin(spread);
  EXPECT_TRUE(spread.lost(first[0]));
  spread.done(first[1]);
  spread.done(*spread.next());
  EXPECT_EQ(spread.devices(), 1u);
}

TEST(ProblemSpread, RisksOneDeviceForAProblemThatLostSome) {
  ProblemSpread spread(any(2), 4);
  const std::vector<Share> first = begin(spread);
  spread.done(first[0]);
  EXPECT_TRUE(spread.lost(first[1]));
  EXPECT_EQ(spread.next()->devices.size(), 1u);
}

TEST(ProblemSpread, DoesNotUseADeviceAgainThatOneOfSeveralLost) {
  ProblemSpread spread(any(1), 2);
  const Share share = *spread.next();
  spread.done(share, {1});
  EXPECT_EQ(spread.devices(), 1u);
}

TEST(ProblemSpread, TriesTheLastDeviceAgain) {
  ProblemSpread spread(any(2), 1);
  EXPECT_TRUE(spread.lost(*spread.next()));
  const std::optional<Share> again = spread.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->problem, 0u);
  EXPECT_FALSE(spread.lost(*again));
  EXPECT_EQ(spread.next()->problem, 1u) << "for the others it may do";
}

TEST(ProblemSpread, BeginsNothingOnceTheLastDeviceDoesForNoProblemAnyMore) {
  ProblemSpread spread(any(5), 1);
  for (int lost = 0; lost < 6; ++lost) EXPECT_EQ(spread.lost(*spread.next()), lost % 2 == 0);
  EXPECT_EQ(spread.devices(), 0u);
  EXPECT_FALSE(spread.next());
}

TEST(ProblemSpread, BlamesNoDeviceForBadProblemsWhileAnotherRuns) {
  ProblemSpread spread(any(6), 3);
  const Share running = *spread.next();
  for (int bad = 0; bad < 4; ++bad) {
    const std::optional<Share> first = spread.next();
    ASSERT_TRUE(first);
    EXPECT_TRUE(spread.lost(*first));
    const std::optional<Share> second = spread.next();
    ASSERT_TRUE(second);
    EXPECT_FALSE(spread.lost(*second));
  }
  EXPECT_EQ(spread.devices(), 3u);
  spread.done(running);
  EXPECT_TRUE(spread.next());
}

TEST(ProblemSpread, DividesTheCoresByDevices) {
  ProblemSpread spread(any(2), 4);
  const Share share = *spread.next();
  EXPECT_EQ(share.devices.size(), 2u);
  EXPECT_EQ(spread.part(share, 16), 8u);
  EXPECT_EQ(spread.part(share, 1), 1u) << "none is left without";
}

}  // namespace
}  // namespace tuner::cli
