#include <tuner/core/expression/expression.hpp>

#include <tuner/core/expression/compiled_expression.hpp>
#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/values/message_text.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

Bindings names() {
  Bindings result;
  result.set("n", 100);
  result.set("block", 32);
  result.set("zero", 0);
  result.set("cached", Value(true));
  result.set("step", Value("shuffle"));
  result.set("T", Value("half"));
  result.set("weight", Value("-0.5"));
  result.set("small", Value("2e-3"));
  result.set("huge", INT64_MAX);
  result.set("lowest", INT64_MIN);
  return result;
}

Expression expression(std::string_view text) { return Expression::parse(text, {"e", 1, 1}); }

std::string complaint(std::string_view text) {
  try {
    const Value value = expression(text).evaluate(names());
    return "no error: " + value.text();
  } catch (const SpecError& error) {
    return error.what();
  }
}

struct Case {
  const char* text;
  const char* value;
};
std::ostream& operator<<(std::ostream& out, const Case& tested) { return out << tested.text; }

class ExpressionValues : public ::testing::TestWithParam<Case> {};
TEST_P(ExpressionValues, AreTheDocumentedOnes) {
  EXPECT_EQ(expression(GetParam().text).evaluate(names()).text(), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(Arithmetic, ExpressionValues,
                         ::testing::Values(Case{"1 + 2 * 3", "7"}, Case{"(1 + 2) * 3", "9"}, Case{"10 - 3 - 2", "5"},
                                           Case{"7 / 2", "3"}, Case{"-7 / 2", "-3"}, Case{"-7 % 3", "-1"},
                                           Case{"7 % -3", "1"}, Case{"lowest % -1", "0"}, Case{"1 << 4 + 1", "32"},
                                           Case{"-8 >> 1", "-4"}, Case{"-1 << 63", "-9223372036854775808"},
                                           Case{"--5", "5"}, Case{"-9223372036854775808", "-9223372036854775808"},
                                           Case{"9223372036854775807", "9223372036854775807"},
                                           Case{"cached + 1", "2"}));
INSTANTIATE_TEST_SUITE_P(Functions, ExpressionValues,
                         ::testing::Values(Case{"ceil_div(n, 32)", "4"}, Case{"ceil_div(96, block)", "3"},
                                           Case{"ceil_div(-7, 2)", "-3"}, Case{"ceil_div(7, -2)", "-3"},
                                           Case{"ceil_div(-7, -2)", "4"}, Case{"min(5)", "5"},
                                           Case{"min(3, n, 2)", "2"}, Case{"max(3, n, 2)", "100"},
                                           Case{"log2(block)", "5"}, Case{"log2(1)", "0"},
                                           Case{"is_pow2(block)", "true"}, Case{"is_pow2(zero)", "false"},
                                           Case{"is_pow2(-4)", "false"}, Case{"abs(-n)", "100"}, Case{"sizeof(T)", "2"},
                                           Case{"sizeof(double)", "8"}, Case{"sizeof(float32)", "4"}));
INSTANTIATE_TEST_SUITE_P(
    Logic, ExpressionValues,
    ::testing::Values(Case{"1 < 2 and 2 < 3", "true"}, Case{"1 < 2 && 3 < 2", "false"}, Case{"n or zero", "true"},
                      Case{"false || zero", "false"}, Case{"not n == 3", "true"}, Case{"!(n == 100)", "false"},
                      Case{"!n", "false"}, Case{"not not cached", "true"}, Case{"true or false and false", "true"},
                      Case{"n in {1, 100}", "true"}, Case{"not n in {1, 2}", "true"}, Case{"n + 1 in {101}", "true"},
                      Case{"n > 1 ? 2 : 3", "2"}, Case{"zero ? 1 : zero ? 2 : 3", "3"}, Case{"cached == 1", "true"}));
INSTANTIATE_TEST_SUITE_P(ShortCircuits, ExpressionValues,
                         ::testing::Values(Case{"zero != 0 and n / zero > 1", "false"},
                                           Case{"zero == 0 or n / zero > 1", "true"},
                                           Case{"zero == 0 ? 1 : n / zero", "1"},
                                           Case{"n in {100, n / zero}", "true"}));
INSTANTIATE_TEST_SUITE_P(Words, ExpressionValues,
                         ::testing::Values(Case{"step == shuffle", "true"}, Case{"tile == step", "false"},
                                           Case{"step != tile", "true"}, Case{"step in {tile, shuffle}", "true"},
                                           Case{"T in {float, half}", "true"}, Case{"(step) == (shuffle)", "true"},
                                           Case{"step == step", "true"}, Case{"step", "shuffle"},
                                           Case{"step == min ? 1 : 2", "2"}, Case{"weight == -0.5", "true"},
                                           Case{"weight in {0.5, 1.0}", "false"}, Case{"small != 2e-3", "false"}));

TEST(Expression, ReportsOverflowInsteadOfWrapping) {
  EXPECT_EQ(complaint("n * (huge + 1)"),
            "e:1:11: overflow: the result does not fit 64 bits (of 9223372036854775807 and 1)");
  EXPECT_THAT(complaint("huge * 2"), HasSubstr("e:1:6: overflow"));
  EXPECT_THAT(complaint("lowest - 1"), HasSubstr("overflow"));
  EXPECT_THAT(complaint("-lowest"), HasSubstr("overflow"));
  EXPECT_THAT(complaint("abs(lowest)"), HasSubstr("overflow"));
  EXPECT_THAT(complaint("lowest / -1"), HasSubstr("overflow"));
  EXPECT_THAT(complaint("huge << 1"), HasSubstr("overflow"));
}

TEST(Expression, ReportsWhatHasNoAnswer) {
  EXPECT_EQ(complaint("n / zero"), "e:1:3: division by zero (of 100 and 0)");
  EXPECT_THAT(complaint("n % zero"), HasSubstr("division by zero"));
  EXPECT_THAT(complaint("ceil_div(n, zero)"), HasSubstr("e:1:1: division by zero"));
  EXPECT_THAT(complaint("log2(n)"), HasSubstr("not a power of two"));
  EXPECT_THAT(complaint("n << 64"), HasSubstr("0 to 63"));
  EXPECT_THAT(complaint("n >> -1"), HasSubstr("0 to 63"));
}

TEST(Expression, KeepsWordsAndNumbersApart) {
  EXPECT_THAT(complaint("step + 1"), HasSubstr("e:1:1: the word 'shuffle' stands where a number is needed"));
  EXPECT_THAT(complaint("step == 1"), HasSubstr("compared with the number 1"));
  EXPECT_THAT(complaint("step == n"), HasSubstr("compared with the number 100"));
  EXPECT_EQ(complaint("cached ? step : 1"), "e:1:10: the word 'shuffle' stands where a number is needed");
  EXPECT_THAT(complaint("sizeof(n)"), HasSubstr("not an element type"));
  EXPECT_EQ(complaint("n * 0.5"), "e:1:5: '0.5' is not a decimal integer");
  EXPECT_EQ(complaint("n - 0.5 > 3"), "e:1:5: '0.5' is not a decimal integer");
  EXPECT_THROW(expression("step").evaluate_integer(names()), EvaluationError);
}

TEST(Expression, SuggestsTheNearestBoundName) {
  EXPECT_EQ(complaint("1 + blokc"), "e:1:5: unknown name 'blokc'; did you mean 'block'?");
  EXPECT_EQ(complaint("blokc == 32"), "e:1:1: unknown name 'blokc'; did you mean 'block'?");
  EXPECT_EQ(complaint("qqqqqq + 1"), "e:1:1: unknown name 'qqqqqq'");
}

TEST(Expression, KnowsItsNamesTextAndPlace) {
  const Expression expression = Expression::parse("  n * block + n", {"k.cu", 7, 10});
  EXPECT_THAT(expression.names(), ElementsAre("block", "n"));
  EXPECT_EQ(expression.text(), "n * block + n");
  EXPECT_EQ(expression.location().text(), "k.cu:7:12");
}

TEST(Expression, LeavesThePlaceOutWhenItComesFromNoFile) {
  EXPECT_EQ(error_of<SpecError>([] { Expression::parse("1 +", {}); }), "expected a value, not the end of the line");
}

TEST(Expression, SurvivesDeepTreesAndRefusesDeeperOnes) {
  std::string chain = "n";
  for (int i = 0; i < 900; ++i) chain += " + n";
  EXPECT_EQ(expression(chain).evaluate_integer(names()), 90100);
  for (int i = 0; i < 200; ++i) chain += " + n";
  EXPECT_THROW(expression(chain), SpecError);
  EXPECT_THROW(expression(std::string(1000000, '(')), SpecError);
  EXPECT_THROW(expression(std::string(1000000, '!')), SpecError);
}

TEST(CompiledExpression, AgreesWithTheExpressionOnWordsOfMixedParameters) {
  const std::vector<TuningParameter> parameters{{"p", {Value(1), Value("one")}}, {"q", {Value(1), Value(2)}}};
  const CompiledExpression compiled(expression("p == one"), parameters, {});
  EXPECT_EQ(compiled.check(std::vector<std::uint16_t>{1, 0}), CompiledExpression::Verdict::yes);
  EXPECT_EQ(compiled.check(std::vector<std::uint16_t>{0, 0}), CompiledExpression::Verdict::error);
  EXPECT_THROW(compiled.holds(std::vector<std::uint16_t>{0, 0}), EvaluationError);
}

TEST(CompiledExpression, FailsOnlyWhereAMisusedNameIsReached) {
  const std::vector<TuningParameter> parameters{{"p", {Value(1), Value(8)}}};
  const CompiledExpression compiled(expression("p == 1 or unknown > 2"), parameters, {});
  EXPECT_EQ(compiled.check(std::vector<std::uint16_t>{0}), CompiledExpression::Verdict::yes);
  EXPECT_EQ(compiled.check(std::vector<std::uint16_t>{1}), CompiledExpression::Verdict::error);
  EXPECT_THAT(error_of<EvaluationError>([&] { compiled.holds(std::vector<std::uint16_t>{1}); }),
              HasSubstr("e:1:11: unknown name 'unknown'"));
}

TEST(OpenExpression, RefusesNamesThatAreMissingOrWords) {
  const std::vector<std::string> open{"n"};
  Bindings fixed;
  fixed.set("step", Value("shuffle"));
  for (const char* const text : {"n + unknown", "n > 3 ? step : 1"})
    EXPECT_THROW(OpenExpression(expression(text), open, fixed), EvaluationError) << text;
}

TEST(CompiledExpression, SeesThatNoCompletionCanHold) {
  const std::vector<TuningParameter> parameters{{"p", {Value(1), Value(8)}}, {"q", {Value(2), Value(4)}}};
  const CompiledExpression compiled(expression("p * q <= 8"), parameters, {});
  const bool only_p[] = {true, false};
  EXPECT_TRUE(compiled.cannot_hold(std::vector<std::uint16_t>{1, 0}, only_p, false));
  EXPECT_FALSE(compiled.cannot_hold(std::vector<std::uint16_t>{0, 0}, only_p, false));
  const CompiledExpression failing(expression("p / (q - q) < 0"), parameters, {});
  EXPECT_FALSE(failing.cannot_hold(std::vector<std::uint16_t>{1, 0}, only_p, false));
}

}  // namespace
}  // namespace tuner
