#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/compile_values.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>

#include <tuner/core/kernel_file/kernel_file.hpp>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

TEST(UnusedParameters, AreThoseThatChangeNothingOfWhatRuns) {
  EXPECT_THAT(unused_parameters(parse(kVectorAdd)), ElementsAre());
  const std::string text = edited(15, "instantiate add<T, items>");
  EXPECT_THAT(unused_parameters(parse(text)), ElementsAre("load"))
      << "'block' is the launch's, 'load' a constraint's only";
}

TEST(UnusedParameters, AreTemplateArgumentsThatTheKernelNeverNames) {
  const auto unused = [](const std::string& kernel) {
    return unused_parameters(
        parse("#pragma tuner kernel k\n#pragma tuner size n\n"
              "#pragma tuner parameter block = 32 64\n#pragma tuner parameter unroll = 1 2 4\n"
              "#pragma tuner out y[n] : float\n#pragma tuner grid n\n#pragma tuner block block\n"
              "#pragma tuner arguments y, n\n#pragma tuner instantiate k<block, unroll>\n" +
              kernel));
  };
  const std::string list = "template <int block, int unroll> __global__ void k(float* y, int n) ";
  EXPECT_THAT(unused(list + "{ if (n) { y[block] = 0; } /* unroll */ }"), ElementsAre("unroll"));
  EXPECT_THAT(unused(list + "{ y[0] = 0; }\nint unroll;"), ElementsAre("unroll")) << "'block' is the launch's";
  EXPECT_THAT(unused(list + "{ y[unroll] = 0; }"), ElementsAre());
  EXPECT_THAT(unused("template <int b, int u, int all = b * u> __global__ void k(float* y, int n) { y[all] = 0; }"),
              ElementsAre());
  EXPECT_THAT(unused("#define STEP unroll\n" + list + "{ y[STEP] = 0; }"), ElementsAre());
  EXPECT_THAT(unused(list + "{\n#include \"body.inc\"\n}"), ElementsAre());
  EXPECT_THAT(unused(list + ";"), ElementsAre()) << "its body is elsewhere";
}

TEST(Types, GiveEachCompileItsMacros) {
  const KernelSpec spec = parse(edited(0, "choice operation = sum min"));
  EXPECT_THAT(defines(spec, complete(spec, {{}, {{"operation", "min"}}})),
              ElementsAre("TUNER=1", "TUNER_T_float=1", "TUNER_operation_min=1"));
}

std::vector<std::string> texts(const std::vector<CompileOption>& options) {
  std::vector<std::string> result;
  for (const CompileOption& option : options) result.push_back(option.text);
  return result;
}

TEST(CompileOptions, HoldTheValuesOfTheConfigurationAndComeWhereTheirConditionHolds) {
  const KernelSpec spec =
      parse(edited(0,
                   "compile --maxrregcount={max(32, tile)} --fmad={items == 1} when items < 4 // both\n"
                   "compile -use_fast_math -Xptxas=-O{items} when T == float\n"
                   "compile --x={load}.{T}"));
  const ProblemSize size = complete(spec, {});
  const auto given = [&](const char* configuration) {
    return texts(compile_options(spec, size, {}, Configuration::parse(configuration)));
  };
  EXPECT_THAT(given("block=64 items=1 load=plain"),
              ElementsAre("--maxrregcount=64", "--fmad=true", "-use_fast_math", "-Xptxas=-O1", "--x=plain.float"));
  EXPECT_THAT(given("block=64 items=4 load=streaming"),
              ElementsAre("-use_fast_math", "-Xptxas=-O4", "--x=streaming.float"));
  EXPECT_THAT(texts(compile_options(spec, complete(spec, {{}, {{"T", "int"}}}), {}, configuration(64, 4))),
              ElementsAre("--x=plain.int"));
}

TEST(CompileOptions, KnowTheirPlace) {
  const KernelSpec spec = parse(edited(0, "compile -G --fmad=false"));
  const auto options = compile_options(spec, complete(spec, {}), {}, *spec.default_configuration);
  ASSERT_EQ(options.size(), 2u);
  EXPECT_EQ(options[1].origin.text(), "k.cu:20:26");
}

TEST(CompileOptions, OfTheReferenceNameNoParameterAndLeaveItExact) {
  const KernelSpec spec =
      parse(edited(0,
                   "compile -default-device --x={n}\n"
                   "compile --y={items}\n"
                   "compile --z when items == 1\n"
                   "compile -use_fast_math --ftz=true --prec-div=false -prec-sqrt=false --fmad=false -G\n"
                   "compile --diag-suppress=177 when T == double"));
  EXPECT_THAT(texts(reference_options(spec, complete(spec, {}), {})), ElementsAre("-default-device", "--x=1000"));
  EXPECT_THAT(texts(reference_options(spec, complete(spec, {{}, {{"T", "double"}}}), {})),
              ElementsAre("-default-device", "--x=1000", "--diag-suppress=177"));
}

TEST(CompileOptions, OfADefaultConfigurationThatIsTheReferenceLeaveItExact) {
  const KernelSpec spec = parse(edited(16,
                                       "reference default\n"
                                       "compile --y={block}\n"
                                       "compile --z when items == 1\n"
                                       "compile --never when items == 2\n"
                                       "compile -use_fast_math"));
  EXPECT_THAT(texts(reference_options(spec, complete(spec, {}), {})), ElementsAre("--y=64", "--z"));
}

TEST(CompileOptions, WithoutAnAnswerMakeTheConfigurationInvalid) {
  const KernelSpec spec = parse(edited(0, "compile --maxrregcount={64 / (items - 1)} when block / (items - 2) < 99"));
  const ProblemSize size = complete(spec, {});
  EXPECT_THAT(*why_invalid(spec, size, {}, configuration(64)), HasSubstr("division by zero"));
  const EnumeratedSpace space = enumerate(spec, size, {});
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i)
    EXPECT_EQ(space.configuration(i).find("items")->integer(), 4) << space.configuration(i).text();
  EXPECT_EQ(space.size(), 6u);
}

TEST(FunctionNames, WithoutAValueMakeTheConfigurationInvalid) {
  const KernelSpec spec = parse(edited(15, "instantiate add<T, {64 / (items - 1)}, items>"));
  const ProblemSize size = complete(spec, {});
  EXPECT_THAT(*why_invalid(spec, size, {}, configuration(64)), HasSubstr("division by zero"));
  const EnumeratedSpace space = enumerate(spec, size, {});
  EXPECT_FALSE(space.empty());
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i)
    EXPECT_NE(space.configuration(i).find("items")->integer(), 1) << space.configuration(i).text();
}

TEST(CompileOptions, UseTheParametersTheyName) {
  const std::string text = edited(15, "instantiate add<T>");
  EXPECT_THAT(unused_parameters(parse(text)), ElementsAre("load"));
  EXPECT_THAT(unused_parameters(parse(text + "#pragma tuner compile -G when load == plain\n")), ElementsAre());
}

TEST(Macros, HaveTheValuesOfTheConfigurationAndTheProblem) {
  const KernelSpec spec = parse(with_line(17,
                                          "#pragma tuner define block load T tile n\n"
                                          "#pragma tuner define SIGNED = 1 - items\n"
                                          "#pragma tuner define IS_FLOAT = T == float\n"
                                          "#pragma tuner define SMS = sm_count\n"));
  DeviceLimits limits;
  limits.sm_count = 7;
  EXPECT_THAT(
      macros(spec, complete(spec, {{}, {{"T", "int"}}}), limits, configuration(64, 2)),
      ElementsAre("block=64", "load=plain", "T=int", "tile=128", "n=1000", "SIGNED=(-1)", "IS_FLOAT=false", "SMS=7"));
  EXPECT_THAT(
      reference_macros(spec, complete(spec, {}), limits),
      ElementsAre("block=64", "load=plain", "T=float", "tile=64", "n=1000", "SIGNED=0", "IS_FLOAT=true", "SMS=7"))
      << "of the default configuration";
}

TEST(Macros, WithoutAValueMakeTheConfigurationInvalidButNotTheReference) {
  const KernelSpec spec = parse(edited(0, "define PART = 4 / (items - 1)"));
  const ProblemSize size = complete(spec, {});
  EXPECT_THAT(*why_invalid(spec, size, {}, configuration(64)), HasSubstr("division by zero"));
  const EnumeratedSpace space = enumerate(spec, size, {});
  EXPECT_EQ(space.size(), 9u);
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i)
    EXPECT_FALSE(why_invalid(spec, size, {}, space.configuration(i))) << space.configuration(i).text();
  EXPECT_THAT(reference_macros(spec, size, {}), ElementsAre());
}

TEST(Macros, UseTheirParametersWhereTheTextNamesThem) {
  EXPECT_THAT(unused_parameters(parse(edited(15, "instantiate add<T>") +
                                      "#pragma tuner define items\n#pragma tuner define LOAD = load == plain\n"
                                      "// LOAD\nconst char* text = \"LOAD\";\n")),
              ElementsAre("load"));
  EXPECT_THAT(unused_parameters(parse(edited(15, "instantiate add<T>") +
                                      "#pragma tuner define LOAD = load == plain\n#if LOAD\n#endif\n")),
              ElementsAre());
}

TEST(Macros, MayHaveADefaultInTheText) {
  for (const char* text : {"#ifndef TILE\n#define TILE 32\n#endif\n", "#if !defined(TILE)\n#define TILE 32\n#endif\n",
                           "// #define TILE 32\n", "#ifdef TILE\n#else\n# define TILE 32\n#endif\n"})
    EXPECT_NO_THROW(parse(edited(0, "define TILE = tile") + text)) << text;
}

TEST(Macros, MayHaveADefaultWhereAnotherOfThemIsMissing) {
  EXPECT_NO_THROW(
      parse(edited(0, "define TILE = tile\ndefine tuned = 1") +
            "#ifndef tuned\n#define OTHER\n#if X > 1\n  #define TILE 32\n#endif\n#define TILE 16\n#endif\n"));
}

TEST(Macros, TakeThePlaceOfDefinitionsInTheText) {
  for (const char* text : {"#ifdef TILE\n#endif\n#define TILE 4\n", "#ifndef TILE\n#else\n#define TILE 4\n#endif\n",
                           "#if X\n#define TILE 4\n#else\n  # define TILE (3 + 1)\n#endif\n"}) {
    const KernelSpec spec = parse(edited(0, "define TILE = tile") + text);
    EXPECT_THAT(program_text(spec), Not(HasSubstr("define TILE 4"))) << text;
    EXPECT_EQ(program_text(spec).size(), spec.program.text.size()) << "places stay";
  }
}

TEST(Macros, AreNotHiddenByTheText) {
  for (const char* text : {"#if defined(TILE)\n#undef TILE\n#endif\n", "#undef TILE\n", "#define TILE(x) x\n"})
    EXPECT_THAT(error_of([&] { parse(edited(0, "define TILE = tile") + text); }), HasSubstr("undefines 'TILE'"))
        << text;
  EXPECT_EQ(error_of([&] { parse(edited(0, "define TILE = tile") + "#ifndef TILE\n#undef TILE\n#endif\n"); }),
            "no error");
}

}  // namespace
}  // namespace tuner
