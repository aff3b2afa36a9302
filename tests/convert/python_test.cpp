#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tuner/convert/python.hpp>

namespace tuner::convert::python {
namespace {

std::vector<std::int64_t> integers(const char* text, const Names& names = {}) {
  const Constant value = evaluate(*parse(text), names);
  std::vector<std::int64_t> all;
  for (const Constant& one : *value.list()) all.push_back(one.integer());
  return all;
}

TEST(Python, WorksOutListsOfValues) {
  EXPECT_THAT(integers("[1, 2,\n 4,]"), ElementsAre(1, 2, 4));
  EXPECT_THAT(integers("[2**i for i in range(4)]"), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(integers("[i for i in range(3, 12, 2) if i % 3 != 0]"), ElementsAre(5, 7, 11));
  EXPECT_THAT(integers("[1, 2] + list(range(32, 128+1, 32))"), ElementsAre(1, 2, 32, 64, 96, 128));
  EXPECT_THAT(integers("sorted((3, 1, 2))"), ElementsAre(1, 2, 3));
  EXPECT_THAT(integers("[1] * 3"), ElementsAre(1, 1, 1));
  EXPECT_THAT(integers("range(5, 0, -2)"), ElementsAre(5, 3, 1));
  EXPECT_THAT(integers("list(x)", {{"x", evaluate(*parse("[7, 8]"))}}), ElementsAre(7, 8));
}

TEST(Python, RoundsDownAsPythonDoes) {
  EXPECT_THAT(integers("[-7 // 2, -7 % 2, 7 // -2, 7 % -2, 7 // 2]"), ElementsAre(-4, 1, -4, -1, 3));
  EXPECT_EQ(evaluate(*parse("7 / 2")).number(), 3.5);
  EXPECT_THAT(integers("[int(7 / 2), math.ceil(7 / 2), 1 if 2 > 1 else 0, len([1, 2]), max([3, 9, 4])]"),
              ElementsAre(3, 4, 1, 2, 9));
}

TEST(Python, KeepsTheTypesOfNumbersOfNumPy) {
  const Constant number = evaluate(*parse("numpy.int32(4096)"));
  EXPECT_EQ(number.type, "int32");
  EXPECT_EQ(number.integer(), 4096);
  EXPECT_EQ(evaluate(*parse("np.float32(3)")).type, "float32");
}

TEST(Python, ReadsStringsAndDictionaries) {
  EXPECT_EQ(*evaluate(*parse("'a' \"b\\n\" r'\\d'")).string(), "ab\n\\d");
  EXPECT_EQ(*evaluate(*parse("\"\"\"one\ntwo\"\"\"")).string(), "one\ntwo");
  EXPECT_EQ(evaluate(*parse("{'x': [1, 2], 'y': 3}['y']")).integer(), 3);
  EXPECT_EQ(evaluate(*parse("dict(x=4)['x']")).integer(), 4);
}

TEST(Python, RefusesWhatIsNoConstantAndNeverRunsAnything) {
  const std::pair<const char*, const char*> cases[] = {
      {"x + 1", "not known"},      {"open('x')", "call"},       {"1 +", "ends too early"},
      {"[1, 2", "lacks"},          {"'abc", "without an end"},  {"1 / 0", "divides by zero"},
      {"2 ** 200", "too large"},   {"f'{x}'", "prefix"},        {"range(10**9)", "too long"},
      {"[1] * 10**9", "too long"}, {"lambda p: p", "no value"}, {"a b", "has more text"}};
  for (const auto& [text, why] : cases)
    EXPECT_THAT(error_of([source = text] { evaluate(*parse(source)); }), HasSubstr(why)) << text;
}

TEST(Python, WorksOutPowersAndProductsOfListsWithoutGoingThroughThem) {
  EXPECT_THAT(integers("[] * 9223372036854775807"), ElementsAre());
  EXPECT_THAT(integers("[1] * -1"), ElementsAre());
  EXPECT_THAT(integers("[(-1) ** 9000000000000000000, (-1) ** 9000000000000000001, 0 ** 0, 1 ** 90000000000]"),
              ElementsAre(1, -1, 1, 1));
  EXPECT_THAT(integers("range(9223372036854775800, 9223372036854775807, 5)"),
              ElementsAre(9223372036854775800, 9223372036854775805));
}

TEST(Python, RefusesNumbersThatNoIntegerHolds) {
  for (const char* text :
       {"-(-9223372036854775807 - 1)", "abs(-9223372036854775807 - 1)", "int(1e300)", "int(-1e19)", "math.ceil(1e300)",
        "np.int32(1e300)", "int(1e308 * 10 - 1e308 * 10)", "9223372036854775807 + 1"})
    EXPECT_THAT(error_of([source = text] { evaluate(*parse(source)); }), HasSubstr("too large")) << text;
  EXPECT_EQ(evaluate(*parse("int(9007199254740993)")).integer(), 9007199254740993);
}

TEST(Python, RefusesWhatTakesTooMuchMemory) {
  EXPECT_THAT(error_of([] { evaluate(*parse("[[0] * 100000] * 100000")); }), HasSubstr("too large"));
  EXPECT_THAT(error_of([] { evaluate(*parse("[range(100000) for i in range(100000)]")); }), HasSubstr("too large"));
  std::string doubled = "s";
  for (int i = 0; i < 9; ++i) doubled = '(' + doubled + " + " + doubled + ')';
  const Names names{{"s", {std::string(1 << 20, 'x'), {}, {}}}};
  EXPECT_THAT(error_of([&] { evaluate(*parse(doubled), names); }), HasSubstr("too large"));
}

TEST(Python, NamesOfComprehensionsHideOthersOnlyInside) {
  EXPECT_THAT(integers("[i for i in [2 * i for i in range(3)]] + [i]", {{"i", {std::int64_t{7}, {}, {}}}}),
              ElementsAre(0, 2, 4, 7));
}

TEST(Python, RefusesWhatIsNestedTooDeeply) {
  for (const char* part : {"(", "[", "not ", "-", "f(", "1+", "1 or ", "2**", "1 if 1 else "}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += part;
    EXPECT_THAT(error_of([&] { parse(text + "1"); }), HasSubstr("nested too deeply")) << part;
  }
}

}  // namespace
}  // namespace tuner::convert::python
