#include <tuner/core/kernel_file/kernel_file.hpp>

#include <cmath>

#include <tests/core/kernel_texts.hpp>

#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/kernel_file/data_files.hpp>

namespace tuner {
namespace {

TEST(KernelFile, ReadsFillsThatAreComputed) {
  const auto fill = [](const std::string& text) {
    return *parse(with_line(0, "#pragma tuner fill a = " + text)).find_buffer("a")->fill;
  };
  EXPECT_EQ(fill("uniform -0.5 n - 1").numbers.low, -0.5);
  EXPECT_EQ(fill("uniform -0.5 n - 1").high->text(), "n - 1");
  EXPECT_EQ(fill("uniform 0 min(n, 7) + 1").high->text(), "min(n, 7) + 1");
  EXPECT_EQ(fill("uniform 2 * n, 3 * n").low->text(), "2 * n");
  EXPECT_EQ(fill("uniform 2 * n, 3 * n").high->text(), "3 * n");
  EXPECT_EQ(fill("constant n").low->text(), "n");
  EXPECT_EQ(fill("constant n").numbers.kind, Fill::Kind::constant);
  EXPECT_EQ(fill("expression (i * 7 + 1) % n").element->text(), "(i * 7 + 1) % n");
  EXPECT_EQ(fill("file \"data/a b.npy\"").path, "data/a b.npy");
  const KernelSpec spec = parse(edited(0, "fill a = file \"a.npy\""));
  ASSERT_EQ(data_files(spec).size(), 1u);
  EXPECT_EQ(data_files(spec).front().filename(), "a.npy");
}

TEST(KernelFile, FillsWithNumbersThatAreNoneAndWithPowers) {
  const auto constant = [](const std::string& text) {
    return parse(with_line(0, "#pragma tuner fill a = constant " + text)).find_buffer("a")->fill->numbers.low;
  };
  EXPECT_EQ(constant("-inf"), -HUGE_VAL);
  EXPECT_EQ(constant("inf"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(constant("nan")));
  EXPECT_EQ(constant("2^31"), 2147483648.0);
  EXPECT_EQ(constant("-2^31"), -2147483648.0);
  EXPECT_THAT(error_of([] { parse(edited(0, "in k[n] : int\nfill k = constant inf")); }),
              HasSubstr("can be filled with integers only"));
}

TEST(KernelFile, FillsSeveralBuffersAlike) {
  const KernelSpec spec = parse(edited(0, "in z[n]\nfill a, z = expression i % n"));
  for (const char* const name : {"a", "z"}) EXPECT_EQ(spec.find_buffer(name)->fill->element->text(), "i % n") << name;
  EXPECT_THAT(error_of([] { parse(edited(0, "fill a, a = iota")); }), HasSubstr("fill"));
}

/// The value of \p element for \p i. Expects the same from its compiled form. Throws like evaluate_number().
double number_of(const Expression& element, std::int64_t i, const std::map<std::string, int>& names) {
  const std::string index = "i";
  Bindings fixed;
  for (const auto& [name, value] : names) fixed.set(name, value);
  const auto compiled = OpenExpression(element, {&index, 1}, fixed).evaluate_number(&i);
  fixed.set(index, i);
  const double number = element.evaluate_number(fixed);
  EXPECT_EQ(compiled, number);
  return number;
}

TEST(KernelFile, ReadsFillsWithNumbersThatHaveAPoint) {
  const KernelSpec spec = parse(edited(0, "fill a = expression i % 2 == 0 ? 1 + i * 0.1 : -1e-3 / n"));
  const Expression& element = *spec.find_buffer("a")->fill->element;
  EXPECT_TRUE(element.has_reals());
  EXPECT_EQ(number_of(element, 0, {{"n", 4}}), 1);
  EXPECT_EQ(number_of(element, 1, {{"n", 4}}), -1e-3 / 4);
  EXPECT_EQ(number_of(element, 4, {{"n", 4}}), 1 + 4 * 0.1);
}

TEST(Expression, HasTheFunctionsOfNumbersWithAPoint) {
  const auto at_4 = [](const std::string& text) {
    const KernelSpec spec = parse(with_line(0, "#pragma tuner fill a = expression " + text));
    const Expression& element = *spec.find_buffer("a")->fill->element;
    EXPECT_TRUE(element.has_reals());
    return number_of(element, 4, {});
  };
  EXPECT_EQ(at_4("sqrt(i) + sqrt(9)"), 5);
  EXPECT_EQ(at_4("sin(i) / cos(i) - tan(0)"), std::sin(4.0) / std::cos(4.0));
  EXPECT_EQ(at_4("log(exp(0) * i)"), std::log(4.0));
  EXPECT_THAT(error_of([&] { at_4("i % sqrt(i)"); }), HasSubstr("an integer is needed here"));
  EXPECT_THAT(error_of([&] { parse(edited(0, "constraint c: sqrt(n) > 2")); }),
              HasSubstr("'sqrt' gives numbers with a point, which only fills and 'estimate' allow"));
}

TEST(Expression, IsIntegerArithmeticUntilANumberWithAPointComesIn) {
  const auto at_7 = [](const std::string& text) {
    const KernelSpec spec = parse(with_line(0, "#pragma tuner fill a = expression " + text));
    return number_of(*spec.find_buffer("a")->fill->element, 7, {{"n", 3}, {"warp_size", 0}});
  };
  EXPECT_EQ(at_7("i / n * 0.5"), 1);
  EXPECT_EQ(at_7("0.5 * i / n"), 3.5 / 3);
  EXPECT_EQ(at_7("max(i, 7.5) - min(n, 0.5) - abs(-0.25)"), 6.75);
  EXPECT_EQ(at_7("i > 6.5 ? 1 : 2"), 1);
  EXPECT_EQ(at_7("(i > 6.5 ? i : 2.5) / 2"), 3.5) << "of either value";
  EXPECT_EQ(at_7("n == 3 and i in {7, 8} ? 2.5 : 0"), 2.5);
  EXPECT_EQ(at_7("n > 3 ? 0.5 / (i / warp_size) : 1.5"), 1.5) << "what is not chosen needs no answer";
  EXPECT_EQ(at_7("warp_size == 0 or n / warp_size > i ? 0.5 : 1"), 0.5);
  EXPECT_THAT(error_of([&] { at_7("0.5 + i / warp_size"); }), HasSubstr("k.cu:20:43: division by zero"));
  EXPECT_THAT(error_of([&] { at_7("0.5 + n / warp_size"); }), HasSubstr("k.cu:20:43: division by zero"));
}

}  // namespace
}  // namespace tuner
