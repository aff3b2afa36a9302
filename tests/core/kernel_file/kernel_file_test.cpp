#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>

#include <filesystem>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

TEST(KernelFile, DescribesAKernel) {
  const KernelSpec spec = parse(kVectorAdd);
  EXPECT_EQ(spec.name, "add");
  EXPECT_EQ(spec.program.file, "k.cu");
  EXPECT_EQ(spec.program.text, kVectorAdd);
  ASSERT_EQ(spec.choices.size(), 1u);
  EXPECT_TRUE(spec.choices[0].is_type);
  EXPECT_THAT(spec.choices[0].values, ElementsAre("float", "double", "int"));
  EXPECT_EQ(spec.find_size("n")->type, ElementType::int64);
  EXPECT_EQ(spec.find_size("n")->default_value, 1000);
  EXPECT_EQ(spec.space.parameters().size(), 3u);
  EXPECT_EQ(spec.space.constraints()[0].name, "streams");
  EXPECT_EQ(spec.find_buffer("b")->role, BufferRole::in);
  EXPECT_EQ(spec.find_buffer("c")->type, "T");
  EXPECT_EQ(spec.find_scalar("alpha")->values.at(0), 2.5);
  ASSERT_EQ(spec.launches.size(), 1u);
  EXPECT_EQ(spec.launches[0].name, "add");
  EXPECT_THAT(spec.launches[0].arguments, ElementsAre("a", "b", "c", "alpha", "n"));
  EXPECT_EQ(spec.verification.problems[0].sizes.at("n"), 33);
  EXPECT_EQ(spec.verification.problems[0].offset, 1);
  EXPECT_EQ(spec.default_configuration->text(), "block=64 items=1 load=plain");
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
  EXPECT_THAT(spec.program.text, StartsWith("#pragma"))
      << "compilers take no byte order mark in the middle of a program";
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
  EXPECT_EQ(parse(text).work.flops->text(), "n");
}

TEST(KernelFile, TakesTheCommentAfterAnExpressionThatCannotBeItsRest) {
  for (const char* const comment : {"// each thread", "// of a tile; 64 of them", "//", "// = 3", "// nothing_of_here"})
    EXPECT_EQ(parse(with_line(18, std::string("#pragma tuner bytes 3 * n   ") + comment)).work.bytes->text(), "3 * n");
}

TEST(KernelFile, TakesAnyCommentWhereNoExpressionStands) {
  EXPECT_EQ(parse(edited(4, "parameter block = 32 64 // 128 is too much")).space.find("block")->values.size(), 2u);
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
  EXPECT_EQ(parse(edited(17, "verify n=4k offset=1")).verification.problems[0].sizes.at("n"), 4096);
}

TEST(KernelFile, TakesSizesOfSeveralDefaultsInOneLine) {
  const KernelSpec spec = parse(edited(3, "size m n = 4k, k : int64 = 16M, o"));
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

TEST(KernelFile, TakesParametersOfFloatingValue) {
  const KernelSpec spec =
      parse(edited(19, "parameter weight = 0.5 1.0 2e-3") +
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

TEST(KernelFile, PutsLetsInPlaceAndKeepsTheTextAsWritten) {
  const KernelSpec spec = parse(kVectorAdd);
  EXPECT_EQ(spec.launches[0].grid[0].text(), "max(1, ceil_div(n, tile))");
  EXPECT_THAT(spec.launches[0].grid[0].names(), ElementsAre("block", "items", "n"));
}

TEST(KernelFile, PointsIntoTheLetWhereItsExpressionHasNoAnswer) {
  const KernelSpec spec = parse(edited(7, "let tile = block / (items - 1)"));
  const auto reason = why_invalid(spec, complete(spec, {}), {}, configuration(64));
  EXPECT_EQ(reason, "k.cu:7:32: division by zero (of 64 and 0)");
}

TEST(KernelFile, ReadsEveryOtherDirective) {
  const KernelSpec spec = parse(edited(0,
                                       "type R of T = int:int64 half : float\n"
                                       "choice operation = sum min max\n"
                                       "size rows cols : unsigned = 7\n"
                                       "inout x[rows] : R, y[cols]\n"
                                       "consumed z[n] : int32\n"
                                       "fill a = uniform -1 1e-1\n"
                                       "fill x = constant .5\n"
                                       "fill z = iota\n"
                                       "tolerance absolute 1e-3 relative 1e-5\n"
                                       "accumulates n\n"
                                       "flops operation == sum ? n : 0\n"
                                       "estimate n * (1 + 0.5 / items) + 32.5 * (load == plain)"));
  EXPECT_EQ(spec.derived_types[0].mapping.at("half"), "float");
  EXPECT_THAT(spec.find_choice("operation")->values, ElementsAre("sum", "min", "max"));
  EXPECT_EQ(spec.find_size("rows")->type, ElementType::uint32);
  EXPECT_EQ(spec.find_size("rows")->default_value, 7);
  EXPECT_EQ(spec.find_buffer("x")->type, "R");
  EXPECT_EQ(spec.find_buffer("y")->type, "T");
  EXPECT_EQ(spec.find_buffer("z")->type, "int");
  EXPECT_EQ(spec.find_buffer("a")->fill->numbers.low, -1);
  EXPECT_EQ(spec.find_buffer("a")->fill->numbers.high, 0.1);
  EXPECT_EQ(spec.find_buffer("x")->fill->numbers.kind, Fill::Kind::constant);
  EXPECT_EQ(spec.find_buffer("z")->fill->numbers.kind, Fill::Kind::iota);
  EXPECT_FALSE(spec.find_buffer("b")->fill);
  EXPECT_EQ(spec.verification.tolerance->absolute, 1e-3);
  EXPECT_EQ(spec.verification.tolerance->relative, 1e-5);
  EXPECT_EQ(spec.verification.accumulates->text(), "n");
  EXPECT_EQ(spec.work.estimate->evaluate_number(bindings(spec, complete(spec, {}), {}, configuration(64, 2))), 1282.5);
}

TEST(KernelFile, CompletesSeedsInTheirOrderWithTheDefault) {
  const KernelSpec spec = parse(edited(0, "seed items=4 load=streaming\nseed block=128 items=2 load=plain"));
  EXPECT_THAT(spec.seeds, ElementsAre(configuration(64, 4, "streaming"), configuration(128, 2)));
  EXPECT_TRUE(parse(kVectorAdd).seeds.empty());
}

TEST(KernelFile, TakesBoolsAsBytesAndVectorsForTheirSizes) {
  const KernelSpec spec = parse(
      "#pragma tuner kernel k\n#pragma tuner size n = 1000\n#pragma tuner parameter block = 32 64\n"
      "#pragma tuner out y[n] : float\n#pragma tuner scalar flag : bool = true\n#pragma tuner block block\n"
      "#pragma tuner grid 1\n#pragma tuner arguments y, flag, false\n#pragma tuner instantiate k\n"
      "#pragma tuner bytes n * sizeof(float4)\n__global__ void k(float* y, bool a, bool b) {}\n");
  EXPECT_EQ(spec.find_scalar("flag")->type, "uint8");
  EXPECT_THAT(spec.find_scalar("flag")->values, ElementsAre(1));
  EXPECT_EQ(spec.launches.front().find_computed("false")->type, "uint8");
  EXPECT_EQ(evaluate_amount(spec, *spec.work.bytes, complete(spec, {}), {}), 16'000);
}

TEST(KernelFile, SaysWhichFileCannotBeRead) {
  EXPECT_THAT(error_of([] { read_kernel_file("/nonexistent/kernel.cu"); }), HasSubstr("/nonexistent/kernel.cu"));
  EXPECT_THROW(read_kernel_file(TUNER_SOURCE_DIR), Error);
}

}  // namespace
}  // namespace tuner
