/// Descriptions that contradict the kernel's text.

#include <tuner/convert/text_macros.hpp>

#include <tests/matchers.hpp>

#include "converting.hpp"

namespace tuner::convert {
namespace {

class Agreeing : public test::ConvertTest {
 protected:
  /// Converts a T1 description of \p kernel with \p arguments and the parameters `block` and \p more.
  Conversion convert(const std::string& kernel, const std::string& arguments, const std::string& more = "") {
    write("scale.cu", kernel);
    return ConvertTest::convert("scale.json",
                                R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "block", "Values": "[32, 64]", "Default": 64})" +
                                    more + R"(]}, "KernelSpecification": {"Language": "CUDA", "KernelName": "scale",
      "KernelFile": "scale.cu", "LocalSize": {"X": "block"}, "GlobalSize": {"X": "1"}, "Arguments": [)" +
                                    arguments + "]}}");
  }

  static std::string vector(const std::string& name, const std::string& access, const std::string& type = "float") {
    return R"({"Name": ")" + name + R"(", "Type": ")" + type + R"(", "MemoryType": "Vector", "AccessType": ")" +
           access + R"(", "Size": 12, "FillType": "Random", "FillValue": 1})";
  }
  static std::string number(const std::string& name, const std::string& value) {
    return R"({"Name": ")" + name + R"(", "Type": "int32", "MemoryType": "Scalar", "FillValue": )" + value + '}';
  }
};
using test::holds;
using test::tells;

TEST_F(Agreeing, TheSameNamesInAnotherOrderAreTakenInTheKernels) {
  const Conversion made =
      convert("__global__ void scale(float* y, const float* x, int n) { y[block] = x[0]; }",
              vector("x", "ReadOnly") + ", " + vector("y", "WriteOnly") + ", " + number("n", "\"7\""));
  EXPECT_THAT(parsed(made).launches[0].arguments, ElementsAre("y", "x", "n"));
  EXPECT_THAT(made.text, HasSubstr("size        n = 7\n")) << "a number may be written as text";
  EXPECT_THAT(made.left, Contains(HasSubstr("the order of the kernel's parameters")));
}

TEST_F(Agreeing, WhatTheKernelWritesToIsAnOutput) {
  const std::string arguments = vector("a", "ReadOnly") + ", " + vector("b", "ReadWrite");
  const Conversion made = convert("__global__ void scale(float* y, const float* x) { y[block] = x[0]; }", arguments);
  EXPECT_THAT(made.text, holds("inout       a[12]", "in          b[12]"));
  EXPECT_THAT(made.left, Contains(HasSubstr("buffer a is ReadOnly, but the kernel writes to it")));
  const Conversion equal =
      convert("__global__ void scale(float* y, float* x) { if (y[block] == 1) x[0] = 1; }", arguments);
  EXPECT_THAT(equal.text, holds("in          a[12]", "inout       b[12]"));
}

TEST_F(Agreeing, WhereNothingIsWrittenEveryBufferThatMayBeIsAnOutput) {
  const Conversion made = convert("__global__ void scale(const float* x, float* y) { store(y, x[block]); }",
                                  vector("x", "ReadOnly") + ", " + vector("y", "ReadOnly"));
  EXPECT_THAT(made.text, holds("in          x[12]", "inout       y[12]"));
  EXPECT_THAT(made.left, Contains(HasSubstr("buffer y is `inout` here")));
}

TEST_F(Agreeing, ATypeThatIsAMacroOfTheTextIsTheKernels) {
  const std::string kernel = R"(
#define WIDTH 64
#if WIDTH == 32
#define real float
#elif defined(WIDTH) && WIDTH == 64
#define real double
#endif
__global__ void scale(real* y, unsigned* n) { y[block] = n[0]; }
)";
  const Conversion made = convert(kernel, vector("y", "WriteOnly") + ", " + vector("n", "ReadOnly", "int32"));
  EXPECT_THAT(made.text, holds("out         y[12] : double", "in          n[12] : int\n")) << "signs do not matter";
  EXPECT_THAT(made.left, Contains(HasSubstr("y has the kernel's type double here instead of float")));
}

TEST_F(Agreeing, AnArgumentTooManyFillsTheConstantMemoryOfItsSize) {
  const std::string kernel = R"(
#define CORNERS 6
__constant__ float2 corners[CORNERS];
__constant__ float slopes[CORNERS];
__global__ void scale(int* inside, float2* points, int n) { inside[block] = 1; }
)";
  const Conversion made = convert(kernel, vector("inside", "WriteOnly", "int32") + ", " + vector("points", "ReadOnly") +
                                              ", " + vector("polygon", "ReadOnly") + ", " + number("count", "12"));
  EXPECT_THAT(made.text, AllOf(holds("constant    corners[12] : float\n", "fill        points, corners = uniform 0 1\n",
                                     "arguments   inside, points, count\n"),
                               Not(HasSubstr("polygon["))));
  EXPECT_THAT(made.left, Contains(HasSubstr("the kernel takes 3 arguments, not 4: polygon is copied into")));
}

TEST_F(Agreeing, ArgumentsThatFitInSeveralWaysAreLeft) {
  const Conversion made = convert("__global__ void scale(float* y) { y[block] = 1; }",
                                  vector("a", "WriteOnly") + ", " + vector("b", "ReadOnly"));
  EXPECT_THAT(made.left, Contains(HasSubstr("the kernel takes 1 argument, not 2: correct `arguments`")));
}

TEST_F(Agreeing, AMacroThatTheTextDefinesHasTheTextsValue) {
  const std::string kernel = R"(
#define kernel_tuner 1
#ifndef kernel_tuner
#define block 256
#endif
#define width 2
__global__ void scale(float* y) { y[block * width * kernel_tuner] = 1; }
)";
  const Conversion made = convert(kernel, vector("y", "WriteOnly"), R"(, {"Name": "width", "Values": "[1, 2, 4]"})");
  EXPECT_THAT(made.text, AllOf(holds("parameter   width = 2\n"), Not(HasSubstr("define      kernel_tuner"))));
  EXPECT_THAT(made.left, AllOf(Contains(HasSubstr("parameter width has only the value 2 here")),
                               Each(Not(HasSubstr("tune does not accept this file")))));
}

TEST_F(Agreeing, TheDefaultIsTheValidOneThatDiffersInTheFewestParameters) {
  const std::string space = R"(, {"Name": "tile", "Values": "[1, 2, 3, 4, 5]", "Default": 1},
    {"Name": "unroll", "Values": "[1, 2, 3, 4, 5]", "Default": 2}, {"Name": "most", "Values": "[10]", "Default": 1}],
    "Conditions": [{"Expression": "tile % unroll == 0"})";
  const Conversion made = convert("__global__ void scale(float* y) { y[block * tile * unroll * most] = 1; }",
                                  vector("y", "WriteOnly"), space);
  EXPECT_THAT(made.text, HasSubstr("default     block=64 tile=1 unroll=1 most=10\n"));
  EXPECT_THAT(made.left, Contains(HasSubstr("the original's default violates a condition")));
}

TEST_F(Agreeing, AnAnswerThatIsAFormulaIsAReferenceKernel) {
  const auto described = [&](const std::string& fill) {
    std::string arguments = vector("x", "ReadOnly") + ", " + vector("y", "WriteOnly");
    arguments.replace(arguments.find("\"Random\", \"FillValue\": 1"), 24, fill);
    return convert("__global__ void scale(const float* x, float* y) { y[block] = x[0]; }",
                   arguments + R"(], "ReferenceArguments": [{"Name": "z", "TargetName": "y", "FillType": "Generator",
                     "DataSource": "2 * i + 3", "ValidationThreshold": 0.5})");
  };
  const Conversion made = described(R"("Generator", "DataSource": "i")");
  EXPECT_THAT(made.text, holds("reference   y_answer\n", "arguments   y, 12 : int64\n",
                               "__global__ void y_answer(float* y, long long n) {", "if (i < n) y[i] = 2 * i + 3;",
                               "tolerance   absolute 0.5\n"));
  EXPECT_TRUE(made.left.empty()) << made.left.front();
  EXPECT_THAT(described(R"("Random", "FillValue": 1)").text, HasSubstr("reference   default\n"))
      << "it is the answer for other numbers";
}

TEST(TextMacros, AreThoseOfTheBranchesThatAreRead) {
  const TextMacros macros(R"(
#define A 3
#ifdef B
#  define C one
#else
#  define C \
  two
#endif
#if A > 2 && !defined B
#undef A
#define TYPE C
#endif
#if unknown(1)
#define D 1
#endif
#if A == 0
#define E 5
#endif
#define F(x) x
)",
                          {{"G", "7"}});
  EXPECT_EQ(macros.value("C"), "two");
  EXPECT_EQ(macros.value("TYPE"), "two") << "of what it stands for";
  EXPECT_EQ(macros.value("A"), std::nullopt);
  EXPECT_EQ(macros.value("D"), std::nullopt) << "nobody knows";
  EXPECT_EQ(macros.value("E"), "5") << "what is no macro counts as zero";
  EXPECT_EQ(macros.value("F"), std::nullopt);
  EXPECT_EQ(macros.value("G"), "7");
}

TEST(TextMacros, ThatTheCompilerOrAnotherFileMayDefineAreNotKnown) {
  const std::string text = "#if __CUDA_ARCH__ >= 600\n#define BLOCK 32\n#else\n#define BLOCK 16\n#endif\n";
  EXPECT_EQ(TextMacros(text, {}).value("BLOCK"), std::nullopt);
  const std::string other = "#ifdef WIDE\n#define BLOCK 32\n#else\n#define BLOCK 16\n#endif\n";
  EXPECT_EQ(TextMacros(other, {}).value("BLOCK"), "16");
  EXPECT_EQ(TextMacros("#include \"sizes.h\"\n" + other, {}).value("BLOCK"), std::nullopt);
  EXPECT_EQ(TextMacros("#include <cstdint>\n" + other, {}).value("BLOCK"), "16");
}

TEST(TextMacros, ThatStandForEachOtherAreNotFollowedForEver) {
  const TextMacros macros("#define A B\n#define B A\n#if A\n#define C 1\n#endif\n", {});
  EXPECT_EQ(macros.value("A"), std::nullopt);
}

}  // namespace
}  // namespace tuner::convert
