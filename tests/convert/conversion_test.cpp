#include <fmt/format.h>

#include <tests/matchers.hpp>

#include "converting.hpp"

namespace tuner::convert {
namespace {

constexpr const char* kKernel = R"(
#ifndef kernel_tuner
#error "no kernel_tuner"
#endif
extern "C" __global__ void scale(float *y, const float* x, int n) {
  for (int k = 0; k < tile; ++k) { int i = (blockIdx.x * tile + k) * block_size_x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
}
)";

class Converting : public test::ConvertTest {
 protected:
  Converting() { write("scale.cu", kKernel); }
};
using test::holds;
using test::tells;

std::string t1(const std::string& kernel, const std::string& space = "") {
  return R"({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "block_size_x", "Type": "int", "Values": "[32 * i for i in range(1, 33)]", "Default": 64},
    {"Name": "tile", "Type": "int", "Values": "[1, 2, 4]", "Default": 1}],
    "Conditions": [{"Expression": "32 <= block_size_x * tile <= 1024", "Parameters": ["block_size_x", "tile"]})" +
         space + R"(]}, "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu",
    "LocalSize": {"X": "block_size_x"}, )" +
         kernel + "}}";
}

constexpr const char* kArguments = R"("Arguments": [
    {"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant", "FillValue": 0, "Size": 4096},
    {"Name": "x", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 20.0, "Size": "4096"},
    {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4096}])";

TEST_F(Converting, SaysWhereTheSourceDoesNotHaveTheKernel) {
  write("scale.cu", "// scale\n__global__ void scales(float* y) {}\n");
  EXPECT_THAT(convert("scale.json", t1(kArguments)).left, Contains(HasSubstr("the source has no kernel scale")));
  write("scale.cu", "#include \"kernels.cuh\"\n");
  EXPECT_THAT(convert("scale.json", t1(kArguments)).left, Not(Contains(HasSubstr("has no kernel"))));
}

TEST_F(Converting, WhatTheKernelSaysItselfIsNotSaidAgain) {
  const Conversion made = convert("scale.json", t1(R"("GlobalSize": {"X": "4096"}, )" + std::string(kArguments)));
  for (const char* directive : {"instantiate", "define      block_size_x", "block  ", "arguments"})
    EXPECT_THAT(made.text, Not(HasSubstr("#pragma tuner " + std::string(directive))));
  const KernelSpec spec = parsed(made);
  EXPECT_EQ(spec.launches[0].instantiate, "scale");
  EXPECT_THAT(spec.launches[0].arguments, ElementsAre("y", "x", "n"));
  EXPECT_EQ(spec.launches[0].block[0].text(), "block_size_x");
  const auto macros = spec.program.macros.size();
  EXPECT_EQ(macros, 3u) << "kernel_tuner too";
}

TEST_F(Converting, AT1DescriptionGivesAKernelFileBesideTheKernel) {
  const Conversion made = convert("scale.json", t1(R"("GlobalSizeType": "OpenCL", "GlobalSize": {"X": "4096 // tile"},
    "CompilerOptions": ["-use_fast_math", "-std=c++11"], )" +
                                                   std::string(kArguments)));
  EXPECT_THAT(made.left, ElementsAre(HasSubstr("results are compared with those of the kernel's default")));
  const KernelSpec spec = parsed(made);
  EXPECT_EQ(spec.name, "scale");
  ASSERT_EQ(spec.space.parameters().size(), 2u);
  EXPECT_EQ(spec.space.parameters()[0].values.size(), 32u);
  EXPECT_EQ(spec.space.constraints().size(), 2u) << "a chain of comparisons is two";
  EXPECT_EQ(spec.default_configuration->text(), "block_size_x=64 tile=1");
  EXPECT_EQ(spec.find_size("n")->default_value, 4096);
  EXPECT_EQ(spec.find_buffer("y")->role, BufferRole::out);
  EXPECT_EQ(spec.find_buffer("x")->role, BufferRole::in);
  EXPECT_EQ(spec.find_buffer("x")->fill->numbers.high, 20);
  EXPECT_EQ(spec.program.compile_options.size(), 1u);
  EXPECT_EQ(spec.launches[0].grid[0].text(), "ceil_div(4096 / tile, block_size_x)");
  EXPECT_THAT(spec.launches[0].arguments, ElementsAre("y", "x", "n"));
  EXPECT_THAT(made.text, holds("#pragma tuner reference   default\n", "#pragma tuner source      \"scale.cu\""));
}

TEST_F(Converting, WhatTheHubAddsToT1DividesTheProblem) {
  const Conversion made = convert("scale.json", t1(R"("GlobalSize": {"X": "nonsense"}, "ProblemSize": [4096],
    "GridDivX": ["block_size_x", "tile"], )" + std::string(kArguments)));
  EXPECT_THAT(made.text, holds("size        problem_x n = 4096", "grid        ceil_div(problem_x, block_size_x * tile)",
                               "define      kernel_tuner = 1"));
}

TEST_F(Converting, WhatIsNotTranslatedIsSaidAndStandsInTheFile) {
  const Conversion made = convert("scale.json", t1(R"t("GlobalSize": {"X": "4096"}, "Texture": 3, "Arguments": [
    {"Name": "s", "Type": "custom", "MemoryType": "Symbol"},
    {"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "FillType": "BinaryRaw",
     "DataSource": "y.bin", "Size": "f(tile)"}],
    "ReferenceArguments": [{"TargetName": "y", "FillType": "Generator", "DataSource": "2 * i", "ValidationThreshold": 0.1}])t",
                                                   R"(, {"Expression": "tile ^ 1", "Parameters": ["tile"]})"));
  const std::vector<std::string> expected = {"'tile ^ 1'", "Texture",   "'Symbol'",
                                             "y.bin",      "'f(tile)'", "y should become '2 * i'"};
  for (const std::string& part : expected) {
    EXPECT_THAT(made.left, Contains(HasSubstr(part)));
    EXPECT_THAT(made.text, HasSubstr("// - "));
  }
  for (const std::string& sentence : made.left) EXPECT_THAT(made.text, HasSubstr(sentence));
}

TEST_F(Converting, AKernelTunerScriptIsReadAndNotRun) {
  const Conversion made = convert("scale.py", R"(#!/usr/bin/env python
"""A script; tune_kernel is called below"""
import numpy as np
from kernel_tuner import tune_kernel

def tune(size=10000):
    with open('scale.cu', 'r') as f:
        kernel_string = f.read()
    x = np.random.rand(size).astype(np.float32)
    y = np.zeros_like(x)
    n = np.int32(size)
    args = [y, x, n]
    tune_params = dict()
    tune_params["block_size_x"] = [128 + 64*i for i in range(15)]
    tune_params["tile"] = [2**i for i in range(4)]
    restrict = ["block_size_x * tile <= 2048"]
    restrict += [lambda p: p["tile"] != 2 or p["block_size_x"] // 64 == 3]
    return tune_kernel("scale", kernel_string, size, args, tune_params, grid_div_x=["block_size_x", "tile"],
                       restrictions=restrict, compiler_options=["-O3", "-use_fast_math"], verbose=True,
                       answer=[2 * x, None, None], atol=1e-4)
if __name__ == "__main__":
    tune()
)");
  EXPECT_THAT(made.left,
              ElementsAre(HasSubstr("answer is computed in Python"), HasSubstr("compared with those of the kernel's")));
  const KernelSpec spec = parsed(made);
  EXPECT_EQ(spec.space.parameters()[0].values.size(), 15u);
  EXPECT_EQ(spec.space.parameters()[1].values.back().integer(), 8);
  ASSERT_EQ(spec.space.constraints().size(), 2u);
  EXPECT_EQ(spec.space.constraints()[1].predicate.text(), "tile != 2 or block_size_x / 64 == 3");
  EXPECT_EQ(spec.find_size("size")->default_value, 10000);
  EXPECT_THAT(spec.launches[0].arguments, ElementsAre("y", "x", "size"));
  EXPECT_EQ(spec.launches[0].grid[0].text(), "ceil_div(size, block_size_x * tile)");
  EXPECT_EQ(spec.find_buffer("y")->role, BufferRole::inout) << "it is zero at first, and Kernel Tuner keeps that";
  EXPECT_EQ(spec.find_buffer("x")->role, BufferRole::in);
  EXPECT_EQ(spec.find_buffer("x")->count.text(), "size");
  EXPECT_EQ(spec.verification.tolerance->absolute, 1e-4);
}

TEST_F(Converting, AScriptMayHoldTheKernelItself) {
  const Conversion made = convert("inline.py", R"(
kernel = """
__global__ void scale(float *y, const float *x, int n) { y[threadIdx.x + block_size_x * blockIdx.x] = x[0]; }
"""
tune_params = {"block_size_x": [32, 64]}
args = [numpy.empty(n0, numpy.float32), numpy.ones((4, 8)).astype("float32"), numpy.int32(3)]
results, env = kernel_tuner.tune_kernel("scale", kernel, 128, args, tune_params)
)");
  EXPECT_THAT(made.text,
              AllOf(holds("\n__global__ void scale(", "in          argument2[4 * 8] : float", "argument2 = constant 1"),
                    Not(HasSubstr("tuner source"))));
  EXPECT_THAT(made.left, Contains(HasSubstr("'n0'"))) << "the size of the first buffer";
}

TEST_F(Converting, ALineThatIsNotUnderstoodIsSaidWhereItMatters) {
  const Conversion made = convert("odd.py", R"(
tune_params = {"block_size_x": [32, 64], "tile": [1]}
tune_params["depth"] = f"{x}"
restrict = ["tile > 0"]
restrict @= 3
tune_kernel("scale", "scale.cu", 4096, [numpy.int32(1)], tune_params, restrictions=restrict, observers=[a], **more)
)");
  EXPECT_THAT(made.left, tells("parameter depth", "'restrict'", "observers", "'more'"));
}

TEST_F(Converting, AT1DescriptionThatIsNestedTooDeeplyIsRefused) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& part : {"\"Texture\": " + deep, "\"LocalSize\": {\"X\": " + deep + '}'})
    EXPECT_THAT(error("deep.json", t1(part)), HasSubstr("nested too deeply"));
}

std::string call_of_scale(const std::string& before, const std::string& more = "") {
  return before + "\ntune_kernel('scale', 'scale.cu', 4096, [numpy.int32(1)], {'block_size_x': [32, 64]}" + more +
         ")\n";
}

TEST_F(Converting, AKernelThatWasTranslatedIsTheOneItWasMadeFrom) {
  write("scale.cu.hip", "#include <hip/hip_runtime.h>");
  std::string text = t1(kArguments);
  text.replace(text.find("scale.cu"), 8, "scale.cu.hip");
  EXPECT_THAT(convert("hip.json", text).text, HasSubstr("source      \"scale.cu\"\n"));
}

TEST_F(Converting, T1FillsFromGeneratorsAndFiles) {
  write("x.bin", "1234");
  const Conversion made = convert("fills.json", t1(R"("GlobalSize": {"X": "1"}, "Arguments": [
    {"Name": "a", "Type": "int32", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Generator", "DataSource": "2 * i + 3", "Size": 9},
    {"Name": "b", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Generator", "DataSource": "1 + i * 0.1", "Size": 9},
    {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "BinaryRaw", "DataSource": "x.bin", "Size": 1},
    {"Name": "d", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "BinaryRaw", "DataSource": "y.bin", "Size": 1}])"));
  EXPECT_THAT(made.text, holds("fill        a = expression 2 * i + 3\n", "fill        b = expression 1 + i * 0.1\n",
                               "fill        c = file \"x.bin\"\n"));
  EXPECT_THAT(made.left, Contains(HasSubstr("buffer d is filled by BinaryRaw 'y.bin'")));
}

TEST_F(Converting, T1FillsFloatingElementsAsPythonAndCDo) {
  const auto fill = [this](const std::string& generator, const std::string& type = "float") {
    const Conversion made = convert("fill.json", t1(R"("GlobalSize": {"X": "1"}, "Arguments": [
          {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 512},
          {"Name": "x", "Type": ")" + type + R"(", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": 9,
           "FillType": "Generator", "DataSource": ")" +
                                                    generator + "\"}]"));
    const std::size_t at = made.text.find("fill        x = ");
    return at == std::string::npos ? "left" : made.text.substr(at + 16, made.text.find('\n', at) - at - 16);
  };
  EXPECT_EQ(fill("i / n"), "expression 1.0 * i / n");
  EXPECT_EQ(fill("(float)i / n"), "expression (1.0 * i) / n");
  EXPECT_EQ(fill("1.0f - (float) (i % 10) / (n - 1)"), "expression 1.0 - ((1.0 * (i % 10)) / (n - 1))");
  EXPECT_EQ(fill("0.5f * (i / 10)"), "expression 0.5 * (i / 10)") << "whole numbers divide to one in C";
  EXPECT_EQ(fill("0.5 * (i / 10)"), "expression 0.5 * (1.0 * i / 10)") << "and to a fraction in Python";
  EXPECT_EQ(fill("-(i + 0.25)", "double"), "expression -(i + 0.25)");
  EXPECT_EQ(fill("min(float(i), 7.5)"), "expression min(1.0 * i, 7.5)");
  EXPECT_EQ(fill("i // 2 + 1"), "expression i / 2 + 1");
  EXPECT_EQ(fill("1 + i // 4 * 0.5 if i % 4 < 3 else 0.1"), "expression (i % 4 < 3 ? 1 + (i / 4) * 0.5 : 0.1)");
  EXPECT_EQ(fill("2 * (i if i * 0.5 > 1 else .25)"), "expression 2 * ((i * 0.5) > 1 ? i : 0.25)");
  EXPECT_EQ(fill("math.sin(i) * sqrtf(0.5f * i)"), "expression sin(i) * sqrt(0.5 * i)");
  EXPECT_EQ(fill("erf(i)"), "left");
  EXPECT_EQ(fill("(float)"), "left");
  EXPECT_EQ(fill(std::string(5000, '1') + ".5"), "left") << "nobody writes that";
  EXPECT_EQ(fill("i * 0.5", "int32"), "left");
}

TEST_F(Converting, AnOutputThatTheKernelAddsToStartsAtZero) {
  write("scale.cu", R"(
extern "C" __global__ void scale(float *sums, int* counts, const float* x, float* y) {
  sums[blockIdx.x * tile] += x[threadIdx.x];  // y[0] += 1
  atomicAdd(&counts[0], block_size_x);
  y[threadIdx.x] = sums[0];
}
)");
  const Conversion made = convert("scale.json", t1(R"("GlobalSize": {"X": "1"}, "Arguments": [
    {"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant", "FillValue": 2, "Size": 9},
    {"Name": "b", "Type": "int32", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 9},
    {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": 2000},
    {"Name": "d", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 2000}])"));
  EXPECT_THAT(made.text, holds("inout       a[9] : float, ", "fill        a = constant 2\n", ", b[9] : int\n",
                               "fill        b = constant 0\n", "out         d[2000] : float"));
  EXPECT_THAT(made.left, AllOf(tells("buffer a is WriteOnly, but the kernel adds to it", "buffer b is WriteOnly"),
                               Not(Contains(HasSubstr("buffer d")))));
}

TEST_F(Converting, AConditionMayStandBesideTheNamesThatItIsGiven) {
  const Conversion made = convert("pair.py", call_of_scale("", R"(, restrictions=[
      (lambda block_size_x: block_size_x < 64, ["block_size_x"]), (lambda x: x > 0, ["block_size_x"]),
      ("block_size_x", lambda x: x > 1)])"));
  EXPECT_THAT(made.text, HasSubstr("block_size_x < 64\n"));
  EXPECT_THAT(made.text, Not(HasSubstr("c2"))) << "of two nobody knows what they are given";
  EXPECT_THAT(made.left, Contains(HasSubstr("its arguments were not understood")).Times(2));
  for (const char* const both : {"(lambda p: p['block_size_x'] < 64, lambda p: p['block_size_x'] > 2)",
                                 "(lambda p: p['block_size_x'] < 64, 'block_size_x > 2')"})
    EXPECT_THAT(convert("two.py", call_of_scale("", fmt::format(", restrictions={}", both))).text,
                holds("block_size_x < 64\n", "block_size_x > 2\n"));
}

TEST_F(Converting, WhatIsOneOfItsOperandsInPythonIsNotCompared) {
  for (const char* const condition : {"(block_size_x or 5) > 2", "4 == (block_size_x and 5)"})
    EXPECT_THAT(convert("or.py", call_of_scale("", fmt::format(", restrictions=['{}']", condition))).left,
                Contains(HasSubstr("is arithmetic that only Python has")))
        << condition;
}

TEST_F(Converting, ParametersThatAreChangedInPlaceAreNotTakenAsTheyWere) {
  for (const char* const change : {"p['tile'].append(4)", "p['tile'].remove(1)", "p.pop('tile')", "del p['tile']"}) {
    const Conversion made = convert("changed.py", fmt::format("p = {{'block_size_x': [32, 64], 'tile': [1, 2]}}\n{}\n"
                                                              "tune_kernel('scale', 'scale.cu', 4096, [], p)\n",
                                                              change));
    EXPECT_THAT(made.text, Not(HasSubstr("parameter   tile"))) << change;
    EXPECT_THAT(made.left, Contains(HasSubstr("parameter tile has no values"))) << change;
  }
}

TEST_F(Converting, ConditionsThatAreTakenOutAgainAreNotTakenAsTheyWere) {
  const std::string removed = "r = ['block_size_x > 2', 'block_size_x < 64']\nr.remove('block_size_x > 2')\n";
  const Conversion made = convert("removed.py", call_of_scale(removed, ", restrictions=r"));
  EXPECT_THAT(made.text, Not(HasSubstr("pragma tuner constraint")));
  EXPECT_THAT(made.left, Contains(HasSubstr("remove")));
}

TEST_F(Converting, AWordThatStandsAloneIsNoMatter) {
  EXPECT_THAT(convert("del.py", call_of_scale("del\nreturn\n")).text, HasSubstr("parameter   block_size_x"));
}

TEST_F(Converting, AScriptWhoseParametersAreAllUnknownSaysWhy) {
  EXPECT_THAT(error("none.py", "tune_kernel('scale', 'scale.cu', 4096, [], {'block_size_x': f(3)})\n"),
              holds("no parameter of tune_params could be read", "block_size_x"));
}

TEST_F(Converting, NamesThatGrowWithEachLineAreGivenUp) {
  std::string doubled = "x = f(1)\n", added = "r = []\n", appended = "r = []\n";
  for (int i = 0; i < 100; ++i) doubled += "x = (((x + x)))\n";
  for (int i = 0; i < 20'000; ++i) {
    added += "r += ['tile > 0']\n";
    appended += "r.append('tile > 0')\n";
  }
  EXPECT_THAT(convert("double.py", call_of_scale(doubled, ", restrictions=[x]")).left,
              Contains(HasSubstr("(too large)")));
  for (const std::string& text : {added, appended})
    EXPECT_THAT(convert("add.py", call_of_scale(text, ", restrictions=r")).left, Contains(HasSubstr("(too large)")));
}

TEST_F(Converting, ATreeIsReplacedInOnceForEachOfItsParts) {
  std::string deep = "x";
  for (int i = 0; i < 25; ++i) deep = "f(" + deep + ')';
  EXPECT_THAT(convert("deep.py", call_of_scale("x = f(1)\nx = " + deep, ", restrictions=[x]")).left,
              Contains(HasSubstr("is a function")));
}

TEST_F(Converting, NamesThatStandForEachOtherAreNotFollowedForEver) {
  EXPECT_THAT(convert("cycle.py", call_of_scale("r = [s]\ns = [r]", ", restrictions=r")).left,
              Contains(HasSubstr("too many restrictions")));
  EXPECT_THAT(convert("cycle.py",
                      "a = b + 1\nb = a + 1\n"
                      "tune_kernel('scale', 'scale.cu', 4096, [a], {'block_size_x': [32, 64]})\n")
                  .left,
              Contains(HasSubstr("buffer a")));
  std::string twice = "x0 = g\n";
  for (int i = 1; i < 60; ++i) twice += fmt::format("x{0} = x{1} + x{1}\n", i, i - 1);
  EXPECT_THAT(
      convert("twice.py", twice + "tune_kernel('scale', 'scale.cu', 4096, [x59], {'block_size_x': [32]})\n").left,
      Contains(HasSubstr("buffer x59")));
}

TEST_F(Converting, AnEntryThatIsAssignedTwiceHasTheLastValue) {
  const Conversion made = convert("twice.py",
                                  "p = dict()\np['block_size_x'] = [32]\np['block_size_x'] = [64, 128]\n"
                                  "m = max(p['block_size_x'])\n"
                                  "tune_kernel('scale', 'scale.cu', m, [numpy.int32(1)], p)\n");
  EXPECT_THAT(made.text, holds("block_size_x = 64 128", "m = 128"));
}

TEST_F(Converting, NeitherTheInputNorTheKernelsSourceIsReplaced) {
  const Conversion made = convert("scale.json", t1(kArguments));
  std::filesystem::create_hard_link(folder_ / "scale.cu", folder_ / "same.cu");
  const auto refusal = [&](const std::string& output) {
    return error_of([&] { require_other_file(folder_ / output, folder_ / "scale.json", made); });
  };
  EXPECT_THAT(refusal("scale.json"), HasSubstr("the file to convert"));
  EXPECT_THAT(refusal("./scale.cu"), HasSubstr("the kernel's source"));
  EXPECT_THAT(refusal("same.cu"), HasSubstr("the kernel's source"));
  EXPECT_EQ(refusal("scale.tuner.cu"), "no error");
  const Conversion lost =
      convert("lost.py", "tune_kernel('f', 'lost.cu', 1, [numpy.int32(1)], {'block_size_x': [32]})");
  EXPECT_THAT(error_of([&] { require_other_file(folder_ / "lost.cu", folder_ / "lost.py", lost); }),
              HasSubstr("the kernel's source"))
      << "where it is not there yet, the kernel file would name itself";
}

TEST_F(Converting, FoldersOfHeadersAreRelativeToTheKernelFile) {
  write("scale.json",
        t1(R"("CompilerOptions": ["-Iinclude", "-I ../common", "-I/usr/include"], )" + std::string(kArguments)));
  const Conversion made = convert_file(folder_ / "scale.json", folder_ / "made" / "here");
  EXPECT_THAT(made.text, holds("include_path \"../../include\"", "include_path \"../../../common\"",
                               "include_path \"/usr/include\""));
}

TEST_F(Converting, TruthValuesOfJsonAreValues) {
  const Conversion made = convert("scale.json", R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "block_size_x", "Values": [32, 64]}, {"Name": "tile", "Values": [1]},
      {"Name": "fast", "Values": [true, false], "Default": false}, {"Name": "safe", "Values": "[false, true]"}]},
      "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu",
      "LocalSize": {"X": "block_size_x"}, )" + std::string(kArguments) +
                                                    "}}");
  EXPECT_THAT(made.text, holds("fast = true false", "safe = false true"));
}

TEST_F(Converting, NumbersWithAPointStayWhatTheyAre) {
  const Conversion made = convert("scale.json", R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "block_size_x", "Values": [32, 64]}, {"Name": "tile", "Values": [1]},
      {"Name": "step", "Values": [0.5, 1]}, {"Name": "wide", "Values": "[1.0, 1e300, 1e300 * 1e300]"}],
      "Conditions": [{"Expression": "step * 2 <= tile"}, {"Expression": "tile <= max(step) * 3"}]},
      "KernelSpecification": {"Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu",
      "LocalSize": {"X": "block_size_x"}, )" + std::string(kArguments) +
                                                    "}}");
  EXPECT_THAT(made.text, holds("step = 0.5 1.0\n", "wide = 1.0\n", "c1: tile <= 3\n"));
  EXPECT_THAT(made.left, Contains(HasSubstr("'step * 2 <= tile'"))) << "kernel files do not compute with them";
  EXPECT_NO_THROW(parsed(made));
}

TEST_F(Converting, NamesThatKernelFilesUseThemselvesGetOthers) {
  std::string lines, words;
  for (const char* word : {"max_grid_x", "double", "uint8", "min", "in", "warp_size", "ceil_div"}) {
    lines += fmt::format("p['{}'] = [1, 2]\n", word);
    words += fmt::format(" {}_", word);
  }
  const Conversion made = convert("names.py", "p = {'block_size_x': [32], 'tile': [1]}\n" + lines +
                                                  "tune_kernel('scale', 'scale.cu', 4096, [numpy.zeros(4)], p)\n");
  const KernelSpec spec = parsed(made);
  EXPECT_EQ(spec.space.parameters().size(), 9u);
  EXPECT_THAT(made.left, Contains(HasSubstr("the macro warp_size is not defined")));
  for (const TuningParameter& one : spec.space.parameters()) {
    if (one.name.ends_with('_')) {
      EXPECT_THAT(words, HasSubstr(' ' + one.name));
    }
  }
}

TEST_F(Converting, ArgumentsAreCalledWhatKernelFilesCanCallThem) {
  const Conversion made = convert("scale.json", t1(R"("GlobalSize": {"X": "1"}, "Arguments": [
    {"Name": "not", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 9},
    {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Constant", "FillValue": 1, "Size": 9},
    {"Name": "min", "Type": "int32", "MemoryType": "Scalar", "FillValue": 9}])"));
  EXPECT_THAT(made.text,
              holds("arguments   not_, in_, min_\n", "fill        in_ = constant 1\n", "size        min_ = 9\n"));
  EXPECT_THAT(parsed(made).launches[0].arguments, ElementsAre("not_", "in_", "min_"));
}

TEST_F(Converting, KernelsInNamespacesAreNamedWithThem) {
  const std::string kernel =
      "namespace a::b {\nstruct s { int namespaces; };\nnamespace c { int d; }\n"
      "template <typename T> __global__ void scale(T* y) { y[0] = block_size_x; }\n}\n";
  const auto instantiated = [&](const std::string& name) {
    const Conversion made = convert("inline.py", "k = '''" + kernel + "'''\ntune_kernel('" + name +
                                                     "', k, 8, [numpy.zeros(4)], {'block_size_x': [32]})\n");
    EXPECT_THAT(made.text, HasSubstr("kernel      scale\n"));
    const std::size_t at = made.text.find("instantiate ");
    return made.text.substr(at + 12, made.text.find('\n', at) - at - 12);
  };
  EXPECT_EQ(instantiated("scale<double>"), "a::b::scale<double>");
  EXPECT_EQ(instantiated("a::b::scale<double>"), "a::b::scale<double>");
  std::string t1_text = t1(kArguments);
  t1_text.replace(t1_text.find("\"scale\""), 7, "\"here::scale<float>\"");
  EXPECT_THAT(convert("scale.json", t1_text).text, HasSubstr("instantiate here::scale<float>\n"));
}

TEST_F(Converting, WordsInCommentsOfTheKernelDefineNothing) {
  const Conversion made = convert("inline.py",
                                  "k = '__global__ void f() {}  // kernel_tuner says grid_size_x\\n'\n"
                                  "tune_kernel('f', k, 8, [numpy.int32(1)], {'block_size_x': [32]})\n");
  EXPECT_THAT(made.text, Not(AnyOf(HasSubstr("kernel_tuner ="), HasSubstr("grid_size_x ="))));
}

TEST_F(Converting, OneArgumentThatIsNotReadHidesNoOther) {
  for (const char* const odd : {"cache=f\"k_{n}.json\"", "answer=[a @ b, None]", "answer=[x[:, None]]",
                                "verify=lambda ref, ans, atol=None: True", "strategy_options={\"maxiter\": 5, **p}",
                                "observers=[One(k=v for k, v in p)]", "answer=[~x, \"a)b,\"]"}) {
    const Conversion made = convert("odd.py",
                                    "k = '__global__ void f(int n) {}\\n'\n"
                                    "tune_kernel('f', k, 8, [numpy.int32(1)], {'block_size_x': [32, 64]}, " +
                                        std::string(odd) + ", grid_div_x=['block_size_x'])\n");
    EXPECT_THAT(made.text, HasSubstr("block_size_x = 32 64")) << odd;
  }
}

TEST_F(Converting, NothingCanBeMadeOfSomeFiles) {
  EXPECT_THAT(error("a.json", "{"), HasSubstr("a.json"));
  EXPECT_THAT(error("a.json", "{}"), HasSubstr("no T1 description"));
  EXPECT_THAT(error("a.txt", "hello"), HasSubstr("not a T1 description"));
  EXPECT_THAT(error("a.txt", ""), HasSubstr("empty"));
  EXPECT_THAT(error("a.py", "# tune_kernel"), HasSubstr("no simple call of tune_kernel was found: a line such as"));
  EXPECT_THAT(error("a.py", "if n > 3: tune_kernel('k', 'k.cu', 1, [], {})"),
              holds("'if n > 3: tune_kernel(", "put the call on its own line"));
  EXPECT_THAT(error("a.py", "x = [1, 2\ntune_kernel('k', 'k.cu', 1, [], {})"), HasSubstr("x = [1, 2"));
  EXPECT_THAT(error_of([&] { convert_file(folder_ / "none.json", folder_.path()); }), HasSubstr("none.json"));
}

}  // namespace
}  // namespace tuner::convert
