// Kernels of Kernel Launcher: annotated kernels, captured launches and wisdom.

#include <fmt/format.h>

#include <tests/matchers.hpp>

#include "converting.hpp"

namespace tuner::convert {
namespace {

using FromLauncher = test::ConvertTest;
using test::holds;
using test::tells;

constexpr const char* kAnnotated = R"(
#pragma kernel tune(threads = 32, 64, 128) default(64)
#pragma kernel tune(items = 1, 2) \
               set(per_block = threads * items)
#pragma kernel restriction(per_block <= 128 || items == 1)
#pragma kernel problem_size(n) block_size(threads)
#pragma kernel grid_divisor(per_block)
#pragma kernel buffers(c[n], a[n * 2]) tuning_key("add_" + T)
template <typename T, int items, int total>
__global__ void add(int n, T* c, const T* __restrict__ a, float factor) {}
)";

TEST_F(FromLauncher, AnnotationsBecomeDirectivesBesideTheFile) {
  std::string text = kAnnotated;
  text.replace(text.find("int total"), 9, "int per_block");
  const KernelSpec spec = parsed(convert("add.cu", text));
  EXPECT_EQ(spec.name, "add");
  EXPECT_EQ(spec.default_configuration->text(), "items=1 threads=64");
  EXPECT_EQ(spec.space.constraints().size(), 1u);
  EXPECT_EQ(spec.find_size("n")->default_value, 16777216);
  EXPECT_THAT(convert("add.cu", text).text,
              holds("instantiate add<T, items, {(threads * items)}>", "grid        ceil_div(n, (threads * items))",
                    "in          a[n * 2] : T"));
  EXPECT_THAT(convert("add.cu", text).text, Not(HasSubstr("#pragma tuner define"))) << "they are the template's";
}

TEST_F(FromLauncher, TheKernelIsTheOneAfterTheAnnotations) {
  const Conversion made = convert("two.cu", R"(
#pragma kernel tune(threads = 32, 64) block_size(threads)
template <int threads> __global__ void first(float* c);
template <int threads> __global__ void second(float* c) {}
template <int threads> __global__ void first(float* c) {}
)");
  EXPECT_THAT(made.text, holds("kernel      first"));
}

TEST_F(FromLauncher, WhatTheProgramChoosesIsLeft) {
  EXPECT_THAT(
      convert("add.cu", kAnnotated).left,
      ElementsAre(HasSubstr("the program chooses type T"), HasSubstr("the program chooses total of the template"),
                  HasSubstr("the program chooses size n"), HasSubstr("the program chooses argument factor"),
                  HasSubstr("results are compared")));
}

TEST_F(FromLauncher, TheFirstAnnotationsOfTheirKindAreReadToo) {
  const Conversion made = convert("old.cu", R"(
#pragma kernel_tuner tune(block_size) values(32, 64)
#pragma kernel_tuner template_args(block_size)
#pragma kernel_tuner grid_divisor(block_size* 2)
#pragma kernel_tuner problem_size(n) buffers(C[n])
template<int block_size> __global__ void old(int n, float* C) {}
__global__ void other(int n) {}
#pragma kernel_tuner tune(x) values(1)
)");
  EXPECT_THAT(made.left, tells("the block's X is assumed to be block_size", "annotates more than one kernel"));
  EXPECT_THAT(made.text, HasSubstr("instantiate old<block_size>"));
  EXPECT_EQ(parsed(made).space.parameters().size(), 1u);
}

TEST_F(FromLauncher, AnnotationsThatAreNoneAreErrorsWithTheirLine) {
  EXPECT_THAT(error("bad.cu", "\n#pragma kernel tune(a = 1\n__global__ void f() {}"), HasSubstr("bad.cu:2: "));
  EXPECT_THAT(error("none.cu", "#pragma kernel tune(a = 1)\nvoid f();"), HasSubstr("no kernel follows"));
  EXPECT_THAT(error("nothing.cu", "#pragma kernel block_size(1)\n__global__ void f() {}"),
              HasSubstr("it has nothing to tune"));
}

TEST_F(FromLauncher, ValuesAreThoseOfCxx) {
  const Conversion made = convert("values.cu", R"(
#pragma kernel tune(a = 64/2, 7/2, "b-(", nonsense) default(1 << 5)
#pragma kernel tune(mode = "fast", "slow") default("slow")  // tune(no = 1)
/* several lines
#pragma kernel tune(old = 1, 2)
*/
__global__ void f(int2 shape, float4*) {})");
  EXPECT_THAT(made.text,
              holds("parameter   a = 32 3\n", "parameter   mode = fast slow\n", "default     a=32 mode=slow\n"));
  EXPECT_THAT(made.text, Not(HasSubstr("old")));
  EXPECT_THAT(made.left, tells("argument shape has the type 'int2'", "nonsense"));
}

TEST_F(FromLauncher, TypesAmongTheTemplatesArgumentsAreThoseOfTheBuffers) {
  const Conversion made = convert("types.cu", R"(
#pragma kernel tune(threads = 32, 64) block_size(threads) problem_size(n) buffers(x[n], y[n])
#pragma kernel template_args(double, unsigned long long, layout<float, 2>, threads)
namespace numbers { inline namespace v1 { namespace { using other = int; }
template <typename T, typename Index, class Layout, int threads, typename Rest = T>
__global__ void scale(int n, T* y, const Index* x) {}
} })");
  EXPECT_THAT(made.text, holds("type        T = double\n", "type        Index = uint64\n", "inout       y[n] : T\n",
                               "in          x[n] : Index\n",
                               "instantiate numbers::v1::scale<T, Index, layout<float, 2>, threads>\n"));
  EXPECT_THAT(made.left, Not(Contains(HasSubstr("chooses type T"))));
  EXPECT_THAT(made.left, Contains(HasSubstr("chooses type Rest")));
}

TEST_F(FromLauncher, NamesThatGrowWithEachLineAreNotFollowed) {
  std::string text = "#pragma kernel tune(x0 = 1, 2)\n";
  for (int i = 1; i < 64; ++i) text += fmt::format("#pragma kernel set(x{0} = x{1} + x{1})\n", i, i - 1);
  EXPECT_THAT(convert("bomb.cu", text + "__global__ void f(int n) {}").left,
              Contains(HasSubstr("its replacement is too long")));
}

TEST_F(FromLauncher, WhatTuneDoesNotTakeIsSaid) {
  EXPECT_THAT(convert("twice.cu", "#pragma kernel tune(n = 1, 2) block_size(n)\n__global__ void f(int n) {}").left,
              Contains(HasSubstr("tune does not accept this file")));
}

TEST_F(FromLauncher, UnknownNamesAndClausesAreLeft) {
  const auto left = convert("left.cu", R"(
#pragma kernel tune(a = 1, 2) block_size(a) grid_size(DEVICE_X + 1) surprise(2)
__global__ void f(float* x) {})")
                        .left;
  EXPECT_THAT(left,
              tells("'DEVICE_X' is not a parameter or size", "'surprise' is not translated", "buffer x has no size"));
}

std::string of(const std::string& operation, const std::string& operands) {
  return fmt::format(R"({{"operator": "{}", "operands": [{}]}})", operation, operands);
}

std::string parameter(const std::string& name) { return of("parameter", '"' + name + '"'); }

/// A captured launch whose kernel is \p kernel, and whose grid is \p grid.
std::string captured(const std::string& grid, const std::string& kernel = "", const std::string& restriction = "") {
  return fmt::format(R"({{"key": "twice", "config_space": {{"parameters": [
      {{"name": "threads", "values": [32, 64], "priors": [1.0, 1.0], "default": 64}},
      {{"name": "fast", "values": [true, false], "default": false}}], "restrictions": [{}]}},
    "kernel": {{{} "name": "twice", "compile_flags": ["-use_fast_math"], "block_size": [{}, 1, 1],
      "grid_size": [{}, 1, 1], "shared_memory": 0, "template_args": ["int", {}],
      "defines": {{"FAST": {}}}, "headers": []}},
    "arguments": [{{"type": "int", "kind": "scalar", "data": [4, 1, 0, 0]}},
      {{"type": "float", "kind": "scalar", "data": [0, 0, 192, 63]}},
      {{"type": "int*", "kind": "array", "file": "y.bin", "reference_file": "answer.bin"}},
      {{"type": "int const*", "kind": "array", "file": "x.bin"}}],
    "problem_size": [260, 1, 1]}})",
                     restriction,
                     kernel.empty()
                         ? R"("source": "template <class T, int n> __global__ void twice(int count, float f, T* y, )"
                           R"(const T* x) { if (FAST) y[0] = x[0]; }",)"
                         : kernel,
                     parameter("threads"), grid, parameter("threads"), parameter("fast"));
}

class Captured : public FromLauncher {
 protected:
  Captured() {
    write("x.bin", std::string(260 * 4, '\0'));
    write("y.bin", std::string(260 * 4, '\0'));
    write("answer.bin", std::string(260 * 4, '\0'));
  }
};

TEST_F(Captured, ALaunchBecomesAKernelFileWithItsInputs) {
  const std::string size = of("problem_size", "0"), threads = parameter("threads");
  const std::string rounded =
      of("+", of("/", size + ", " + threads) + ", " + of("!=", of("%", size + ", " + threads) + ", 0"));
  const Conversion made = convert("twice.json", captured(rounded));
  EXPECT_THAT(made.text,
              holds("#pragma tuner grid        ceil_div(problem_x, threads)\n",
                    "#pragma tuner fill        x = file \"x.bin\"\n", "#pragma tuner inout       y[260] : int\n",
                    "#pragma tuner scalar      f : float = 1.5\n", "#pragma tuner define      FAST = fast\n",
                    "#pragma tuner instantiate twice<int, threads>\n"));
  const KernelSpec spec = parsed(made);
  EXPECT_EQ(spec.default_configuration->text(), "fast=false threads=64");
  EXPECT_EQ(spec.find_size("count")->default_value, 260);
}

TEST_F(Captured, RestrictionsAreTranslated) {
  const std::string restriction =
      of("&&", of("!", parameter("fast")) + ", " +
                   of("<=", of("select", parameter("fast") + ", 32, " + parameter("threads")) + ", 64"));
  EXPECT_THAT(convert("twice.json", captured("1", "", restriction)).text,
              HasSubstr("constraint  c2: (fast ? threads : 32) <= 64"));
}

TEST_F(Captured, WhatHasNoTranslationIsLeft) {
  EXPECT_THAT(convert("twice.json", captured(of("device_attribute", "\"MAX\""))).left,
              Contains(HasSubstr("'device_attribute' has no translation")));
  write("source.cu", "__global__ void twice(int count, float f, int* y, const int* x) {}");
  EXPECT_THAT(convert("twice.json", captured("1", "\"file\": \"/elsewhere/source.cu\",")).text,
              HasSubstr("#pragma tuner source      \"source.cu\""));
}

TEST_F(Captured, WhatItLeftIsTheAnswer) {
  EXPECT_THAT(convert("twice.json", captured("1")).text,
              HasSubstr("#pragma tuner reference   file y = \"answer.bin\"\n"));
  EXPECT_THAT(convert("twice.json", captured("1")).left, ElementsAre());
}

TEST_F(Captured, DivisionsThatRoundInAnotherWayAreLeft) {
  EXPECT_THAT(convert("twice.json", captured("1", "", of("<", of("/", parameter("threads") + ", 2.0") + ", 3"))).left,
              Contains(HasSubstr("'/' of 2.0 rounds in another way")));
}

TEST_F(Captured, FilesThatAreMissingOrCompressedAreLeft) {
  std::string text = captured("1");
  text.replace(text.find("x.bin"), 5, "z.bin");
  text.replace(text.find("y.bin"), 5, "y.bin.gz");
  EXPECT_THAT(convert("twice.json", text).left, Contains(HasSubstr("z.bin', which cannot be read")));
  EXPECT_THAT(convert("twice.json", text).left, Contains(HasSubstr("compressed: gunzip it")));
}

TEST_F(Captured, AKernelInANamespaceIsFoundThere) {
  std::string text = captured("1");
  text.replace(text.find("\"name\": \"twice\""), 15, "\"name\": \"math::twice\"");
  text.replace(text.find("template <class T"), 8, "namespace math { template");
  text.replace(text.find("y[0] = x[0]; }"), 14, "y[0] = x[0]; } }");
  const Conversion made = convert("twice.json", text);
  EXPECT_THAT(made.text,
              holds("#pragma tuner kernel      twice\n", "#pragma tuner instantiate math::twice<int, threads>\n"));
  EXPECT_THAT(made.left, ElementsAre());
}

TEST_F(Captured, SaysWhatLacksWhichMember) {
  const auto with_change = [&](const std::string& what, const std::string& with) {
    std::string text = captured("1");
    text.replace(text.find(what), what.size(), with);
    return error("twice.json", text);
  };
  EXPECT_THAT(with_change("\"kernel\"", "\"kern\""),
              HasSubstr("twice.json: it has no \"kernel\": is this a complete launch"));
  EXPECT_THAT(with_change("\"block_size\"", "\"blocks\""), HasSubstr("twice.json: its kernel has no \"block_size\""));
  EXPECT_THAT(with_change("\"name\": \"threads\"", "\"name\": 3"), HasSubstr("\"name\" of a parameter is no text"));
  EXPECT_THAT(with_change("\"values\": [32, 64]", "\"values\": 32"),
              HasSubstr("\"values\" of parameter threads is no list"));
  EXPECT_THAT(with_change("\"kind\": \"array\", \"file\": \"x.bin\"", "\"kind\": \"array\""),
              HasSubstr("buffer x has no \"file\""));
  EXPECT_THAT(with_change("\"type\": \"int\", ", ""), HasSubstr("argument count has no \"type\""));
  EXPECT_THAT(with_change("\"arguments\"", "\"args\""), HasSubstr("it has no \"arguments\""));
  EXPECT_THAT(error("a.wisdom", "{\"tunable_parameters\": [\"a\"]}\n{\"time\": 1}\n"),
              HasSubstr("a.wisdom:2: the result has no list \"config\""));
  EXPECT_THAT(error("a.wisdom", "{\"tunable_parameters\": [\"a\"]}\n{\"config\": [1], \"time\": 1}\n"),
              HasSubstr("a.wisdom:2: the result has no list \"problem_size\""));
}

TEST_F(FromLauncher, CapturesThatAreBrokenAreErrors) {
  EXPECT_THAT(error("a.json", R"({"config_space": {}, "problem_size": [1]})"), HasSubstr("a.json: "));
  EXPECT_THAT(error("a.json", R"({"config_space": )"), HasSubstr("a.json: "));
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "[";
  EXPECT_THAT(error("a.json", R"({"config_space": )" + deep), HasSubstr("nested too deeply"));
}

TEST_F(FromLauncher, WisdomGivesTheParametersAndWhatWasBest) {
  const Conversion made = convert("add.wisdom", R"(
# measured long ago
{"tunable_parameters": ["threads", "items"], "version": "1.0", "objective": "time", "key": "add"}
{"config": [256, 1], "problem_size": [1000, 20], "time": 3.5, "environment": {"device_name": "K20"}}
{"config": [32, 2], "problem_size": [1000, 20], "time": 2.5, "environment": {"device_name": "K20"}}
{"config": [64, 1], "problem_size": [50, 1], "time": 1.5, "environment": {"device_name": "K20"}}
)");
  EXPECT_THAT(made.text,
              holds("parameter   threads = 32 64 256\n", "default     threads=32 items=2\n", "problem_y = 20\n"));
  EXPECT_THAT(made.left, tells("on K20, the best of 2 at 1000x20 took 2.5 ms: threads=32 items=2", "add its `source`"));
}

TEST_F(FromLauncher, WisdomThatIsDamagedIsAnError) {
  const std::string head = "{\"tunable_parameters\": [\"a\"]}\n";
  EXPECT_THAT(error("a.wisdom", head + head), HasSubstr("a.wisdom:2: a second line"));
  EXPECT_THAT(error("a.wisdom", head + "{\"config\": [null]}"), HasSubstr("a.wisdom:2: null cannot be the value"));
  EXPECT_THAT(error("a.wisdom", head + "{\"config\": " + std::string(100'000, '[')), HasSubstr("nested too deeply"));
}

TEST_F(FromLauncher, WisdomWithMissingValuesIsAnErrorWithItsLine) {
  EXPECT_THAT(error("add.wisdom", "{\"tunable_parameters\": [\"a\"]}\n{\"config\": [1, 2]}\n"),
              HasSubstr("add.wisdom:2: it has 2 values for 1 parameters"));
}

}  // namespace
}  // namespace tuner::convert
