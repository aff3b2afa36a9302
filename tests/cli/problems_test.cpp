#include <tuner/cli/problems.hpp>

#include <tests/matchers.hpp>
#include <tuner/cli/options.hpp>
#include <tuner/core/kernel_file.hpp>

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
  try {
    select_problems(scale_kernel(), options, device("cuda"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
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

}  // namespace
}  // namespace tuner::cli
