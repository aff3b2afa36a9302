#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/space/search_space.hpp>

#include <random>
#include <set>
#include <stdexcept>

#include <tests/support/testing.hpp>
#include <tuner/core/kernel/sub_space.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>

namespace tuner {
namespace {

TuningParameter integers(std::string name, std::initializer_list<int> values) {
  return {std::move(name), std::vector<Value>(values.begin(), values.end())};
}

Constraint constraint(std::string name, std::string_view text) {
  return {std::move(name), Expression::parse(text, {"space", 1, 1})};
}

std::vector<std::string> texts(const EnumeratedSpace& space) {
  std::vector<std::string> result;
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i) result.push_back(space.configuration(i).text());
  return result;
}

EnumeratedSpace enumerated(const SearchSpace& space, const Bindings& fixed = {}, const StopHook& stop = {}) {
  std::vector<Conjunct> conjuncts;
  for (const Constraint& one : space.constraints()) conjuncts.push_back({one.predicate});
  return enumerate_conjuncts(space.parameters(), conjuncts, fixed, stop);
}

/// Every configuration in lexicographic order, filtered by violation().
std::vector<std::string> brute_force(const SearchSpace& space, const Bindings& fixed) {
  const auto& parameters = space.parameters();
  std::vector<std::string> result;
  std::vector<std::size_t> digits(parameters.size(), 0);
  for (;;) {
    Configuration configuration;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      configuration.set(parameters[i].name, parameters[i].values[digits[i]]);
    if (!space.violation(configuration, fixed)) result.push_back(configuration.text());
    std::size_t i = parameters.size();
    while (i > 0 && ++digits[i - 1] == parameters[i - 1].values.size()) digits[--i] = 0;
    if (i == 0) return result;
  }
}

TEST(SearchSpace, HasNothingWithoutParametersIfAConstraintFails) {
  EXPECT_EQ(enumerated(SearchSpace({}, {constraint("never", "1 == 2")})).size(), 0u);
  EXPECT_EQ(enumerated(SearchSpace({}, {constraint("always", "1 == 1")})).size(), 1u);
}

TEST(SearchSpace, EnumeratesInTheOrderInWhichParametersAndValuesWereGiven) {
  const SearchSpace space({integers("x", {4, 1, 2}), integers("y", {1, 2})}, {constraint("small", "x * y <= 4")});
  EXPECT_EQ(texts(enumerated(space)),
            (std::vector<std::string>{"x=4 y=1", "x=1 y=1", "x=1 y=2", "x=2 y=1", "x=2 y=2"}));
}

TEST(SearchSpace, KeepsTheOrderWhenConstraintsMakeItBindParametersInAnother) {
  const SearchSpace space({integers("a", {1, 2}), integers("b", {1, 2}), integers("c", {1, 2})},
                          {constraint("late", "c == 2"), constraint("pair", "b == c")});
  EXPECT_EQ(texts(enumerated(space)), (std::vector<std::string>{"a=1 b=2 c=2", "a=2 b=2 c=2"}));
}

TEST(SearchSpace, ComparesWordsAndBooleans) {
  const SearchSpace space(
      {{"step", {Value("shuffle"), Value("redux"), Value("tile")}}, {"cached", {Value(false), Value(true)}}},
      {constraint("one", "step == shuffle or (cached and step in {tile})")});
  EXPECT_EQ(texts(enumerated(space)), (std::vector<std::string>{"cached=false step=shuffle", "cached=true step=shuffle",
                                                                "cached=true step=tile"}));
}

TEST(SearchSpace, ComparesAParameterWithAChoiceOfTheCaller) {
  Bindings fixed;
  fixed.set("wanted", Value("tile"));
  const SearchSpace space({{"step", {Value("shuffle"), Value("tile")}}}, {constraint("same", "step == wanted")});
  EXPECT_EQ(texts(enumerated(space, fixed)), (std::vector<std::string>{"step=tile"}));
}

TEST(SearchSpace, IsEmptyWhenAConstraintWithoutParametersFails) {
  Bindings fixed;
  fixed.set("n", 3);
  const SearchSpace space({integers("x", {1, 2})}, {constraint("even", "n % 2 == 0")});
  EXPECT_TRUE(enumerated(space, fixed).empty());
}

TEST(SearchSpace, SaysWhatViolatesIt) {
  Bindings fixed;
  fixed.set("warp_size", 32);
  const SearchSpace space({integers("block_x", {8, 32}), integers("block_y", {1, 4})},
                          {constraint("whole_warps", "(block_x * block_y) % warp_size == 0")});
  EXPECT_FALSE(space.violation({{"block_x", 8}, {"block_y", 4}}, fixed));
  EXPECT_EQ(space.violation({{"block_x", 8}, {"block_y", 1}}, fixed),
            "whole_warps: (block_x * block_y) % warp_size == 0 with block_x=8 block_y=1");
  EXPECT_EQ(space.violation({{"block_x", 9}, {"block_y", 1}}, fixed), "block_x=9 is not one of: 8 32");
  EXPECT_EQ(space.violation({{"block_x", 8}}, fixed), "parameter 'block_y' has no value");
  EXPECT_EQ(space.violation({{"block_x", 8}, {"block_y", 4}, {"blok_x", 1}}, fixed),
            "unknown parameter 'blok_x'; did you mean 'block_x'?");
}

TEST(SearchSpace, ReportsAConstraintThatHasNoAnswerWithItsPlace) {
  const SearchSpace space({integers("x", {0, 1, 2})}, {constraint("divides", "12 % x == 0")});
  EXPECT_EQ(error_of<EvaluationError>([&] { enumerated(space); }), "space:1:4: division by zero (of 12 and 0)");
}

TEST(SearchSpace, LetsAFalseConjunctShieldOneThatHasNoAnswer) {
  const SearchSpace guarded({integers("x", {0, 1, 2}), integers("y", {0, 1})},
                            {constraint("c", "x + y > y and 12 / x == 12")});
  EXPECT_EQ(texts(enumerated(guarded)), (std::vector<std::string>{"x=1 y=0", "x=1 y=1"}));
}

TEST(SearchSpace, EnumeratesAProductOfABillionByPruning) {
  std::vector<TuningParameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
    parameters.push_back(integers(name, {1, 2, 3, 4, 5, 6, 7, 8}));
  // Constraints on distant parameters, and one on all of them, which only interval arithmetic can use early.
  const SearchSpace space(parameters,
                          {constraint("ends", "a * j == 8"), constraint("chain", "b == c and d == e and f == g"),
                           constraint("sum", "a + b + c + d + e + f + g + h + i + j <= 24")});
  EXPECT_EQ(space.product(), 1073741824.0);
  std::size_t expected = 0;
  for (int a : {1, 2, 4, 8})
    for (int b = 1; b <= 8; ++b)
      for (int d = 1; d <= 8; ++d)
        for (int f = 1; f <= 8; ++f)
          for (int h = 1; h <= 8; ++h)
            for (int i = 1; i <= 8; ++i) expected += a + 8 / a + 2 * (b + d + f) + h + i <= 24;
  EXPECT_EQ(enumerated(space).size(), expected);
}

TEST(SearchSpace, CutsAProductOfABillionThatOnlyOneWideConstraintLimits) {
  std::vector<TuningParameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
    parameters.push_back(integers(name, {1, 2, 3, 4, 5, 6, 7, 8}));
  const SearchSpace space(parameters, {constraint("sum", "a + b + c + d + e + f + g + h + i + j == 15")});
  EXPECT_EQ(enumerated(space).size(), 2002u);  // ways to hand out 5 steps to 10 parameters: C(14, 9)
}

/// 14 parameters of 12 values. Their only constraint asks for an odd number that is even; intervals cannot find that.
SearchSpace late_space() {
  std::vector<TuningParameter> parameters;
  std::string sum;
  for (int i = 0; i < 14; ++i) {
    parameters.push_back(integers("p" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
    sum += (i == 0 ? "p" : " + p") + std::to_string(i);
  }
  return SearchSpace(parameters, {constraint("late", "(" + sum + ") * 2 % 150 == 77")});
}

TEST(SearchSpace, EndsWhenItsStopHookSaysSo) {
  int looks = 0;
  EXPECT_EQ(error_of<EnumerationStopped>([&] { enumerated(late_space(), {}, [&] { return ++looks == 5; }); }),
            "0 valid configurations found in 5120 steps, and the search is not finished");
}

TEST(SearchSpace, EndsAfterItsTimeHoweverManyConstraintsThereAre) {
  const SearchSpace space = late_space();
  const std::vector<Conjunct> many(200, {space.constraints().front().predicate});
  EXPECT_THAT(error_of<std::length_error>(
                  [&] { enumerate_conjuncts(space.parameters(), many, {}, {}, ~std::size_t{0}, 0.01); }),
              HasSubstr("and the search is not finished after 0 s; split them"));
}

/// 40 parameters of two values.
std::vector<TuningParameter> many_switches() {
  std::vector<TuningParameter> parameters;
  for (int i = 0; i < 40; ++i) parameters.push_back(integers("p" + std::to_string(i), {0, 1}));
  return parameters;
}

EnumeratedSpace listed_or_drawn_with(const std::vector<TuningParameter>& parameters,
                                     const std::vector<std::string>& constraints, double most_seconds = 60) {
  std::vector<Conjunct> conjuncts;
  for (const std::string& one : constraints) conjuncts.push_back({Expression::parse(one, {"space", 1, 1})});
  return listed_or_drawn(parameters, conjuncts, {}, {}, most_seconds);
}

TEST(SearchSpace, CountsAndDrawsConfigurationsThatAreTooManyToBeListed) {
  const auto parameters = many_switches();
  const EnumeratedSpace all = listed_or_drawn_with(parameters, {});
  EXPECT_EQ(all.count().number, 0x1p40);
  EXPECT_EQ(all.count().kind, SpaceCount::Kind::exact);

  const std::vector<std::string> constraints{"p0 == p39", "p1 + p2 + p3 + p4 <= 2", "p5 <= p6"};
  const EnumeratedSpace most = listed_or_drawn_with(parameters, constraints);
  const double right = 0x1p40 / 2 * 11 / 16 * 3 / 4;
  EXPECT_EQ(most.count().kind, SpaceCount::Kind::about);
  EXPECT_GT(most.count().number, right / 1.2);
  EXPECT_LT(most.count().number, right * 1.2);
  std::mt19937_64 random(3);
  const ValidityTest::Below below = [&](std::size_t bound) { return random() % bound; };
  std::set<EnumeratedSpace::Index> drawn;
  for (int i = 0; i < 100; ++i) {
    const auto index = most.draw(below);
    ASSERT_TRUE(index && most.has(*index));
    const Configuration one = most.configuration(*index);
    EXPECT_EQ(most.find(one), index);
    EXPECT_EQ(*one.find("p0"), *one.find("p39"));
    for (const EnumeratedSpace::Index next : most.neighbours(*index, Neighbourhood::hamming))
      EXPECT_TRUE(most.has(next));
    drawn.insert(*index);
  }
  EXPECT_GT(drawn.size(), 95u);
  Configuration invalid = most.configuration(most.any());
  invalid.set("p0", *invalid.find("p39") == Value(0) ? 1 : 0);
  EXPECT_FALSE(most.find(invalid));
}

TEST(SearchSpace, ListsALargeProductWithFewValidConfigurations) {
  std::string sum = "p0";
  for (int i = 1; i < 40; ++i) sum += " + p" + std::to_string(i);
  const EnumeratedSpace few = listed_or_drawn_with(many_switches(), {sum + " <= 2"});
  EXPECT_FALSE(few.is_open());
  EXPECT_EQ(few.size(), 1u + 40 + 40 * 39 / 2);
}

TEST(SearchSpace, DrawsWhatTakesTooLongToBeListed) {
  std::string sum = "p0";
  for (int i = 1; i < 14; ++i) sum += " + p" + std::to_string(i);
  const std::vector<TuningParameter> parameters = late_space().parameters();
  const EnumeratedSpace rare = listed_or_drawn_with(parameters, {"(" + sum + ") * 2 % 150 == 76"}, 0.01);
  EXPECT_TRUE(rare.is_open());
  EXPECT_THROW(listed_or_drawn_with(parameters, {"(" + sum + ") * 2 % 150 == 77"}, 0.01), std::length_error)
      << "nothing is valid";
}

TEST(SearchSpace, SaysThatAConstraintOfALargeSpaceHasNoAnswer) {
  EXPECT_EQ(error_of<EvaluationError>([&] { listed_or_drawn_with(many_switches(), {"12 % p0 == 0"}).size(); }),
            "space:1:4: division by zero (of 12 and 0)");
}

TEST(SearchSpace, RefusesProductsThatAnIndexCannotCode) {
  std::vector<TuningParameter> parameters;
  for (int i = 0; i < 32; ++i) parameters.push_back(integers("p" + std::to_string(i), {1, 2, 3, 4}));
  EXPECT_THROW(enumerated(SearchSpace(parameters, {constraint("c", "p0 + p1 == 2")})), std::length_error);
}

/// Random expressions over the parameters, with all operators.
class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::string number(int depth) {
    static const char* const binary[] = {" + ", " - ", " * ", " / ", " % ", " << ", " >> "};
    switch (depth == 0 ? pick(2) : pick(9)) {
      case 0:
        return std::to_string(pick(9));
      case 1:
        return std::string(1, static_cast<char>('p' + pick(4)));
      case 2:
        return "-(" + number(depth - 1) + ")";
      case 3:
        return "min(" + number(depth - 1) + ", " + number(depth - 1) + ")";
      case 4:
        return "max(" + number(depth - 1) + ", " + number(depth - 1) + ")";
      case 5:
        return "ceil_div(" + number(depth - 1) + ", " + number(depth - 1) + ")";
      case 6:
        return "abs(" + number(depth - 1) + ")";
      case 7:
        return "(" + predicate(depth - 1) + " ? " + number(depth - 1) + " : " + number(depth - 1) + ")";
      default:
        return "(" + number(depth - 1) + binary[pick(7)] + number(depth - 1) + ")";
    }
  }
  std::string predicate(int depth) {
    static const char* const comparisons[] = {" == ", " != ", " < ", " <= ", " > ", " >= "};
    switch (depth == 0 ? 0 : pick(7)) {
      case 1:
        return "(" + predicate(depth - 1) + " and " + predicate(depth - 1) + ")";
      case 2:
        return "(" + predicate(depth - 1) + " or " + predicate(depth - 1) + ")";
      case 3:
        return "not (" + predicate(depth - 1) + ")";
      case 4:
        return number(depth - 1) + " in {" + number(depth - 1) + ", 2, 4}";
      case 5:
        return "is_pow2(" + number(depth - 1) + ")";
      case 6:
        return "w " + std::string(pick(2) ? "== " : "!= ") + (pick(2) ? "red" : "blue");
      default:
        return number(depth) + comparisons[pick(6)] + number(depth);
    }
  }

 private:
  std::mt19937_64 random_;
};

TEST(SearchSpace, EnumeratesExactlyWhatABruteForceFilterKeeps) {
#ifdef TUNER_SANITIZED
  constexpr int seeds = 1000;
#else
  constexpr int seeds = 3000;
#endif
  int compared = 0;
  int failed = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    Author author(static_cast<std::uint64_t>(seed));
    std::vector<TuningParameter> parameters;
    for (char name = 'p'; name < 't'; ++name) {
      TuningParameter parameter{std::string(1, name), {}};
      const int count = 1 + author.pick(4);
      for (int value = author.pick(5) - 3; static_cast<int>(parameter.values.size()) < count;
           value += 1 + author.pick(2))
        parameter.values.push_back(value);
      parameters.push_back(parameter);
    }
    parameters.push_back({"w", {Value("red"), Value("green"), Value("blue")}});
    std::vector<Constraint> constraints;
    std::string shown;
    try {
      for (int i = 0; i <= author.pick(3); ++i) {
        shown += author.predicate(3) + "\n";
        constraints.push_back(constraint("c" + std::to_string(i),
                                         std::string_view(shown).substr(shown.rfind('\n', shown.size() - 2) + 1)));
      }
    } catch (const SpecError&) {
      continue;  // a constant that cannot be evaluated, such as 1 / 0
    }
    const SearchSpace space(parameters, constraints);
    std::vector<std::string> expected;
    try {
      expected = brute_force(space, {});
    } catch (const EvaluationError&) {
      ++failed;
      EXPECT_THROW(enumerated(space), EvaluationError) << shown;
      continue;
    }
    ++compared;
    ASSERT_EQ(texts(enumerated(space)), expected) << "seed " << seed << "\n" << shown;
  }
  EXPECT_GT(compared, seeds / 3);
  EXPECT_GT(failed, seeds / 30);
}

class SubSpace : public ::testing::Test {
 protected:
  std::size_t size(const KernelSpec& part) const { return enumerate(part, complete(part, {}), limits).size(); }

  DeviceLimits limits;
  KernelSpec spec = parse_kernel_file(R"(
#pragma tuner kernel      add
#pragma tuner size        n = 1000
#pragma tuner parameter   block_x = 1 16 256
#pragma tuner parameter   block_y = 1 8
#pragma tuner parameter   unroll  = 1 2 4
#pragma tuner inout       x[n]  : float
#pragma tuner block       block_x, block_y
#pragma tuner grid        1
#pragma tuner arguments   x, n
#pragma tuner instantiate add<block_x, block_y, unroll>
#pragma tuner reference   addReference
#pragma tuner grid        1
#pragma tuner block       1
#pragma tuner arguments   x, n
#pragma tuner default     block_x=16 block_y=8 unroll=2
)",
                                      "add.cu");
};

TEST_F(SubSpace, FixedParametersHaveOneValueAndTheOthersStayFree) {
  EXPECT_EQ(size(sub_space(spec, {{"unroll", 4}}, {})), 5u);  // 256 x 8 is too large
}

TEST_F(SubSpace, WhatIsNotVariedHasItsDefault) {
  const KernelSpec part = sub_space(spec, {{"block_y", 1}}, {"unroll"});
  const EnumeratedSpace space = enumerate(part, complete(part, {}), limits);
  ASSERT_EQ(space.size(), 3u);
  EXPECT_EQ(space.configuration(0).find("block_x")->text(), "16");
  EXPECT_EQ(space.configuration(0).find("block_y")->text(), "1");
}

TEST_F(SubSpace, RefusesWhatTheKernelDoesNotHave) {
  EXPECT_THAT(error_of([&] { sub_space(spec, {{"blok_x", 1}}, {}); }), HasSubstr("did you mean 'block_x'"));
  EXPECT_THAT(error_of([&] { sub_space(spec, {{"unroll", 3}}, {}); }), HasSubstr("its values are 1 2 4"));
  EXPECT_THAT(error_of([&] { sub_space(spec, {{"unroll", 2}}, {"unroll"}); }), HasSubstr("both fixed and varied"));
  spec.default_configuration.reset();
  EXPECT_THAT(error_of([&] { sub_space(spec, {}, {"unroll"}); }), HasSubstr("no default"));
}

TEST_F(SubSpace, NamesWhatCannotRunWithItsReason) {
  const std::vector<Impossible> all =
      impossible_configurations(sub_space(spec, {}, {"block_x", "block_y"}), complete(spec, {}), limits);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].configuration.text(), "block_x=256 block_y=8 unroll=2");
  EXPECT_THAT(all[0].reason, HasSubstr("2048 threads exceeds the limit of 1024"));
  EXPECT_TRUE(impossible_configurations(spec, complete(spec, {}), limits, 17).empty());
}

}  // namespace
}  // namespace tuner
