#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/data_files.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>

#include <tuner/core/kernel/sub_space.hpp>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

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
  const KernelSpec spec = parse(edited(16, "reference default"));
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
  const KernelSpec spec = parse(edited(16,
                                       "reference file c = \"c.npy\"\n"
                                       "fill a = iota\nfill b = constant 2"));
  EXPECT_EQ(spec.reference_kind(), ReferenceKind::file);
  EXPECT_FALSE(spec.has_reference_program());
  EXPECT_EQ(weaker_reference(spec), "answer in a file");
  ASSERT_EQ(data_files(spec).size(), 1u);
  EXPECT_EQ(data_files(spec)[0], "c.npy");
  const KernelSpec function = parse(edited(16, "reference file"));
  EXPECT_EQ(function.reference_kind(), ReferenceKind::kernel) << "of that name";
}

TEST(ReferenceDefault, SaysWhyItCannotRun) {
  const KernelSpec spec = parse(edited(16,
                                       "constraint even: n % block == 0\n"
                                       "reference default"));
  EXPECT_THAT(
      error_of([&] { resolve_reference(spec, complete(spec, {}), {}); }),
      HasSubstr("k.cu: the default configuration, which is the reference, cannot run for T=float n=1000: even"));
}

std::vector<ResolvedLaunch> launches_of(const KernelSpec& spec, int items) {
  return resolve_launches(spec, complete(spec, {}), {}, configuration(64, items));
}

TEST(KernelFile, WorksOutTemplateArguments) {
  const KernelSpec spec = parse(with_line(
      15, "#pragma tuner instantiate add<T, {min(block, 32) * 2}, \\\n   tile, {items - 8}, {n}, block>::of<{-1}>"));
  EXPECT_EQ(launches_of(spec, 2)[0].expression, "add<float, 64, 128, (-6), 1000, 64>::of<(-1)>");
}

TEST(KernelFile, FindsTheEndOfWhatIsInBracesWhereItHasBracesOfItsOwn) {
  const KernelSpec spec = parse(edited(15, "instantiate add<T, {block in {32, 64}}, {items in {4} ? 1 : 0}, block>"));
  EXPECT_EQ(launches_of(spec, 2)[0].expression, "add<float, true, 0, 64>");
}

TEST(KernelFile, TakesComputedArgumentsOfAnyType) {
  const KernelSpec spec = parse(edited(14, "arguments a, b, c, alpha, n * 2 : int64, tile, block - 1 : T, -1, n") +
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
  const KernelSpec spec =
      parse(edited(14, "arguments a, b, c, alpha, tile * n : int16, n") + "#pragma tuner arguments a, b, c, alpha\n");
  const ProblemSize size = complete(spec, {{{"n", 500}}, {}});
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(64)), std::nullopt);
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(64, 2)),
            "argument 'tile * n : int16': 64000 does not fit its type int16");
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
  EXPECT_EQ(launches_of(spec, 1).size(), 1u);
  const auto both = launches_of(spec, 2);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].shape, (LaunchShape{{1, 1, 1}, {32, 2, 1}, 256}));
}

TEST(KernelFile, ReadsWhichLaunchesAreNotTimed) {
  const KernelSpec spec = parse(edited(0,
                                       "launch finish\n"
                                       "untimed items == 1\n"
                                       "grid 1\n"
                                       "block 1\n"
                                       "arguments items\n"
                                       "instantiate finish<block>"));
  const auto timed = [&](int items) {
    const auto launches = launches_of(spec, items);
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
  const KernelSpec spec = parse(edited(10, "inout c[n]") +
                                "#pragma tuner prepare zero<T>\n"
                                "#pragma tuner arguments c, n\n"
                                "#pragma tuner prepare count\n"
                                "#pragma tuner when n > 99\n"
                                "#pragma tuner grid 2\n"
                                "#pragma tuner block 32, 4\n"
                                "#pragma tuner arguments a, c, 2 * n : int64\n");
  EXPECT_EQ(spec.launches.size(), 1u);
  EXPECT_EQ(spec.verification.reference.size(), 1u);
  const ProblemSize size = complete(spec, {});
  const auto launches = resolve_prepare(spec, size, {});
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].expression, "zero<float>");
  EXPECT_EQ(launches[0].shape, (LaunchShape{{4, 1, 1}, {256, 1, 1}, 0})) << "a thread for each element of c";
  EXPECT_EQ(launches[1].shape, (LaunchShape{{2, 1, 1}, {32, 4, 1}, 0}));
  EXPECT_EQ(resolve_prepare(spec, complete(spec, {{{"n", 33}}, {}}), {}).size(), 1u);
}

TEST(Preparation, OfAProblemThatCannotBePreparedMakesAllConfigurationsInvalid) {
  const KernelSpec spec = parse(edited(10, "inout c[n]") +
                                "#pragma tuner prepare zero<T>\n#pragma tuner grid 1\n#pragma tuner block n\n"
                                "#pragma tuner arguments c, n\n");
  const ProblemSize large = complete(spec, {{{"n", 1025}}, {}}), small = complete(spec, {{{"n", 1024}}, {}});
  const Configuration one = configuration(64);
  EXPECT_EQ(why_invalid(spec, large, {}, one),
            "prepare 'zero<T>': block of 1025x1x1 = 1025 threads exceeds the limit of 1024 threads per block");
  EXPECT_FALSE(first_valid(spec, large, {}));
  EXPECT_EQ(why_invalid(spec, small, {}, one), std::nullopt);
  EXPECT_TRUE(first_valid(spec, small, {}));
}

TEST(KernelFile, RefusesACooperativeLaunchOfWhatLaunchesKernels) {
  EXPECT_THAT(
      error_of([] { parse(edited(13, "block block\ncooperative items == 1") + "#pragma tuner device_launches 1\n"); }),
      HasSubstr("a cooperative launch cannot launch kernels"));
}

}  // namespace
}  // namespace tuner
