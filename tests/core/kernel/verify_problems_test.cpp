#include <tuner/core/kernel/verify_problems.hpp>

#include <tests/core/kernel_texts.hpp>
#include <tests/support/processor_time.hpp>
#include <tests/support/testing.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>

namespace tuner {
namespace {

using Chosen = VerifyProblem::Chosen;

/// A kernel with these \p lines and without `verify` lines.
KernelSpec kernel(const std::string& lines, const std::string& grid = "max(1, ceil_div(n, block))") {
  std::string text = "#pragma tuner kernel k\n";
  std::istringstream all(lines);
  for (std::string line; std::getline(all, line);) text += "#pragma tuner " + line + '\n';
  text += "#pragma tuner parameter block = 32 64\n#pragma tuner grid " + grid +
          "\n#pragma tuner block block\n#pragma tuner instantiate k\n#pragma tuner reference r\n"
          "#pragma tuner default block=32\n";
  return parse(text);
}

const std::string kVector = "size n = 4096\nin x[n] : float\nout y[n] : float\n";

/// The texts of the problems that differ in size, in the order in which they are verified.
std::vector<std::string> sizes(const KernelSpec& spec, const ProblemSize& size = {}) {
  std::vector<std::string> texts;
  const std::vector<VerifyProblem> all = verify_problems(spec, complete(spec, size), DeviceLimits{});
  for (auto one = all.rbegin(); one != all.rend(); ++one)
    if (one->chosen == Chosen::size) texts.push_back(one->size.sizes_text());
  return texts;
}

TEST(VerifyProblems, AreOneLessLargerOnesAPrimeAndOneElement) {
  const KernelSpec spec = kernel(kVector + "arguments x, y, n");
  EXPECT_THAT(sizes(spec), ElementsAre("n=4095", "n=8196", "n=4098", "n=3067", "n=1"));
  EXPECT_THAT(sizes(spec, {{{"n", 1001}}, {}}), ElementsAre("n=1000", "n=2006", "n=1003", "n=743", "n=1"));
  EXPECT_THAT(sizes(spec, {{{"n", 1}}, {}}), ElementsAre("n=0", "n=6", "n=3"));
}

TEST(VerifyProblems, MovePointersTogetherAndApartAlsoWithOddSizes) {
  const KernelSpec spec = kernel(kVector + "arguments x, y, n");
  using Moved = VerifyProblem::Moved;
  std::vector<std::pair<std::string, Moved>> moved;
  for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{}))
    if (one.offset > 0) moved.emplace_back(one.size.sizes_text(), one.moved);
  EXPECT_THAT(moved, ElementsAre(std::pair("n=4095", Moved::even), std::pair("n=4096", Moved::odd),
                                 std::pair("n=4096", Moved::all)));
}

TEST(VerifyProblems, HaveEachValueOfScalarsWithEvenAndOddSizesAndOneBesideZero) {
  const KernelSpec spec = kernel(kVector + "scalar a : float = 2, b : float = 3\narguments x, y, a, b, n");
  std::set<std::pair<std::string, double>> of_a;
  std::set<std::pair<double, double>> together;
  for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{})) {
    if (one.chosen != Chosen::scalars) continue;
    of_a.emplace(one.size.sizes_text(), one.scalars.at("a"));
    together.emplace(one.scalars.at("a"), one.scalars.at("b"));
  }
  EXPECT_EQ(of_a.size(), 8u);
  EXPECT_THAT(together, ::testing::IsSupersetOf({std::pair(0.0, 1.0), std::pair(1.0, 0.0)}));
}

TEST(VerifyProblems, AreChosenFastBesideAHugeNumber) {
  const KernelSpec spec = kernel(
      "size n = 64, seed : int64 = 1000000000000000000\nin x[n] : float\nout y[n] : float\n"
      "arguments x, y, n, seed");
  const double before = testing::processor_seconds();
  EXPECT_FALSE(sizes(spec).empty());
  EXPECT_LT(testing::processor_seconds() - before, 1);
}

TEST(VerifyProblems, AreSmallBesideALargeTunedOneAndKeepItsRemainder) {
  const KernelSpec spec = kernel(kVector + "arguments x, y, n");
  EXPECT_THAT(sizes(spec, {{{"n", 100'000'008}}, {}}), ElementsAre("n=4359", "n=4364", "n=4362", "n=3259", "n=1"));
}

TEST(VerifyProblems, VaryEachOfSeveralSizesAndAllTogether) {
  const KernelSpec spec = kernel(
      "size rows = 64, cols = 96\nin x[rows * cols] : float\nout y[rows * cols] : float\narguments x, y, rows, cols",
      "rows");
  EXPECT_THAT(sizes(spec), ElementsAre("cols=96 rows=63", "cols=95 rows=64", "cols=196 rows=132", "cols=98 rows=66",
                                       "cols=47 rows=71", "cols=1 rows=1"))
      << "the primes have the other order";
}

TEST(VerifyProblems, AreMultiplesWhereTheConstraintsSaySo) {
  const KernelSpec spec = kernel(kVector + "arguments x, y, n\nconstraint multiples: n % 1024 == 0");
  EXPECT_THAT(sizes(spec), ElementsAre("n=12288", "n=5120", "n=3072", "n=1024"));
}

TEST(VerifyProblems, AreMultiplesThatTheDefaultNeedsIfItIsTheReference) {
  const KernelSpec spec = parse(
      "#pragma tuner kernel k\n#pragma tuner size n = 4096\n#pragma tuner parameter block = 64 128\n"
      "#pragma tuner constraint whole: n % block == 0\n#pragma tuner in x[n] : float\n#pragma tuner out y[n] : float\n"
      "#pragma tuner grid n / block\n#pragma tuner block block\n#pragma tuner instantiate k\n"
      "#pragma tuner arguments x, y, n\n#pragma tuner default block=64\n#pragma tuner reference default\n");
  EXPECT_THAT(sizes(spec), ElementsAre("n=4032", "n=8448", "n=4160", "n=3008", "n=64"));
  EXPECT_THAT(fixed_sizes(spec, complete(spec, {}), DeviceLimits{}), ::testing::IsEmpty());
}

TEST(VerifyProblems, ChangeSizesTogetherThatAConstraintBinds) {
  const KernelSpec spec = kernel(
      "size rows cols = 64\nin x[rows * cols] : float\nout y[rows * cols] : float\narguments x, y, rows, "
      "cols\nconstraint square: rows == cols",
      "rows");
  EXPECT_THAT(sizes(spec), ElementsAre("cols=63 rows=63", "cols=132 rows=132", "cols=66 rows=66", "cols=47 rows=47",
                                       "cols=1 rows=1"));
}

TEST(VerifyProblems, LeaveSizesThatCodeIsCompiledFor) {
  EXPECT_THAT(sizes(kernel(kVector + "arguments x, y, n\ndefine N = n")), ::testing::IsEmpty());
}

TEST(VerifyProblems, AreThoseOfTheFileIfItNamesSome) {
  const KernelSpec spec = kernel(kVector + "arguments x, y, n\nverify n=33 offset=1\nverify n=1");
  const std::vector<VerifyProblem> all = verify_problems(spec, complete(spec, {}), DeviceLimits{});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].size.sizes.at("n"), 33);
  EXPECT_EQ(all[0].offset, 1);
  EXPECT_FALSE(all[0].is_own());
}

TEST(VerifyProblems, AreChosenBesideLinesThatNameNoSize) {
  const KernelSpec spec = kernel(kVector + "scalar s : int = 1\narguments x, y, s, n\nverify s=3\nverify s=2 offset=2");
  EXPECT_THAT(sizes(spec), ElementsAre("n=4095", "n=8196", "n=4098", "n=3067", "n=1"));
  std::size_t moved = 0;
  for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{})) moved += one.offset > 0;
  EXPECT_EQ(moved, 1u) << "a line names an offset, so tuner chooses none";
}

TEST(FixedSizes, AreThoseOfWhichNoOtherValueCanBeVerified) {
  const auto fixed = [](const std::string& lines) {
    const KernelSpec spec =
        kernel("size n m = 4096\nin x[n] : float\nout y[n] : float\narguments x, y, n, m\n" + lines);
    return fixed_sizes(spec, complete(spec, {}), DeviceLimits{});
  };
  EXPECT_THAT(fixed(""), ::testing::IsEmpty());
  EXPECT_THAT(fixed("define N = n"), ElementsAre("n"));
  EXPECT_THAT(fixed("define N = n\nverify m=3"), ::testing::IsEmpty()) << "the file says what to verify";
  EXPECT_THAT(fixed("constraint one: n == 4096"), ::testing::IsEmpty()) << "calls with others are refused";
}

TEST(FixedSizes, AreThoseThatOnlyTheDefaultOfWhichTheReferenceIsMadePins) {
  const KernelSpec spec = parse(
      "#pragma tuner kernel k\n#pragma tuner size n = 4096\n#pragma tuner parameter any = 0 1\n"
      "#pragma tuner constraint whole: any == 1 || n == 4096\n#pragma tuner in x[n] : float\n"
      "#pragma tuner out y[n] : float\n#pragma tuner grid 1\n#pragma tuner block 32\n#pragma tuner instantiate k\n"
      "#pragma tuner arguments x, y, n\n#pragma tuner default any=0\n#pragma tuner reference default\n");
  EXPECT_THAT(fixed_sizes(spec, complete(spec, {}), DeviceLimits{}), ElementsAre("n"));
}

TEST(LimitsOfResults, NameSizesAndScalarsWithTheirValues) {
  const auto limits = [](const std::string& lines, const ProblemSize& size = {}) {
    const KernelSpec spec = kernel(kVector + lines);
    return limits_of_results(spec, complete(spec, size), DeviceLimits{});
  };
  EXPECT_THAT(limits("arguments x, y, n"), ::testing::IsEmpty());
  EXPECT_THAT(limits("arguments x, y, n\ndefine N = n"), ElementsAre(HasSubstr("results are for n=4096 alone")));
  const std::string scalars = "scalar s : int = 7, h : float = 2, k : int = 5 only\narguments x, y, s, h, k, n";
  EXPECT_THAT(limits(scalars), ElementsAre(HasSubstr("results are for s=7 alone")));
  EXPECT_THAT(limits(scalars, {{}, {{"s", "9"}}}), ElementsAre(HasSubstr("results are for s=9 alone")));
}

TEST(VerifyProblems, MovePointersByTheAlignmentOfTheFile) {
  const auto offset = [](const std::string& lines) {
    const KernelSpec spec = kernel(kVector + "arguments x, y, n\n" + lines);
    for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{}))
      if (one.chosen == Chosen::offset) return one.offset;
    return std::int64_t{0};
  };
  EXPECT_EQ(offset(""), 1);
  EXPECT_EQ(offset("aligned 16"), 4);
}

TEST(VerifyProblems, HaveEveryValueForEachFloatingScalar) {
  const KernelSpec spec = kernel(kVector + "scalar a : float = 2, b : float = 3\narguments x, y, a, b, n\nverify n=33");
  std::set<double> first, second;
  for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{})) {
    if (one.chosen != Chosen::scalars) continue;
    EXPECT_EQ(one.size.sizes.at("n"), 33);
    first.insert(one.scalars.at("a"));
    second.insert(one.scalars.at("b"));
  }
  EXPECT_THAT(first, ElementsAre(-1, 0, 0.5, 1));
  EXPECT_THAT(second, ElementsAre(-1, 0, 0.5, 1));
}

TEST(VerifyProblems, HaveOtherValuesOfAScalarThatIsInfiniteOrComputedFromNoSize) {
  const auto tried = [](const std::string& value) {
    const KernelSpec spec =
        kernel(kVector + "scalar a : float = " + value + "\narguments x, y, a, n\nverify n=33 offset=1");
    std::set<double> values;
    for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{}))
      if (one.chosen == Chosen::scalars) values.insert(one.scalars.at("a"));
    return values;
  };
  EXPECT_THAT(tried("inf"), ElementsAre(-1, 0, 0.5, 1));
  EXPECT_THAT(tried("2 * 0.5"), ElementsAre(-1, 0, 0.5, 1));
  EXPECT_THAT(tried("0.5 * n"), ::testing::IsEmpty()) << "changes with the sizes";
}

const std::string kStruct =
    kVector + "scalar p : { float a; int mode; float at[2]; float step; } = { 1, 7, { 2, 3 }, 1.0 / n }\n";

TEST(VerifyProblems, HaveOtherFloatingNumbersOfAStruct) {
  const KernelSpec spec = kernel(kStruct + "arguments x, y, p, n\nverify n=33 offset=1");
  std::map<std::string, std::set<double>> tried;
  for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{}))
    for (const auto& [name, value] : one.scalars) tried[name].insert(value);
  const auto all = ElementsAre(-1, 0, 0.5, 1);
  EXPECT_THAT(tried, ElementsAre(::testing::Pair("p.a", all), ::testing::Pair("p.at[0]", all),
                                 ::testing::Pair("p.at[1]", all)));
}

TEST(VerifyProblems, HaveOneWithoutZerosAndNegativeNumbersWhereFourAreFree) {
  const KernelSpec spec =
      kernel(kVector + "scalar p : { float a[4]; } = { 2, 3, 4, 5 }\narguments x, y, p, n\nverify n=33");
  std::size_t positive = 0;
  for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{}))
    positive += one.chosen == Chosen::scalars &&
                std::ranges::all_of(one.scalars, [](const auto& number) { return number.second > 0; });
  EXPECT_EQ(positive, 1u);
}

TEST(VerifyProblems, MayNameNumbersOfAStruct) {
  const KernelSpec spec = kernel(kStruct + "arguments x, y, p, n\nverify n=33 p.mode=3 p.at[1]=-2.5");
  EXPECT_EQ(spec.verification.problems.at(0).scalars,
            (std::map<std::string, double>{{"p.mode", 3}, {"p.at[1]", -2.5}}));
  EXPECT_THAT(limits_of_results(spec, complete(spec, {}), DeviceLimits{}), ::testing::IsEmpty());
  for (const VerifyProblem& one : verify_problems(spec, complete(spec, {}), DeviceLimits{}))
    EXPECT_TRUE(one.chosen != Chosen::scalars || !one.scalars.contains("p.at[1]"));
  for (const char* const line : {"verify p.b=3", "verify p=3", "verify p.at=3", "verify p.at[2]=3"})
    EXPECT_THAT(error_of([&] { kernel(kStruct + "arguments x, y, p, n\n" + line); }),
                HasSubstr("is not a number of the struct 'p'"));
}

TEST(LimitsOfResults, NameTheIntegersOfAnArrayThatNoVerifyLineNames) {
  const KernelSpec spec =
      kernel(kVector + "scalar p : { int step[2]; } = { 4, 5 }\narguments x, y, p, n\nverify n=33 p.step[1]=3");
  EXPECT_THAT(limits_of_results(spec, complete(spec, {}), DeviceLimits{}),
              ElementsAre(HasSubstr("results are for p.step[0]=4 alone")));
}

TEST(LimitsOfResults, NameTheFixedNumbersOfAStruct) {
  KernelSpec spec = kernel(kStruct + "arguments x, y, p, n");
  const auto limits = [&] { return limits_of_results(spec, complete(spec, {}), DeviceLimits{}); };
  EXPECT_THAT(limits(), ElementsAre(HasSubstr("results are for p.mode=7 alone")));
  spec.verification.reference[0].arguments = {"x", "y", "n"};
  EXPECT_THAT(limits(), ElementsAre(HasSubstr("results are for p.a=1 p.mode=7 p.at[0]=2 p.at[1]=3 alone")));
}

TEST(VerifyProblems, AreForOneValueOfAnIntegerUnlessAVerifyLineNamesAnother) {
  const auto is_part = [](const std::string& scalar, const std::string& verify = "verify n=33") {
    const KernelSpec spec = kernel(kVector + "scalar " + scalar + "\narguments x, y, s, n\n" + verify);
    return is_part_of_problem(spec, spec.scalars[0], complete(spec, {}));
  };
  EXPECT_TRUE(is_part("s : int = 1"));
  EXPECT_TRUE(is_part("s : float = 1 only"));
  EXPECT_FALSE(is_part("s : float = 1"));
  EXPECT_FALSE(is_part("s : int = 1", "verify s=3"));
}

TEST(Problem, NamesAnIntegerScalarWithAnotherValueThanTheFile) {
  const KernelSpec spec = kernel(kVector + "scalar s : int = 1, a : float = 2\narguments x, y, s, a, n\nverify n=33");
  EXPECT_EQ(complete(spec, {{}, {{"s", "1"}}}).text(), "n=4096");
  EXPECT_EQ(complete(spec, {{}, {{"s", "-3"}}}).text(), "s=-3 n=4096");
  EXPECT_THAT(error_of([&] { complete(spec, {{}, {{"a", "3"}}}); }), HasSubstr("results are for every value of 'a'"));
  for (const char* const text : {"x", "inf", "nan"})
    EXPECT_THAT(error_of([&] { complete(spec, {{}, {{"s", text}}}); }), HasSubstr("is not a number"));
}

TEST(KernelFile, NamesScalarsInVerifyLinesAndTheAlignmentOfPointers) {
  const KernelSpec spec =
      kernel(kVector +
             "scalar s : int = 1, a : float = 2, flag : bool = true\narguments x, y, s, a, flag, n\n"
             "verify n=33 s=2 a=-0.5 flag=false\naligned 32");
  const VerifySpec& verify = spec.verification.problems.at(0);
  EXPECT_EQ(verify.sizes, (std::map<std::string, std::int64_t>{{"n", 33}}));
  EXPECT_EQ(verify.scalars, (std::map<std::string, double>{{"s", 2}, {"a", -0.5}, {"flag", 0}}));
  EXPECT_EQ(spec.alignment, 32);
  const auto error = [](const std::string& lines) {
    return error_of([&] { kernel(kVector + "scalar a : float = 2 only\narguments x, y, a, n\n" + lines); });
  };
  EXPECT_THAT(error("verify a=3"), HasSubstr("'a' has one value 'only'"));
  EXPECT_THAT(error("verify n=2.5"), HasSubstr("n=2.5 is not a whole number"));
  EXPECT_THAT(error("aligned 24"), HasSubstr("an alignment is a power of two"));
}

TEST(Problem, IsImpossibleForASizeThatAConstraintOnSizesExcludes) {
  const KernelSpec spec = kernel(kVector + "arguments x, y, n\nconstraint multiples: n % 1024 == 0");
  EXPECT_EQ(why_impossible(spec, complete(spec, {{{"n", 4100}}, {}}), DeviceLimits{}),
            "multiples: n % 1024 == 0 with n=4100");
  EXPECT_EQ(why_impossible(spec, complete(spec, {}), DeviceLimits{}), std::nullopt);
}

}  // namespace
}  // namespace tuner
