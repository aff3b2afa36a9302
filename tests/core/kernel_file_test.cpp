#include <tuner/core/kernel_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include <tuner/core/sub_space.hpp>

#include <tests/error_of.hpp>
#include <tests/temporary_folder.hpp>

#include "kernel_texts.hpp"

namespace tuner {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::kVectorAdd;
using ::testing::Not;
using testing::parse;
using ::testing::StartsWith;
using testing::with_line;

TEST(KernelFile, DescribesAKernel) {
  const KernelSpec spec = parse(kVectorAdd);
  EXPECT_EQ(spec.name, "add");
  EXPECT_EQ(spec.file, "k.cu");
  EXPECT_EQ(spec.source, kVectorAdd);
  ASSERT_EQ(spec.choices.size(), 1u);
  EXPECT_TRUE(spec.choices[0].is_type);
  EXPECT_THAT(spec.choices[0].values, ElementsAre("float", "double", "int"));
  EXPECT_EQ(spec.find_size("n")->type, ElementType::int64);
  EXPECT_EQ(spec.find_size("n")->default_value, 1000);
  EXPECT_EQ(spec.space.parameters().size(), 3u);
  EXPECT_EQ(spec.space.constraints()[0].name, "streams");
  EXPECT_EQ(spec.find_buffer("b")->role, BufferRole::in);
  EXPECT_EQ(spec.find_buffer("c")->type, "T");
  EXPECT_EQ(spec.find_scalar("alpha")->value, 2.5);
  ASSERT_EQ(spec.launches.size(), 1u);
  EXPECT_EQ(spec.launches[0].name, "add");
  EXPECT_THAT(spec.launches[0].arguments, ElementsAre("a", "b", "c", "alpha", "n"));
  EXPECT_EQ(spec.verify[0].sizes.at("n"), 33);
  EXPECT_EQ(spec.verify[0].offset, 1);
  EXPECT_EQ(spec.default_configuration->text(), "block=64 items=1 load=plain");
}

TEST(KernelFile, GivesAReferenceOneThreadForEachOutputElement) {
  const KernelSpec spec = parse(kVectorAdd);
  const ProblemSize size = complete(spec, {{{"n", 1000}}, {}});
  const auto reference = resolve_reference(spec, size, {});
  ASSERT_EQ(reference.size(), 1u);
  EXPECT_EQ(reference[0].expression, "addReference<float>");
  EXPECT_EQ(reference[0].shape, (LaunchShape{{4, 1, 1}, {256, 1, 1}, 0}));
  EXPECT_EQ(reference[0].spec->arguments, spec.launches[0].arguments);
  EXPECT_EQ(resolve_reference(spec, complete(spec, {{{"n", 0}}, {}}), {})[0].shape.grid[0], 1);
}

TEST(ReferenceDefault, IsTheKernelInItsDefaultConfiguration) {
  const KernelSpec spec = parse(with_line(16, "#pragma tuner reference default"));
  EXPECT_EQ(spec.reference_kind(), ReferenceKind::default_configuration);
  EXPECT_EQ(weaker_reference(spec), "default configuration");
  EXPECT_EQ(weaker_reference(parse(kVectorAdd)), "") << "a kernel of its own";
  const ProblemSize size = complete(spec, {});
  const auto reference = resolve_reference(spec, size, {});
  ASSERT_EQ(reference.size(), 1u);
  EXPECT_EQ(reference[0].expression, "add<float, 64, 1, Load::plain>");
  EXPECT_EQ(reference[0].shape, (LaunchShape{{16, 1, 1}, {64, 1, 1}, 0}));
  const KernelSpec part = sub_space(spec, {{"block", 32}}, {});
  EXPECT_EQ(resolve_reference(part, size, {})[0].expression, "add<float, 64, 1, Load::plain>") << "of the whole space";
}

TEST(AnswerFiles, StandForAReferenceAndBelongToTheKernel) {
  const KernelSpec spec = parse(with_line(16,
                                          "#pragma tuner reference file c = \"c.npy\"\n"
                                          "#pragma tuner fill a = iota\n#pragma tuner fill b = constant 2"));
  EXPECT_EQ(spec.reference_kind(), ReferenceKind::file);
  EXPECT_FALSE(spec.has_reference_program());
  EXPECT_EQ(weaker_reference(spec), "answer in a file");
  ASSERT_EQ(data_files(spec).size(), 1u);
  EXPECT_EQ(data_files(spec)[0], "c.npy");
  const KernelSpec function = parse(with_line(16, "#pragma tuner reference file"));
  EXPECT_EQ(function.reference_kind(), ReferenceKind::kernel) << "of that name";
}

TEST(ReferenceDefault, SaysWhyItCannotRun) {
  const KernelSpec spec = parse(with_line(16,
                                          "#pragma tuner constraint even: n % block == 0\n"
                                          "#pragma tuner reference default"));
  EXPECT_THAT(
      error_of([&] { resolve_reference(spec, complete(spec, {}), {}); }),
      HasSubstr("k.cu: the default configuration, which is the reference, cannot run for T=float n=1000: even"));
}

TEST(KernelFile, TakesDirectivesHoweverTheyAreSpaced) {
  const KernelSpec spec = parse(
      with_line(5, "\t#  pragma   tuner\tparameter items=1 2\\\n  4 // elements a thread \\\n still the comment"));
  EXPECT_EQ(spec.space.find("items")->values.size(), 3u);
}

TEST(KernelFile, TakesWindowsLineEndsAndAByteOrderMark) {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : std::string(kVectorAdd)) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const KernelSpec spec = parse(text);
  EXPECT_EQ(spec.launches[0].instantiate, "add<T, block, items, Load::load>");
  EXPECT_THAT(spec.source, StartsWith("#pragma")) << "compilers take no byte order mark in the middle of a program";
}

TEST(KernelFile, OverlooksWhatLooksLikeADirectiveInCommentsAndLiterals) {
  const std::string text = std::string(kVectorAdd) +
                           "/* \n#pragma tuner nonsense\n*/\n"
                           "// \\\n#pragma tuner nonsense\n"
                           "const char* a = \"\\\n#pragma tuner nonsense\";\n"
                           "const char* b = R\"x(\n#pragma tuner nonsense\n)\" )x\";\n"
                           "int c = 1'000; char d = '\"';\n"
                           "#error don't\n"
                           "x #pragma tuner nonsense\n"
                           "#pragma tunerx nonsense\n"
                           "#pragma once\n"
                           "/* a */ #pragma tuner flops n // counted\n";
  EXPECT_EQ(parse(text).flops->text(), "n");
}

TEST(KernelFile, TakesTheCommentBehindAnExpressionThatCannotBeItsRest) {
  for (const char* const comment : {"// each thread", "// of a tile; 64 of them", "//", "// = 3", "// nothing_of_here"})
    EXPECT_EQ(parse(with_line(18, std::string("#pragma tuner bytes 3 * n   ") + comment)).bytes->text(), "3 * n");
}

TEST(KernelFile, TakesAnyCommentWhereNoExpressionStands) {
  EXPECT_EQ(parse(with_line(4, "#pragma tuner parameter block = 32 64 // 128 is too much"))
                .space.find("block")
                ->values.size(),
            2u);
}

TEST(KernelFile, ReadsSizesAsTheCommandLineDoes) {
  const auto size_of = [](const std::string& text) {
    return *parse(with_line(3, "#pragma tuner size n : int64 = " + text)).sizes[0].default_value;
  };
  EXPECT_EQ(size_of("100k"), 102400);
  EXPECT_EQ(size_of("1.5M"), 1572864);
  EXPECT_EQ(size_of("1e6"), 1000000);
  EXPECT_EQ(size_of("2^24  // elements"), 16777216);
  EXPECT_EQ(size_of("2**10"), 1024);
  EXPECT_EQ(parse(with_line(17, "#pragma tuner verify n=4k offset=1")).verify[0].sizes.at("n"), 4096);
}

TEST(KernelFile, TakesSizesOfSeveralDefaultsInOneLine) {
  const KernelSpec spec = parse(with_line(3, "#pragma tuner size m n = 4k, k : int64 = 16M, o"));
  ASSERT_EQ(spec.sizes.size(), 4u);
  EXPECT_EQ(spec.sizes[0].default_value, 4096);
  EXPECT_EQ(spec.sizes[1].default_value, 4096);
  EXPECT_EQ(spec.sizes[2].type, ElementType::int64);
  EXPECT_EQ(spec.sizes[2].default_value, 16777216);
  EXPECT_EQ(spec.sizes[3].type, ElementType::int32);
  EXPECT_FALSE(spec.sizes[3].default_value);
}

TEST(KernelFile, GivesSeveralParametersTheSameValues) {
  const KernelSpec spec = parse(
      "#pragma tuner kernel k\n#pragma tuner out c[1] : int\n#pragma tuner grid 1\n#pragma tuner block 1\n"
      "#pragma tuner arguments c\n#pragma tuner instantiate k<p, q>\n#pragma tuner parameter p q = 1 2..4\n");
  ASSERT_EQ(spec.space.parameters().size(), 2u);
  EXPECT_EQ(spec.space.parameters()[0].name, "p");
  EXPECT_EQ(spec.space.parameters()[1].name, "q");
  EXPECT_EQ(spec.space.find("q")->values.size(), 4u);
  EXPECT_EQ(spec.space.find("p")->values, spec.space.find("q")->values);
}

TEST(KernelFile, ReadsRangesStepsAndPowersAsTheirValues) {
  const auto values_of = [](const std::string& text) {
    const KernelSpec spec = parse(
        "#pragma tuner kernel k\n#pragma tuner out c[1] : int\n#pragma tuner grid 1\n#pragma tuner block 1\n"
        "#pragma tuner arguments c\n#pragma tuner instantiate k<p>\n#pragma tuner parameter p = " +
        text + "\n");
    std::string result;
    for (const Value& value : spec.space.find("p")->values) result += (result.empty() ? "" : " ") + value.text();
    return result;
  };
  EXPECT_EQ(values_of("32..128 step 32"), "32 64 96 128");
  EXPECT_EQ(values_of("1..10 step 4"), "1 5 9");
  EXPECT_EQ(values_of("2^(0..4)"), "1 2 4 8 16");
  EXPECT_EQ(values_of("0 2^(5..9 step 2) 100k"), "0 32 128 512 102400");
  EXPECT_EQ(values_of("-2..1"), "-2 -1 0 1");
  EXPECT_EQ(values_of("-8..-2 step 3  // both ends below zero"), "-8 -5 -2");
  EXPECT_EQ(values_of("1k..3k step 1k"), "1024 2048 3072");
  EXPECT_EQ(values_of("-9223372036854775807..9223372036854775807 step 9223372036854775807"),
            "-9223372036854775807 0 9223372036854775807");
}

std::vector<ResolvedLaunch> launches_of(const KernelSpec& spec, const char* configuration) {
  return resolve_launches(spec, complete(spec, {}), {}, Configuration::parse(configuration));
}

TEST(KernelFile, WorksOutTemplateArguments) {
  const KernelSpec spec = parse(with_line(
      15, "#pragma tuner instantiate add<T, {min(block, 32) * 2}, \\\n   tile, {items - 8}, {n}, block>::of<{-1}>"));
  EXPECT_EQ(launches_of(spec, "block=64 items=2 load=plain")[0].expression,
            "add<float, 64, 128, (-6), 1000, 64>::of<(-1)>");
}

TEST(KernelFile, FindsTheEndOfWhatIsInBracesWhereItHasBracesOfItsOwn) {
  const KernelSpec spec =
      parse(with_line(15, "#pragma tuner instantiate add<T, {block in {32, 64}}, {items in {4} ? 1 : 0}, block>"));
  EXPECT_EQ(launches_of(spec, "block=64 items=2 load=plain")[0].expression, "add<float, true, 0, 64>");
}

TEST(KernelFile, TakesComputedArgumentsOfAnyType) {
  const KernelSpec spec =
      parse(with_line(14, "#pragma tuner arguments a, b, c, alpha, n * 2 : int64, tile, block - 1 : T, -1, n") +
            "#pragma tuner arguments a, b, c, alpha\n");
  const LaunchSpec& launch = spec.launches[0];
  EXPECT_THAT(launch.arguments,
              ElementsAre("a", "b", "c", "alpha", "n * 2 : int64", "tile", "block - 1 : T", "-1", "n"));
  ASSERT_EQ(launch.computed_arguments.size(), 4u);
  EXPECT_EQ(launch.computed_arguments[0].type, "int64");
  EXPECT_EQ(launch.computed_arguments[1].type, "int");
  EXPECT_EQ(launch.computed_arguments[2].type, "T");
}

TEST(KernelFile, RefusesConfigurationsWhoseArgumentsDoNotFit) {
  const KernelSpec spec = parse(with_line(14, "#pragma tuner arguments a, b, c, alpha, tile * n : int16, n") +
                                "#pragma tuner arguments a, b, c, alpha\n");
  const ProblemSize size = complete(spec, {{{"n", 500}}, {}});
  EXPECT_EQ(why_invalid(spec, size, {}, Configuration::parse("block=64 items=1 load=plain")), std::nullopt);
  EXPECT_EQ(why_invalid(spec, size, {}, Configuration::parse("block=64 items=2 load=plain")),
            "argument 'tile * n : int16': 64000 does not fit its type int16");
  EXPECT_EQ(enumerate(spec, size, {}).size(), 3u);  // tiles up to 64, plain
}

TEST(KernelFile, TakesParametersOfFloatingValue) {
  const KernelSpec spec =
      parse(with_line(19, "#pragma tuner parameter weight = 0.5 1.0 2e-3") +
            "#pragma tuner launch last\n#pragma tuner arguments c, weight : T\n#pragma tuner grid 1\n"
            "#pragma tuner block 1\n#pragma tuner instantiate last<T>\n");
  EXPECT_EQ(spec.space.find("weight")->values[2].text(), "2e-3");
  EXPECT_EQ(why_invalid(spec, complete(spec, {}), {}, Configuration::parse("block=64 items=1 load=plain weight=1.0")),
            std::nullopt);
}

TEST(KernelFile, CountsTheNumbersOfElementsThatHaveSeveral) {
  const KernelSpec spec = parse(with_line(9,
                                          "#pragma tuner in a[n] : float4, b[n] : half2[3]\n"
                                          "#pragma tuner constant weights[3] : float[9]\n"
                                          "#pragma tuner fill weights = iota\n__constant__ float weights[27];"));
  const Bindings names = bindings(spec, complete(spec, {{{"n", 10}}, {}}), {});
  const auto described = [&](const char* name) {
    const BufferSpec& buffer = *spec.find_buffer(name);
    return buffer.type + " x " + std::to_string(buffer.components) + ": " +
           std::to_string(buffer.count.evaluate_integer(names));
  };
  EXPECT_EQ(described("a"), "float x 4: 40");
  EXPECT_EQ(described("b"), "half x 6: 60");
  EXPECT_EQ(described("weights"), "float x 9: 27");
  EXPECT_EQ(spec.find_buffer("weights")->role, BufferRole::constant);
}

TEST(KernelFile, HasTexturesAndSurfacesOfItsBuffers) {
  const KernelSpec spec =
      parse(with_line(0,
                      "#pragma tuner texture image = a[n / 8, 8] linear normalized mirror\n"
                      "#pragma tuner texture row = b[n] fetched\n#pragma tuner surface result = c[n]\n"
                      "#pragma tuner launch again\n#pragma tuner arguments image, row, n\n"
                      "#pragma tuner grid 1\n#pragma tuner block 1\n"
                      "#pragma tuner instantiate again\n"));
  ASSERT_EQ(spec.textures.size(), 3u);
  const TextureSpec& image = *spec.find_texture("image");
  EXPECT_EQ(image.extent.size(), 2u);
  EXPECT_TRUE(image.reading.linear && image.reading.normalized && !image.reading.as_float);
  EXPECT_EQ(image.reading.outside, TextureReading::Outside::mirror);
  EXPECT_TRUE(spec.find_texture("row")->reading.fetched);
  EXPECT_TRUE(spec.find_texture("result")->is_surface);
}

TEST(KernelFile, TakesATextureOfOneDimensionForWhatTheKernelReadsItWith) {
  const std::string line = "#pragma tuner texture row = b[n]\n";
  const auto with = [&](const std::string& body) {
    return parse(with_line(0, line + "__device__ float f() { return " + body + "; }"));
  };
  EXPECT_NO_THROW(with("tex1D<float>(0, 1)"));
  EXPECT_NO_THROW(with("tex1D<float>(0, 1) + tex1Dfetch<float>(0, 1)")) << "another one may be fetched";
  EXPECT_NO_THROW(with("0; // not tex1Dfetch"));
  EXPECT_THROW(with("tex1Dfetch<float>(0, 1)"), SpecError);
  EXPECT_THROW(with("tex1Dfetch<float>(0, 1)  /* not tex1D */"), SpecError);
  EXPECT_THROW(parse(with_line(0,
                               "#pragma tuner texture row = b[n] fetched\n__device__ float f() { return "
                               "tex1D<float>(0, 1); }")),
               SpecError);
}

class KernelElsewhere : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  /// kVectorAdd, followed by \p lines.
  KernelSpec with(const std::string& lines) const {
    return read_kernel_file(write("tuned/add.cu", kVectorAdd + lines));
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(KernelElsewhere, StandsWhereItsSourceIsNamed) {
  const std::string path = write("kernels/add.cu", "template <typename T> void add();");
  const KernelSpec spec = with("// before\n#pragma tuner source \\\n  \"../kernels/add.cu\"\n// behind\n");
  EXPECT_EQ(program_text(spec), kVectorAdd +
                                    std::string("// before\n#pragma tuner source \\\n  \"../kernels/add.cu\"\n"
                                                "#line 1 \"") +
                                    path + "\"\ntemplate <typename T> void add();\n#line 23 \"" + spec.file +
                                    "\"\n// behind\n");
  EXPECT_THAT(spec.include_paths, ElementsAre((folder_ / "kernels").string()));
}

TEST_F(KernelElsewhere, IsReadOnceForWhoeverKnowsItAlready) {
  const std::string path = write("add.cu", "int before;\n");
  const KernelSpec first = with("#pragma tuner source \"../add.cu\"");
  std::ofstream(path) << "int after;\n";
  const KernelSpec again = parse_kernel_file(first.source, first.file, first.sources);
  EXPECT_EQ(program_text(again), program_text(first));
  EXPECT_THAT(program_text(with("#pragma tuner source \"../add.cu\"")), HasSubstr("int after;"));
}

TEST_F(KernelElsewhere, HasTheHeadersBesideItAndThoseOfIncludePaths) {
  write("kernels/add.cu", "#include \"beside.h\"\n#include <far.h>\n");
  write("kernels/beside.h", "int beside;");
  write("include/far.h", "int far;");
  const KernelSpec spec =
      with("#pragma tuner include_path \"../include\"\n#pragma tuner source \"../kernels/add.cu\"\n");
  ASSERT_TRUE(spec.includes);
  ASSERT_EQ(spec.includes->files.size(), 2u);
  EXPECT_EQ(spec.includes->files[0].text, "int beside;");
  EXPECT_EQ(spec.includes->files[1].text, "int far;");
  EXPECT_THAT(spec.include_paths, ElementsAre((folder_ / "kernels").string(), (folder_ / "include").string()));
}

TEST_F(KernelElsewhere, UsesTheParametersThatItNames) {
  write("add.cu",
        "template <typename T, int block, int items, Load load>\n__global__ void add(T* a) { a[items] = block; }");
  EXPECT_THAT(unused_parameters(with("#pragma tuner source \"../add.cu\"\n")), ElementsAre("load"));
  EXPECT_THAT(unused_parameters(with("#pragma tuner source \"../add.cu\"\n#pragma tuner define load\n")),
              ElementsAre());
}

TEST_F(KernelElsewhere, IsToldWhereAMacroIsDefinedAnew) {
  write("add.cu", "\n#define TILE 4\n");
  EXPECT_THAT(error_of([&] { with("#pragma tuner define TILE = tile\n#pragma tuner source \"../add.cu\"\n"); }),
              HasSubstr("line 2 of " + (folder_ / "add.cu").string() + " defines 'TILE' anew"));
}

TEST_F(KernelElsewhere, LeavesTheReferenceToSourcesOfItsOwn) {
  write("add.cu", "int kernels;\n");
  write("naive.cu", "#include \"naive.h\"\n#define TILE 1\n");
  write("naive.h", "int in_header;\n");
  const KernelSpec spec = with(
      "#pragma tuner source \"../add.cu\"\n#pragma tuner define TILE = tile\n#pragma tuner define N = 7\n"
      "#pragma tuner reference_source \"../naive.cu\"\nint ours;\n");
  EXPECT_THAT(program_text(spec), AllOf(HasSubstr("int kernels;"), HasSubstr("int ours;"), Not(HasSubstr("naive.h"))));
  EXPECT_THAT(program_text(spec, ProgramPart::reference),
              AllOf(HasSubstr("#include \"naive.h\""), HasSubstr("int ours;"), Not(HasSubstr("int kernels;"))));
  EXPECT_EQ(spec.includes, nullptr);
  ASSERT_TRUE(spec.reference_includes);
  EXPECT_EQ(spec.reference_includes->files[0].text, "int in_header;\n");
  EXPECT_THAT(reference_macros(spec, complete(spec, {}), {}), ElementsAre("N=7"));
}

TEST_F(KernelElsewhere, IsPreparedByWhatTheReferenceIsCompiledWithToo) {
  write("add.cu", "__global__ void zero(float* c, int n);\n");
  write("naive.cu", "int naive;\n");
  const std::string directives =
      "#pragma tuner source \"../add.cu\"\n#pragma tuner reference_source \"../naive.cu\"\n"
      "#pragma tuner inout d[n] : float\n#pragma tuner prepare zero\n#pragma tuner arguments d, n\n";
  EXPECT_THAT(error_of([&] { with(directives); }),
              HasSubstr("the reference, which has a text of its own, begins with 'zero' too: define it in the kernel "
                        "file, which both are compiled with"));
  EXPECT_EQ(with(directives + "__global__ void zero(float* c, int n) {}\n").prepare.size(), 1u);
}

TEST_F(KernelElsewhere, IsNoKernelFileOfItsOwn) {
  write("add.cu", kVectorAdd);
  EXPECT_THAT(error_of([&] { with("#pragma tuner source \"../add.cu\"\n"); }),
              HasSubstr("add.cu is a kernel file of its own: it has '#pragma tuner' lines"));
}

TEST(KernelFile, AcceptsTemplateArgumentsThatItCannotCountOrThatFit) {
  const auto accepts = [](const std::string& declaration) {
    return parse(with_line(0, declaration)).name == "add";  // add<T, block, items, Load::load>
  };
  EXPECT_TRUE(accepts("template <typename T, int a, int b, Load c> __global__ void add(T* x) {}"));
  EXPECT_TRUE(accepts("template <typename T, int a, int b, Load c, int d = 1 << 2> __global__ void add(T* x) {}"));
  EXPECT_TRUE(accepts("template <typename T, auto... all> __global__ void add(T* x) {}"));
  EXPECT_TRUE(accepts("TEMPLATE(T) __global__ void add(T* x) {}"));
  EXPECT_TRUE(accepts("template <typename T> void add(T* x) {}"));  // no kernel
  EXPECT_TRUE(accepts("template <typename T> __global__ void other(T* x) { add(x); }"));
  EXPECT_TRUE(accepts("// template <typename T> __global__ void add(T* x)"));
}

TEST(KernelFile, IsARegularFile) {
  EXPECT_THROW(read_kernel_file("/dev/zero"), Error);
  EXPECT_THROW(read_kernel_file("/dev"), Error);
}

TEST(KernelFile, PutsLetsInPlaceAndKeepsTheTextAsWritten) {
  const KernelSpec spec = parse(kVectorAdd);
  EXPECT_EQ(spec.launches[0].grid[0].text(), "max(1, ceil_div(n, tile))");
  EXPECT_THAT(spec.launches[0].grid[0].names(), ElementsAre("block", "items", "n"));
}

TEST(KernelFile, PointsIntoTheLetWhereItsExpressionHasNoAnswer) {
  const KernelSpec spec = parse(with_line(7, "#pragma tuner let tile = block / (items - 1)"));
  const auto reason = why_invalid(spec, complete(spec, {}), {}, {{"block", 64}, {"items", 1}, {"load", "plain"}});
  EXPECT_EQ(reason, "k.cu:7:32: division by zero (of 64 and 0)");
}

TEST(KernelFile, ReadsSeveralLaunchesAndTheirConditions) {
  const KernelSpec spec = parse(with_line(0,
                                          "#pragma tuner scratch partials[items * 2] : double\n"
                                          "#pragma tuner zeroed ticket[1] : unsigned\n"
                                          "#pragma tuner launch finish\n"
                                          "#pragma tuner when items > 1\n"
                                          "#pragma tuner grid 1\n"
                                          "#pragma tuner block 32, 2\n"
                                          "#pragma tuner shared 4 * block\n"
                                          "#pragma tuner arguments partials, items, ticket\n"
                                          "#pragma tuner instantiate finish<block,   \\\n         -1>"));
  ASSERT_EQ(spec.launches.size(), 2u);
  EXPECT_EQ(spec.launches[1].name, "finish");
  EXPECT_EQ(spec.launches[1].instantiate, "finish<block, -1>");
  const ProblemSize size = complete(spec, {});
  EXPECT_EQ(resolve_launches(spec, size, {}, {{"block", 64}, {"items", 1}, {"load", "plain"}}).size(), 1u);
  const auto both = resolve_launches(spec, size, {}, {{"block", 64}, {"items", 2}, {"load", "plain"}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].shape, (LaunchShape{{1, 1, 1}, {32, 2, 1}, 256}));
}

TEST(KernelFile, ReadsWhichLaunchesAreNotTimed) {
  const KernelSpec spec = parse(with_line(0,
                                          "#pragma tuner launch finish\n"
                                          "#pragma tuner untimed items == 1\n"
                                          "#pragma tuner grid 1\n"
                                          "#pragma tuner block 1\n"
                                          "#pragma tuner arguments items\n"
                                          "#pragma tuner instantiate finish<block>"));
  const auto timed = [&](int items) {
    const auto launches =
        resolve_launches(spec, complete(spec, {}), {}, {{"block", 64}, {"items", items}, {"load", "plain"}});
    return launches.at(0).timed && launches.at(1).timed;
  };
  EXPECT_FALSE(timed(1));
  EXPECT_TRUE(timed(2));
}

TEST(KernelFile, RefusesUntimedLaunchesThatTimedRunsWouldMiss) {
  const auto why = [](const std::string& first, const std::string& second, const std::string& argument) {
    return error_of([&] {
      parse(with_line(13, "#pragma tuner block block\n" + first) +
            "#pragma tuner zeroed tickets[1] : unsigned\n"
            "#pragma tuner launch finish\n" +
            second +
            "#pragma tuner grid 1\n"
            "#pragma tuner block 1\n"
            "#pragma tuner arguments " +
            argument + "\n#pragma tuner instantiate finish<block>\n");
    });
  };
  const std::string untimed = "#pragma tuner untimed\n", sometimes = "#pragma tuner untimed items == 1\n";
  EXPECT_EQ(why("", untimed, "c"), "no error");
  EXPECT_EQ(why(sometimes, untimed, "c"), "no error");
  EXPECT_THAT(why("", untimed, "tickets"),
              HasSubstr("launch 'finish' is untimed and takes 'tickets', which is 'zeroed'"));
  EXPECT_THAT(why(sometimes, "", "c"),
              HasSubstr("launch 'finish' is timed after one that is not: untimed ones come last"));
}

TEST(Preparation, IsALaunchOfItsOwnBeforeEveryRun) {
  const KernelSpec spec = parse(with_line(10, "#pragma tuner inout c[n]") +
                                "#pragma tuner prepare zero<T>\n"
                                "#pragma tuner arguments c, n\n"
                                "#pragma tuner prepare count\n"
                                "#pragma tuner when n > 99\n"
                                "#pragma tuner grid 2\n"
                                "#pragma tuner block 32, 4\n"
                                "#pragma tuner arguments a, c, 2 * n : int64\n");
  EXPECT_EQ(spec.launches.size(), 1u);
  EXPECT_EQ(spec.reference.size(), 1u);
  const ProblemSize size = complete(spec, {});
  const auto launches = resolve_prepare(spec, size, {});
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].expression, "zero<float>");
  EXPECT_EQ(launches[0].shape, (LaunchShape{{4, 1, 1}, {256, 1, 1}, 0})) << "a thread for each element of c";
  EXPECT_EQ(launches[1].shape, (LaunchShape{{2, 1, 1}, {32, 4, 1}, 0}));
  EXPECT_EQ(resolve_prepare(spec, with_verify(size, spec.verify[0]), {}).size(), 1u);
}

TEST(Preparation, OfAProblemThatCannotBePreparedMakesAllConfigurationsInvalid) {
  const KernelSpec spec = parse(with_line(10, "#pragma tuner inout c[n]") +
                                "#pragma tuner prepare zero<T>\n#pragma tuner grid 1\n#pragma tuner block n\n"
                                "#pragma tuner arguments c, n\n");
  const ProblemSize large = complete(spec, {{{"n", 1025}}, {}}), small = complete(spec, {{{"n", 1024}}, {}});
  const Configuration one{{"block", 64}, {"items", 1}, {"load", "plain"}};
  EXPECT_EQ(why_invalid(spec, large, {}, one),
            "prepare 'zero<T>': block of 1025x1x1 = 1025 threads exceeds the limit of 1024 threads per block");
  EXPECT_EQ(enumerate(spec, large, {}).size(), 0u);
  EXPECT_EQ(why_invalid(spec, small, {}, one), std::nullopt);
  EXPECT_GT(enumerate(spec, small, {}).size(), 0u);
}

TEST(KernelFile, RefusesACooperativeLaunchOfWhatLaunchesKernels) {
  EXPECT_THAT(error_of([] {
                parse(with_line(13, "#pragma tuner block block\n#pragma tuner cooperative items == 1") +
                      "#pragma tuner device_launches 1\n");
              }),
              HasSubstr("what is launched cooperatively cannot launch kernels"));
}

TEST(KernelFile, ReadsFillsThatAreComputed) {
  const auto fill = [](const std::string& text) {
    return *parse(with_line(0, "#pragma tuner fill a = " + text)).find_buffer("a")->computed_fill;
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
  const KernelSpec spec = parse(with_line(0, "#pragma tuner fill a = file \"a.npy\""));
  ASSERT_EQ(data_files(spec).size(), 1u);
  EXPECT_EQ(data_files(spec).front().filename(), "a.npy");
}

TEST(KernelFile, FillsSeveralBuffersAlike) {
  const KernelSpec spec = parse(with_line(0, "#pragma tuner in z[n]\n#pragma tuner fill a, z = expression i % n"));
  for (const char* const name : {"a", "z"})
    EXPECT_EQ(spec.find_buffer(name)->computed_fill->element->text(), "i % n") << name;
  EXPECT_THAT(error_of([] { parse(with_line(0, "#pragma tuner fill a, a = iota")); }), HasSubstr("fill"));
}

/// \p element of this \p i, by the tree and by what it is compiled to. Throws as the tree does.
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
  const KernelSpec spec = parse(with_line(0, "#pragma tuner fill a = expression i % 2 == 0 ? 1 + i * 0.1 : -1e-3 / n"));
  const Expression& element = *spec.find_buffer("a")->computed_fill->element;
  EXPECT_TRUE(element.has_reals());
  EXPECT_EQ(number_of(element, 0, {{"n", 4}}), 1);
  EXPECT_EQ(number_of(element, 1, {{"n", 4}}), -1e-3 / 4);
  EXPECT_EQ(number_of(element, 4, {{"n", 4}}), 1 + 4 * 0.1);
}

TEST(Expression, HasTheFunctionsOfNumbersWithAPoint) {
  const auto at_4 = [](const std::string& text) {
    const KernelSpec spec = parse(with_line(0, "#pragma tuner fill a = expression " + text));
    const Expression& element = *spec.find_buffer("a")->computed_fill->element;
    EXPECT_TRUE(element.has_reals());
    return number_of(element, 4, {});
  };
  EXPECT_EQ(at_4("sqrt(i) + sqrt(9)"), 5);
  EXPECT_EQ(at_4("sin(i) / cos(i) - tan(0)"), std::sin(4.0) / std::cos(4.0));
  EXPECT_EQ(at_4("log(exp(0) * i)"), std::log(4.0));
  EXPECT_THAT(error_of([&] { at_4("i % sqrt(i)"); }), HasSubstr("an integer is needed here"));
  EXPECT_THAT(error_of([&] { parse(with_line(0, "#pragma tuner constraint c: sqrt(n) > 2")); }),
              HasSubstr("'sqrt' gives numbers with a point, which only 'fill NAME = expression' has"));
}

TEST(Expression, IsIntegerArithmeticUntilANumberWithAPointComesIn) {
  const auto at_7 = [](const std::string& text) {
    const KernelSpec spec = parse(with_line(0, "#pragma tuner fill a = expression " + text));
    return number_of(*spec.find_buffer("a")->computed_fill->element, 7, {{"n", 3}, {"warp_size", 0}});
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

TEST(KernelFile, ReadsEveryOtherDirective) {
  const KernelSpec spec = parse(with_line(0,
                                          "#pragma tuner type R of T = int:int64 half : float\n"
                                          "#pragma tuner choice operation = sum min max\n"
                                          "#pragma tuner size rows cols : unsigned = 7\n"
                                          "#pragma tuner inout x[rows] : R, y[cols]\n"
                                          "#pragma tuner consumed z[n] : int32\n"
                                          "#pragma tuner fill a = uniform -1 1e-1\n"
                                          "#pragma tuner fill x = constant .5\n"
                                          "#pragma tuner fill z = iota\n"
                                          "#pragma tuner tolerance absolute 1e-3 relative 1e-5\n"
                                          "#pragma tuner accumulates n\n"
                                          "#pragma tuner flops operation == sum ? n : 0"));
  EXPECT_EQ(spec.derived_types[0].mapping.at("half"), "float");
  EXPECT_THAT(spec.find_choice("operation")->values, ElementsAre("sum", "min", "max"));
  EXPECT_EQ(spec.find_size("rows")->type, ElementType::uint32);
  EXPECT_EQ(spec.find_size("rows")->default_value, 7);
  EXPECT_EQ(spec.find_buffer("x")->type, "R");
  EXPECT_EQ(spec.find_buffer("y")->type, "T");
  EXPECT_EQ(spec.find_buffer("z")->type, "int");
  EXPECT_EQ(spec.find_buffer("a")->fill->low, -1);
  EXPECT_EQ(spec.find_buffer("a")->fill->high, 0.1);
  EXPECT_EQ(spec.find_buffer("x")->fill->kind, Fill::Kind::constant);
  EXPECT_EQ(spec.find_buffer("z")->fill->kind, Fill::Kind::iota);
  EXPECT_FALSE(spec.find_buffer("b")->fill);
  EXPECT_EQ(spec.tolerance->absolute, 1e-3);
  EXPECT_EQ(spec.tolerance->relative, 1e-5);
  EXPECT_EQ(spec.accumulates->text(), "n");
}

TEST(KernelFile, SaysWhichFileCannotBeRead) {
  try {
    read_kernel_file("/nonexistent/kernel.cu");
    FAIL() << "a file that is not there was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/kernel.cu"));
  }
  EXPECT_THROW(read_kernel_file(TUNER_SOURCE_DIR), Error);
}

TEST(KernelFile, AcceptsEveryShippedTemplate) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TUNER_SOURCE_DIR "/templates")) {
    if (entry.path().extension() != ".cu") continue;
    ++count;
    const KernelSpec spec = read_kernel_file(entry.path());
    const ProblemSize size = complete(spec, {});
    DeviceLimits h200;
    h200.compute_capability = 90;
    h200.sm_count = 132;
    EXPECT_FALSE(enumerate(spec, size, h200).empty()) << entry.path();
    EXPECT_EQ(why_invalid(spec, size, h200, spec.default_configuration.value()), std::nullopt) << entry.path();
  }
  EXPECT_GE(count, 5);
}

}  // namespace
}  // namespace tuner
