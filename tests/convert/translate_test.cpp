#include <set>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tuner/convert/translate.hpp>
#include <tuner/core/expression.hpp>

namespace tuner::convert {
namespace {

Meaning meaning() {
  Meaning meaning;
  meaning.name = [](const std::string& name) {
    static const std::set<std::string> known{"a", "b", "c", "d", "block", "unknown", "problem_x", "problem_y"};
    return known.contains(name) ? std::optional(name) : std::nullopt;
  };
  meaning.constants["a"] = python::evaluate(*python::parse("[3, 5, 9]"));
  meaning.constants["d"] = python::evaluate(*python::parse("[-1, 2]"));
  meaning.constants["block"] = python::evaluate(*python::parse("[32, 64, 128]"));
  meaning.sizes = {"b", "c", "problem_x", "problem_y"};
  meaning.constants["width"] = python::evaluate(*python::parse("7"));
  meaning.problem = {"problem_x", "problem_y"};
  return meaning;
}

TEST(Translate, SaysInAKernelFileWhatPythonSays) {
  const std::pair<const char*, const char*> cases[] = {
      {"a // b", "a / b"},
      {"(a * b) // 2 % c", "a * b / 2 % c"},
      {"a - (b - c)", "a - (b - c)"},
      {"32 <= a * b <= 1024", "32 <= a * b and a * b <= 1024"},
      {"not (a == 1 and b == 2) or c", "not (a == 1 and b == 2) or c"},
      {"a if b > 1 else c", "b > 1 ? a : c"},
      {"p['a'] * p[\"b\"] <= 64", "a * b <= 64"},
      {"lambda p: p['a'] == 3", "a == 3"},
      {"a in [1, 2, 4]", "a in {1, 2, 4}"},
      {"a not in (1, 2)", "not a in {1, 2}"},
      {"12 * 1024 + 2 ** 4", "12304"},
      {"2 ** a", "1 << a"},
      {"a ** 2", "a * a"},
      {"max(a) * max(b, c)", "9 * max(b, c)"},
      {"width + a", "7 + a"},
      {"(a & (a - 1)) == 0", "is_pow2(a)"},
      {"a & 3", "a % 4"},
      {"math.ceil(a / b)", "ceil_div(a, b)"},
      {"int(a / b)", "a / b"},
      {"ProblemSize[0] * ProblemSize[1]", "problem_x * problem_y"},
      {"numpy.prod(problem_size)", "problem_x * problem_y"},
      {"abs(a - b)", "abs(a - b)"},
      {"(a > 1) & (b > 1)", "a > 1 and b > 1"},
      {"a == True", "a == true"},
      {"(block - 32) % 3 == 1", "(block - 32) % 3 == 1"},
      {"(block - a) // 2", "(block - a) / 2"},
      {"max(d, 0) // 2", "max(d, 0) / 2"},
      {"(problem_x + 2 * (a - 1)) // b", "(problem_x + 2 * (a - 1)) / b"},
      {"int(d / 2)", "d / 2"},
  };
  for (const auto& [python, ours] : cases) {
    EXPECT_EQ(translate(python, meaning()), ours) << python;
    EXPECT_NO_THROW(Expression::parse(ours, {})) << ours;
  }
}

/// An expression of Python and its translation have equal results for all small values.
TEST(Translate, KeepsFractionsUntilTheyAreCompared) {
  for (const char* text :
       {"a % (b / c) == 0", "a / b == c / d", "a / b <= c", "(a + b / c) * 2 > d", "a % ((b * c) / d) == 0",
        "a / b / c == d", "a / (b / c) >= 2", "a // (b / c) == d", "a * 0.5 == b", "a / b + c / d == 2"}) {
    Meaning positive = meaning();
    positive.constants.erase("d");
    positive.sizes.insert({"a", "d"});
    const Expression ours = Expression::parse(translate(text, positive), {});
    const python::Tree tree = python::parse(text);
    for (int i = 0; i < 6 * 6 * 6 * 6; ++i) {
      Bindings bindings;
      python::Names names;
      int rest = i;
      for (const char* name : {"a", "b", "c", "d"}) {
        const std::int64_t values[] = {1, 2, 4, 8, 16, 64};
        bindings.set(name, values[rest % 6]);
        names[name] = {values[rest % 6], {}, {}};
        rest /= 6;
      }
      ASSERT_EQ(ours.evaluate_boolean(bindings), python::evaluate(*tree, names).integer() != 0)
          << text << " became " << ours.text() << " for case " << i;
    }
  }
}

TEST(Translate, TakesConjunctionsApart) {
  EXPECT_THAT(translate_conditions(*python::parse("a < 1 and (b < 2 and c < 3) and 1 <= d <= 4"), meaning()),
              ElementsAre("a < 1", "b < 2", "c < 3", "1 <= d", "d <= 4"));
  EXPECT_THAT(translate_conditions(*python::parse("lambda p: p['a'] < 1 and p['b'] < 2"), meaning()),
              ElementsAre("a < 1", "b < 2"));
}

TEST(Translate, TakesAnOperandThatIsChosenForANumberInPythonAlone) {
  EXPECT_THAT(error_of([] { (void)translate("(a or 4) * 8 <= 16", meaning()); }), HasSubstr("that only Python has"));
  EXPECT_EQ(translate("(a > 3 or b > 4) * 8 <= 16", meaning()).empty(), false);
  EXPECT_THROW(translate("a & 1.5 == 0", meaning()), python::NotUnderstood);
}

TEST(Translate, RefusesWhatItCannotSayExactly) {
  const std::pair<const char*, const char*> cases[] = {{"a / b", "fraction"},
                                                       {"x + 1", "'x'"},
                                                       {"a ^ b", "operator"},
                                                       {"f(a)", "function"},
                                                       {"(a - b) // 2", "negative"},
                                                       {"a % -b", "negative"},
                                                       {"a ** b", "power"},
                                                       {"p['x']", "not a parameter"},
                                                       {"[1, 2]", "kernel file"},
                                                       {"1 << (a / b)", "fraction"},
                                                       {"(block - 64) % 3 == 1", "negative"},
                                                       {"d // 2", "negative"},
                                                       {"p['d'] % 2", "negative"},
                                                       {"unknown // 2", "negative"},
                                                       {"a / d < b", "negative"},
                                                       {"a / -2 < b", "negative"},
                                                       {"a // d", "negative"},
                                                       {"math.ceil(d / 2)", "negative"},
                                                       {"math.floor(d / 2)", "negative"},
                                                       {"d & 3", "kernel files lack"},
                                                       {"2 ** d", "power"},
                                                       {"min(a, d) // 2", "negative"},
                                                       {"(1 if a > 3 else d) // 2", "negative"}};
  for (const auto& [python, why] : cases)
    EXPECT_THAT(error_of([text = python] { translate(text, meaning()); }), HasSubstr(why)) << python;
}

}  // namespace
}  // namespace tuner::convert
