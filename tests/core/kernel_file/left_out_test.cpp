// Directives that a kernel file may leave out.

#include <fstream>

#include <tests/support/temporary_folder.hpp>

#include <tests/core/kernel_texts.hpp>

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/compile_values.hpp>

namespace tuner {
namespace {

/// A kernel file that leaves out all that it can. \p more: further directives. \p text: its kernel.
std::string scale_with(const std::string& more, const std::string& text) {
  return "#pragma tuner kernel    scale\n#pragma tuner size n = 1000\n"
         "#pragma tuner parameter block_size_x = 32 64\n#pragma tuner parameter tile = 1 2\n"
         "#pragma tuner in x[n]\n#pragma tuner out y[n]\n#pragma tuner grid ceil_div(n, block_size_x * tile)\n" +
         more + "#pragma tuner default block_size_x=64 tile=1\n#pragma tuner reference default\n" + text;
}
constexpr const char* kScale =
    "extern \"C\" __global__ void __launch_bounds__(block_size_x) scale(double* __restrict__ y, const float* x, int n) "
    "{\n  for (int i = 0; i < tile; ++i) y[i] = x[i];\n}\n";
std::string scale(const std::string& more = "") { return scale_with(more, kScale); }

std::vector<std::string> macros_of(const KernelSpec& spec) {
  std::vector<std::string> all;
  for (const MacroSpec& one : spec.program.macros) all.push_back(one.name + '=' + one.value.text());
  return all;
}

TEST(LeftOut, IsTheFunctionThatHasTheKernelsNameWithItsArguments) {
  const KernelSpec spec = parse(scale());
  ASSERT_EQ(spec.launches.size(), 1u);
  EXPECT_EQ(spec.launches[0].instantiate, "scale");
  EXPECT_THAT(spec.launches[0].arguments, ElementsAre("y", "x", "n"));
}

TEST(LeftOut, IsTheFunctionOfAnIncludedFile) {
  const testing::TemporaryFolder folder;
  folder.write("scale.cuh", kScale);
  folder.write("k.cu", scale_with("", "#include \"scale.cuh\"\nint main() {}\n"));
  const KernelSpec spec = read_kernel_file(folder / "k.cu");
  EXPECT_EQ(spec.launches[0].instantiate, "scale");
  EXPECT_EQ(spec.launches[0].arguments, (std::vector<std::string>{"y", "x", "n"}));
  EXPECT_EQ(spec.find_buffer("y")->type, "double");
}

TEST(LeftOut, IsNoFunctionWhoseNameASizeHas) {
  EXPECT_THAT(error_of([] { parse(scale("#pragma tuner size scale = 3\n")); }),
              HasSubstr("the name of its function is also that of a size in line "));
  EXPECT_EQ(parse(scale("#pragma tuner scalar scale : float = 3\n")).launches[0].instantiate, "scale");
}

TEST(LeftOut, IsTheFunctionOfANamespace) {
  const KernelSpec spec =
      parse(scale_with("", "namespace a { namespace b {\n" + std::string(kScale).substr(11) + "}}\n"));
  EXPECT_EQ(spec.launches[0].instantiate, "a::b::scale");
}

TEST(LeftOut, IsWhatTheDefinitionTakesWhateverAPrototypeCallsIt) {
  const std::string prototype = "__global__ void scale(double*, const float* from, int);\n";
  EXPECT_THAT(parse(scale_with("", prototype + kScale)).launches[0].arguments, ElementsAre("y", "x", "n"));
  EXPECT_THAT(parse(scale_with("", kScale + prototype)).launches[0].arguments, ElementsAre("y", "x", "n"));
}

TEST(LeftOut, IsTheFunctionOfTheNamespaceThatIsNamed) {
  const std::string text =
      "namespace a { __global__ void scale(const float* x, double* y, int n) {} }\n"
      "namespace b { __global__ void scale(double* y, const float* x, int n) {} }\n";
  const auto arguments = [&](const std::string& name) {
    return parse(scale_with("#pragma tuner instantiate " + name + "\n", text)).launches[0].arguments;
  };
  EXPECT_THAT(arguments("a::scale"), ElementsAre("x", "y", "n"));
  EXPECT_THAT(arguments("b::scale"), ElementsAre("y", "x", "n"));
  const auto error = [](const std::string& file) { return error_of([&] { parse(file); }); };
  EXPECT_THAT(error(scale_with("#pragma tuner instantiate scale\n",
                               "namespace a {\n" + std::string(kScale).substr(11) + "}\n")),
              HasSubstr("k.cu:8:27: 'scale' is in a namespace: write 'a::scale'"));
  EXPECT_THAT(parse(scale_with("#pragma tuner instantiate scale\n",
                               "namespace a {\n" + std::string(kScale).substr(11) + "}\nusing a::scale;\n"))
                  .launches[0]
                  .arguments,
              ElementsAre("y", "x", "n"));
  EXPECT_THAT(error(scale_with("", text)),
              HasSubstr("the text has several functions of that name: choose one, as in 'instantiate a::scale'"));
  EXPECT_THAT(error(scale_with("#pragma tuner instantiate scale\n",
                               "#ifdef __OLD__\n__global__ void scale(const float* x, double* y, int n) {}\n#else\n" +
                                   std::string(kScale) + "#endif\n")),
              HasSubstr("has no 'arguments', and the text has several 'scale', with different arguments"));
}

TEST(LeftOut, IsADefaultThatTheTextDefinesAndItsErrorsNameAPlace) {
  const std::string line = "#pragma tuner default block_size_x=64 tile=1\n";
  const auto without_default = [&](const std::string& more) {
    std::string file = scale_with(more, "#define block_size_x 64\n#define tile 2\n" + std::string(kScale));
    return file.erase(file.find(line), line.size());
  };
  EXPECT_EQ(parse(without_default("")).default_configuration->text(), "block_size_x=64 tile=2");
  const std::string error = error_of([&] { parse(without_default("#pragma tuner constraint small: tile < 2\n")); });
  EXPECT_THAT(error, AllOf(StartsWith("k.cu:4:25: "), HasSubstr("the default violates 'small'")));
}

TEST(LeftOut, IsOneFunctionHoweverItsArgumentsAreSpelt) {
  const std::string text =
      "#ifdef OLD\n__global__ void scale(double * y, float const *__restrict__ x, int n) {}\n#else\n" +
      std::string(kScale) + "#endif\n";
  EXPECT_THAT(parse(scale_with("", text)).launches[0].arguments, ElementsAre("y", "x", "n"));
}

TEST(LeftOut, AreMacrosForConstantsOfTheTextThatHaveNoOtherMeaning) {
  const auto macros = [](const std::string& text, const std::string& name) {
    return macros_of(
        parse("#pragma tuner kernel scale\n#pragma tuner size n = 9\n#pragma tuner parameter TILE = 32 64\n"
              "#pragma tuner in x[n] : float\n#pragma tuner out y[n] : float\n#pragma tuner grid n\n"
              "#pragma tuner block TILE\n#pragma tuner arguments x, y, n\n#pragma tuner instantiate " +
              name + "\n#pragma tuner default TILE=32\n#pragma tuner reference default\n" + text));
  };
  const std::string kernel = "template <typename T> __global__ void scale(const T* x, T* y, int n) { y[TILE] = *x; }\n";
  for (const char* const constant :
       {"namespace { static constexpr int TILE = 128; }\n", "const int TILE{128};\n", "#define TILE 128\n"})
    EXPECT_THAT(macros(constant + kernel, "scale<float>"), ElementsAre("TILE=TILE")) << constant;
  const std::string other = "template <int TILE> __global__ void scale(const float* x, float* y, int n) {}\n";
  EXPECT_THAT(macros("__device__ void f() { const int TILE = 1; }\n" + other, "scale<TILE>"), ElementsAre());
  EXPECT_THAT(macros(kernel, "scale<float>"), ElementsAre());
  const std::string head = "template <typename T> __global__ void scale(const T* x, T* y, int n) ";
  for (const std::string& text : {
           "__device__ int f() { const int TILE = 3; return TILE; }\n" + head + "{ *y = *x; }\n",
           "const int TILE = 3;\n__device__ int f() { const int TILE = 4; return TILE; }\n" + head + "{ *y = *x; }\n",
           "struct Config { static constexpr int TILE = 8; };\n" + head + "{ y[Config::TILE] = *x; }\n",
           "namespace a { constexpr int TILE = 8; }\n" + head + "{ y[a::TILE] = *x; }\n",
           "const int TILE = 8;\n" + head + "{ y[T().TILE] = *x; }\n",
       })
    EXPECT_THAT(macros(text, "scale<float>"), ElementsAre()) << text;
}

TEST(LeftOut, IsTheBlockOfKernelTunersNames) {
  EXPECT_EQ(parse(scale()).launches[0].block[0].text(), "block_size_x");
  std::string text = scale("#pragma tuner parameter block_size_y = 1 2\n");
  text.replace(text.find("default block"), 13, "default block_size_y=1 block");
  const LaunchSpec launch = parse(text).launches[0];
  EXPECT_EQ(launch.block[0].text() + ", " + launch.block[1].text() + ", " + launch.block[2].text(),
            "block_size_x, block_size_y, 1");
  EXPECT_EQ(parse(scale("#pragma tuner block 32\n")).launches[0].block[0].text(), "32");
}

TEST(LeftOut, AreTheTypesOfItsPointers) {
  const KernelSpec spec = parse(scale());
  EXPECT_EQ(spec.find_buffer("x")->type, "float");
  EXPECT_EQ(spec.find_buffer("y")->type, "double");
}

TEST(LeftOut, AreVectorsAndNumbersByValue) {
  const KernelSpec spec = parse(
      scale_with("#pragma tuner scalar alpha = 2\n",
                 "__global__ void scale(float4 *y, unsigned char const *x, long long int n, const double alpha) {}\n"));
  const Bindings names = bindings(spec, complete(spec, {{{"n", 10}}, {}}), {});
  EXPECT_EQ(spec.find_buffer("y")->components, 4);
  EXPECT_EQ(spec.find_buffer("y")->count.evaluate_integer(names), 40);
  EXPECT_EQ(spec.find_buffer("x")->type, "uint8");
  EXPECT_EQ(spec.scalars[0].type, "double");
}

TEST(LeftOut, AreTheTypesOfConstantMemory) {
  const auto type_of = [](const std::string& declaration, const std::string& name = "weights") {
    const KernelSpec spec = parse(scale_with("#pragma tuner constant " + name + "[4]\n", declaration + '\n' + kScale));
    const BufferSpec& constant = *spec.find_buffer("weights");
    return constant.record ? "struct" : constant.type + " x " + std::to_string(constant.components);
  };
  EXPECT_EQ(type_of("__constant__ float weights[4];"), "float x 1");
  EXPECT_EQ(type_of("#define N 4\nextern \"C\" static __device__ __constant__ __align__(16) const float3 weights[N];"),
            "float x 3");
  EXPECT_EQ(type_of("typedef unsigned char byte;\n__constant__ byte bias[2], weights[4] = {1};"), "uint8 x 1");
  EXPECT_EQ(type_of("struct W { int at; double by; };\n__constant__ W weights[4];"), "struct");
  EXPECT_EQ(type_of("__constant__ int weights[4];\nnamespace n { __constant__ half weights[4]; }", "n::weights"),
            "half x 1");
  for (const char* const unknown :
       {"__constant__ T weights[4];",
        "#ifdef __CUDA_ARCH__\n__constant__ int weights[4];\n#else\n__constant__ float weights[4];\n#endif",
        "__device__ void f(int* a, int weights[4]) {}"})
    EXPECT_THAT(error_of([&] { type_of(unknown); }), HasSubstr("an element type is needed")) << unknown;
  EXPECT_THAT(error_of([&] { type_of("__device__ int w;", "__device__"); }), HasSubstr("an element type is needed"));
}

TEST(LeftOut, AreStructsAndVectorsByValue) {
  const KernelSpec spec =
      parse(scale_with("#pragma tuner scalar by = { 1, { 2, 3 }, true }\n#pragma tuner scalar at = { 4, 5 }\n",
                       "struct By { float a; int b[2]; bool c; };\n"
                       "__global__ void scale(double* y, const float* x, int n, By by, double2 at) {}\n"));
  EXPECT_THAT(spec.scalars[0].values, ElementsAre(1, 2, 3, 1));
  EXPECT_EQ(spec.scalars[0].record->bytes, 16u);
  EXPECT_EQ(spec.scalars[1].record->bytes, 16u);
  EXPECT_EQ(spec.scalars[1].record->fields[1].offset, 8u);
}

TEST(LeftOut, AreTypesByTheirOtherNames) {
  const auto type_of_y = [](const std::string& text, const char* name = "real") {
    return parse(scale_with("", text + "__global__ void scale(" + name + "* y, const float* x, int n) {}\n"))
        .find_buffer("y")
        ->type;
  };
  EXPECT_EQ(type_of_y("typedef double real;\n"), "double");
  EXPECT_EQ(type_of_y("typedef  unsigned\tlong long  int real ;\n"), "uint64");
  EXPECT_EQ(type_of_y("extern \"C\" {\nnamespace a::b\n{\nusing real = double;  // of real numbers\n}\n}\n"
                      "using namespace a::b;\n"),
            "double");
  EXPECT_EQ(type_of_y("namespace a { typedef double real; }\n", "a::real"), "double");
  EXPECT_EQ(type_of_y("#include <stdint.h>\n", "std::uint32_t"), "unsigned");
  EXPECT_EQ(type_of_y("#define WIDE double\r\n# define real WIDE\r\nusing realistic = int;\n"), "double");
  EXPECT_EQ(type_of_y("#include <real>\ntypedef double real;\nreal zero = 0;\n"), "double");
  for (const char* const text :
       {"#ifdef __GNUC__\ntypedef double real;\n#else\ntypedef float real;\n#endif\n", "#define real real\n",
        "#define real other\n#define other real\n", "#if 0\ntypedef double real;\n#endif\n",
        "struct Foo { using real = double; };\n", "extern \"C\" void f() {\ntypedef double real;\n}\n",
        "typedef float* real;\n", "#define real(x) float\n", "template <typename real> struct S;\n"})
    EXPECT_THAT(error_of([&] { type_of_y(text); }), HasSubstr("an element type is needed")) << text;
}

TEST(LeftOut, IsTheTypeOfPointersWhichAreNumbersOf64Bits) {
  EXPECT_EQ(parse(scale_with("", "__global__ void scale(float* const* y, const float* x, int n) {}\n"))
                .find_buffer("y")
                ->type,
            "uint64");
}

TEST(LeftOut, AreTypesThatATemplateIsGiven) {
  const std::string text =
      "using real = float;\ntemplate <int n, typename real>\n__global__ void scale(real* y, const float* x, int n) "
      "{}\n";
  const auto type_of_y = [&](const std::string& lines) {
    return parse(scale_with(lines, text)).find_buffer("y")->type;
  };
  EXPECT_EQ(type_of_y("#pragma tuner instantiate scale<4, double>\n"), "double");
  EXPECT_THAT(
      error_of([&] { type_of_y("#pragma tuner parameter R = float half\n#pragma tuner instantiate scale<4, R>\n"); }),
      HasSubstr("'real' is a template parameter of 'scale': a line 'type real = float' before it"));
}

TEST(LeftOut, AreTypesOfTheBranchThatIsTaken) {
  const auto type_of_y = [](const std::string& text) {
    return parse(scale_with("", text + "__global__ void scale(real* y, const float* x, int n) {}\n"))
        .find_buffer("y")
        ->type;
  };
  const std::string branches = "typedef double real;\n#else\ntypedef float real;\n#endif\n";
  EXPECT_EQ(type_of_y("#ifdef WIDE\n" + branches), "float");
  EXPECT_EQ(type_of_y("#define WIDE\n#ifdef WIDE\n" + branches), "double");
  EXPECT_EQ(type_of_y("#define BITS 0\n#if BITS * 2u >= 64\n" + branches), "float");
  EXPECT_EQ(type_of_y("#define BITS (1 << 6)\n#if defined BITS && !defined(NARROW)\n#if BITS == 64\n" + branches +
                      "#endif\n"),
            "double");
  EXPECT_EQ(type_of_y("#if 0\ntypedef half real;\n#elif 1\n" + branches), "double");
  EXPECT_EQ(type_of_y("#if 010 == 8 && 0x1Fu == 31\n" + branches), "double");
  EXPECT_EQ(type_of_y("#ifndef real\n#define real float\n#endif\n"), "float");
  EXPECT_EQ(type_of_y("#define real \\\n float\n"), "float");
  for (const char* const asked :
       {"__GNUC__ == 12", "defined(__GNUC__) && !defined(__clang__)", "INT_MAX > 40000", "'a' == 97"})
    EXPECT_THAT(error_of([&] { (void)type_of_y("#if " + std::string(asked) + "\n" + branches); }),
                HasSubstr("that only a compiler decides"))
        << asked;
}

TEST(LeftOut, AreTheMacrosThatTheTextNames) {
  EXPECT_THAT(macros_of(parse(scale())), ElementsAre("block_size_x=block_size_x", "tile=tile"));
  const std::string text = "__global__ void scale(double* y, const float* x, int n, int tile) {}  // block_size_x\n";
  EXPECT_THAT(macros_of(parse(scale_with("", text))), IsEmpty()) << "an argument, and a word of a comment";
  EXPECT_THAT(macros_of(parse(scale("#pragma tuner define tile\n"))),
              ElementsAre("tile=tile", "block_size_x=block_size_x"));
}

TEST(LeftOut, AreNoMacrosWhereTheTextDeclaresAVariableOfTheirName) {
  const auto is_macro = [](const std::string& code) {
    std::string file = scale();
    const KernelSpec spec = parse(file.insert(file.find("__global__"), code));
    const auto named = [](const MacroSpec& one) { return one.name == "block_size_x"; };
    return std::any_of(spec.program.macros.begin(), spec.program.macros.end(), named);
  };
  EXPECT_TRUE(is_macro("__device__ int twice() { return block_size_x * 2; }\n"));
  EXPECT_TRUE(is_macro("\n#define block_size_x 64\n__device__ int twice(int block_size_x);\n"));
  EXPECT_FALSE(is_macro("__device__ int twice() { auto block_size_x = 3; return block_size_x; }\n"));
  EXPECT_FALSE(is_macro("void launch(dim3 block_size_x);\n"));
}

TEST(LeftOut, AreNoMacrosWhereOnlyAHeaderDeclaresTheirName) {
  const testing::TemporaryFolder folder;
  const auto macros = [&](const std::string& header) {
    std::ofstream(folder / "config.h") << header;
    const std::string text = "#include \"config.h\"\n__global__ void scale(double* y, const float* x, int n) {}\n";
    std::ofstream(folder / "k.cu") << scale_with("", text);
    return macros_of(read_kernel_file((folder / "k.cu").string()));
  };
  EXPECT_THAT(macros("struct S { int tile; };\ninline int f(S s) { return s.tile; }\n"), IsEmpty());
  EXPECT_THAT(macros("__device__ int f() { return 2 * tile; }\n"), ElementsAre("tile=tile"));
  EXPECT_THAT(macros("const int tile = 4;\n"), ElementsAre("tile=tile"));
}

TEST(LeftOut, AreMacrosOfATemplateThatTheTextDefines) {
  const auto macros = [](const std::string& code) {
    std::string file = scale("#pragma tuner instantiate scale\n");
    const KernelSpec spec = parse(file.insert(file.find("extern"), code));
    return spec.program.macros.empty() ? std::string() : spec.program.macros.front().name;
  };
  EXPECT_EQ(macros("#define tile 4\n__device__ int twice() { return tile * 2; }\n"), "tile");
  EXPECT_EQ(macros("__device__ int twice(int tile) { return tile * 2; }\n"), "");
}

TEST(LeftOut, AreNoMacrosWhereAKernelIsInstantiated) {
  EXPECT_THAT(macros_of(parse(scale("#pragma tuner instantiate scale\n"))), IsEmpty());
}

TEST(LeftOut, IsWhatALetIsCalled) {
  const KernelSpec spec =
      parse(scale_with("#pragma tuner let items = 2 * tile\n",
                       "__global__ void scale(double* y, const float* x, int n, long long items) {}\n"));
  const ComputedArgument* const items = spec.launches[0].find_computed("items");
  ASSERT_NE(items, nullptr);
  EXPECT_EQ(items->type, "int64");
}

TEST(LeftOut, IsSaidWhereTheTextDoesNot) {
  const auto error = [](const std::string& text) { return error_of([&] { parse(text); }); };
  EXPECT_THAT(error(scale_with("", "__global__ void other(double* y) {}\n")),
              HasSubstr("k.cu:7:15: launch 'scale' has no 'instantiate', and the text has no __global__ function of "
                        "that name"));
  EXPECT_THAT(
      error(scale_with("", "template <int tile> __global__ void scale(double* y, const float* x) {}\n")),
      HasSubstr(
          "has no 'instantiate', and 'scale' is a template: give its arguments, as in 'instantiate scale<tile>'"));
  EXPECT_THAT(error(scale_with("", "__global__ void scale(double* y, const float* x, int m) {}\n")),
              HasSubstr("has no 'arguments', and 'm', which 'scale' takes, is not a buffer, size, scalar, "
                        "texture, tensor map or parameter"));
  EXPECT_THAT(
      error(scale_with("", "__global__ void scale(double* y, const __grid_constant__ CUtensorMap from) {}\n")),
      HasSubstr("has no 'arguments', and 'scale' takes the tensor map 'from': declare it, as in 'tensormap from = "
                "BUFFER[m, k] box 64, 64'"));
  EXPECT_THAT(error(scale_with("", "__global__ void scale(double*, const float* x) {}\n")),
              HasSubstr("has no 'arguments', and 'scale' takes an argument without a name"));
  EXPECT_THAT(error(scale_with("", "struct P;\n__global__ void scale(P* y, const float* x, int n) {}\n")),
              HasSubstr("k.cu:6:19: an element type is needed"));
}

}  // namespace
}  // namespace tuner
