/// What the built-in kernel files declare: they parse, their spaces are rich but sane, and their defaults are valid
/// wherever a caller may meet them.

#include <sstream>

#include <tests/support/testing.hpp>

#include "built_in.hpp"
#include <tuner/core/cpp/included_file.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>

namespace tuner {
namespace {

using testing::built_in;
using testing::default_with;

DeviceLimits h200() {
  DeviceLimits limits;
  limits.sm_count = 132;
  limits.max_shared_bytes = 232448;
  limits.shared_bytes_per_sm = 233472;
  limits.compute_capability = 90;
  return limits;
}

DeviceLimits turing() {
  DeviceLimits limits;
  limits.sm_count = 40;
  limits.max_threads_per_sm = 1024;
  limits.max_blocks_per_sm = 16;
  limits.compute_capability = 75;
  return limits;
}

DeviceLimits two_cores() {
  DeviceLimits limits;
  limits.sm_count = 2;
  return limits;
}

/// Every combination of the choices of \p spec, with default sizes.
std::vector<ProblemSize> all_choices(const KernelSpec& spec) {
  std::vector<ProblemSize> problems{{}};
  for (const ChoiceSpec& choice : spec.choices) {
    std::vector<ProblemSize> longer;
    for (const ProblemSize& problem : problems) {
      for (const std::string& value : choice.values) {
        longer.push_back(problem);
        longer.back().choices[choice.name] = value;
      }
    }
    problems = std::move(longer);
  }
  for (ProblemSize& problem : problems) problem = complete(spec, problem);
  return problems;
}

TEST(Templates, AreBuiltInWithTheTextsOfWhatTheirFilesInclude) {
  std::size_t included = 0;
  for (const EmbeddedTemplate& file : embedded_templates()) {
    EXPECT_EQ(file.text.find("\n#include \""), std::string_view::npos) << file.name;
    const KernelSpec spec =
        read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/templates/" + std::string(file.name) + ".cu");
    if (!spec.program.includes) continue;
    for (const IncludedFile& one : spec.program.includes->files) {
      const std::size_t last = one.text.rfind("\n#include ");  // or it has only `#pragma once`, in its first line
      const std::string own = one.text.substr(one.text.find('\n', last == std::string::npos ? 0 : last + 1));
      EXPECT_NE(file.text.find(own), std::string_view::npos) << file.name << ' ' << one.path;
      ++included;
    }
  }
  EXPECT_GE(included, 16u);
}

TEST(Templates, AreFoundByTheNamesOfTheirKernels) {
  std::vector<std::string> names;
  for (const EmbeddedTemplate& file : embedded_templates()) {
    EXPECT_EQ(built_in(file.name).name, file.name);
    names.emplace_back(file.name);
  }
  EXPECT_THAT(names, UnorderedElementsAre("blockReduce", "compact", "histogram", "mathKernel", "nestedHello",
                                          "nestedReduce", "prefixSum", "reduce", "reduceClassic", "serialSum",
                                          "sumMatrix2D", "warpDivergence", "warpReduce"));
}

/// What \p spec declares to have in flight in its default configuration with \p changes.
std::int64_t declared_bytes_in_flight(const KernelSpec& spec, const std::string& type, const std::string& changes) {
  ProblemSize problem;
  problem.choices["T"] = type;
  return spec.work.in_flight->evaluate_integer(
      bindings(spec, complete(spec, problem), h200(), default_with(spec, changes)));
}

TEST(Templates, DeclareBytesInFlightThatCanBeComputed) {
  for (const EmbeddedTemplate& file : embedded_templates()) {
    const KernelSpec spec = built_in(file.name);
    if (!spec.work.in_flight) continue;
    EXPECT_GT(
        spec.work.in_flight->evaluate_integer(bindings(spec, complete(spec, {}), h200(), *spec.default_configuration)),
        0)
        << spec.name;
  }
}

TEST(Templates, SumsOfFloatsHaveFourLoadsInFlightAsTheCompilerAddsTheFirstBeforeItIssuesTheLast) {
  const KernelSpec spec = built_in("warpReduce");
  EXPECT_EQ(declared_bytes_in_flight(spec, "float", "unroll=2"), 8);
  EXPECT_EQ(declared_bytes_in_flight(spec, "float", "unroll=8"), 16);
  EXPECT_EQ(declared_bytes_in_flight(spec, "float", "unroll=8 warp_step=vote"), 32);
  EXPECT_EQ(declared_bytes_in_flight(spec, "int", "unroll=8"), 32);
}

TEST(Templates, HaveAReferenceAndHardProblemsToVerifyOn) {
  for (const EmbeddedTemplate& file : embedded_templates()) {
    const KernelSpec spec = built_in(file.name);
    EXPECT_FALSE(spec.verification.reference.empty()) << spec.name;
    bool empty = false, one = false, misaligned = false;
    for (const VerifySpec& verify : spec.verification.problems) {
      bool all_zero = true, all_one = true;
      for (const auto& [name, value] : verify.sizes) {
        if (name == "work") continue;
        all_zero &= value == 0;
        all_one &= value == 1;
      }
      empty |= all_zero;
      one |= all_one;
      misaligned |= verify.offset % 2 == 1;
    }
    EXPECT_TRUE(empty && one && misaligned) << spec.name << ": nothing, one element, an odd offset";
  }
}

TEST(Templates, HaveDefaultsThatAreValidOnEveryDeviceTypeAndSize) {
  for (const EmbeddedTemplate& file : embedded_templates()) {
    const KernelSpec spec = built_in(file.name);
    ASSERT_TRUE(spec.default_configuration) << spec.name;
    for (ProblemSize problem : all_choices(spec)) {
      for (const std::int64_t size : {0, 1, 1000, 1 << 20, 1 << 30}) {
        for (auto& [name, value] : problem.sizes) value = size;
        if (spec.name == "sumMatrix2D" && size > 1 << 20) continue;  // nx * ny elements
        if (spec.name == "nestedHello" && size > 1024) continue;     // threads of a block
        for (const DeviceLimits& limits : {h200(), turing(), two_cores()}) {
          if (why_never(spec, limits)) continue;
          const auto reason = why_invalid(spec, problem, limits, *spec.default_configuration);
          EXPECT_FALSE(reason) << spec.name << ' ' << problem.text() << ": " << *reason;
        }
      }
    }
  }
}

struct Bounds {
  std::size_t least, most;
};

TEST(Templates, HaveSpacesThatAreRichButSane) {
  const std::map<std::string, Bounds> bounds{
      {"sumMatrix2D", {2000, 6000}}, {"nestedHello", {2, 2}},       {"nestedReduce", {100, 200}},
      {"reduce", {5000, 26000}},     {"reduceClassic", {80, 360}},  {"warpReduce", {1000, 2000}},
      {"mathKernel", {6, 6}},        {"blockReduce", {2000, 8000}}, {"warpDivergence", {600, 1200}},
      {"prefixSum", {200, 600}},     {"compact", {500, 800}},       {"histogram", {600, 1500}},
      {"serialSum", {9, 9}}};
  for (const EmbeddedTemplate& file : embedded_templates()) {
    const KernelSpec spec = built_in(file.name);
    for (const ProblemSize& problem : all_choices(spec)) {
      const std::size_t size = enumerate(spec, problem, h200()).size();
      EXPECT_GE(size, bounds.at(spec.name).least) << spec.name << ' ' << problem.text();
      EXPECT_LE(size, bounds.at(spec.name).most) << spec.name << ' ' << problem.text();
    }
  }
}

TEST(ReduceTemplate, OffersReduxOnlyToTypesOperationsAndChipsThatHaveIt) {
  const KernelSpec spec = built_in("reduce");
  const auto allowed = [&](const char* type, const char* operation, const DeviceLimits& limits) {
    const ProblemSize problem = complete(spec, {{}, {{"T", type}, {"operation", operation}}});
    return !why_invalid(spec, problem, limits, default_with(spec, "warp_step=redux"));
  };
  EXPECT_TRUE(allowed("int", "sum", h200()));
  EXPECT_TRUE(allowed("unsigned", "max", h200()));
  EXPECT_FALSE(allowed("int", "sum", turing()));
  EXPECT_FALSE(allowed("int", "product", h200()));
  EXPECT_FALSE(allowed("float", "sum", h200()));
  EXPECT_FALSE(allowed("int64", "sum", h200()));
}

TEST(ReduceTemplate, GivesOneBlockToTheOneBlockFinishAndNeverALargeProblem) {
  const KernelSpec spec = built_in("reduce");
  Configuration configuration = default_with(spec, "finish=one_block");
  EXPECT_TRUE(why_invalid(spec, complete(spec, {{{"n", 1000}}, {}}), h200(), configuration));
  configuration.set("blocks_per_sm", 1);
  EXPECT_FALSE(why_invalid(spec, complete(spec, {{{"n", 1000}}, {}}), h200(), configuration));
  EXPECT_TRUE(why_invalid(spec, complete(spec, {{{"n", 1 << 30}}, {}}), h200(), configuration));
  const auto launches = resolve_launches(spec, complete(spec, {{{"n", 1 << 20}}, {}}), h200(), configuration);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].shape.blocks(), 1);
}

TEST(ReduceTemplate, CountsBlocksInTheWordOfTheSumOnlyWhereTheSumWrapsIn32Bits) {
  const KernelSpec spec = built_in("reduce");
  const Configuration configuration = default_with(spec, "finish=counted");
  for (const ProblemSize& problem : all_choices(spec)) {
    const std::string& type = problem.choices.at("T");
    const bool fits = (type == "int" || type == "unsigned") && problem.choices.at("operation") == "sum";
    EXPECT_EQ(!why_invalid(spec, problem, h200(), configuration), fits) << problem.text();
  }
}

TEST(ReduceTemplate, NeedsNoMoreWorkSpaceForAnyProblemThanForTheLargest) {
  const KernelSpec spec = built_in("reduce");
  const auto work_space = [&](std::int64_t n, const char* type, const char* finish) {
    const Configuration configuration = default_with(spec, std::string("finish=") + finish);
    const ProblemSize problem = complete(spec, {{{"n", n}}, {{"T", type}}});
    const Bindings names = bindings(spec, problem, h200(), configuration);
    const std::int64_t blocks = resolve_launches(spec, problem, h200(), configuration)[0].shape.blocks();
    const std::int64_t slots = spec.find_buffer("slots")->count.evaluate_integer(names);
    const std::int64_t partials = spec.find_buffer("partials")->count.evaluate_integer(names);
    if (std::string_view(finish) == "last_block") {
      EXPECT_EQ(slots, blocks * (std::string_view(type) == "double" ? 2 : 1)) << n;
    }
    if (std::string_view(finish) == "two_launches") {
      EXPECT_EQ(partials, blocks) << n;
    }
    return slots + partials;
  };
  for (const char* type : {"float", "double"}) {
    for (const char* finish : {"last_block", "two_launches"}) {
      std::int64_t before = 0;
      for (const std::int64_t n : {0, 1, 4096, 100'003, 1 << 20, 1 << 24, 1 << 30}) {
        const std::int64_t words = work_space(n, type, finish);
        EXPECT_GE(words, before) << type << ' ' << finish << ' ' << n;
        before = words;
      }
      EXPECT_LE(before, 2 * 16 * 132 + 1);
    }
  }
}

TEST(ReduceTemplate, InitialisesBeforeAnAtomicFinishAndCombinesAfterTheFirstOfTwoLaunches) {
  const KernelSpec spec = built_in("reduce");
  const ProblemSize problem = complete(spec, {});
  auto launches = resolve_launches(spec, problem, h200(), default_with(spec, "finish=atomic"));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].expression, "initialise<float, Operation::sum>");
  EXPECT_THAT(launches[1].expression, HasSubstr("Finish::atomic"));
  launches = resolve_launches(spec, problem, h200(), default_with(spec, "finish=two_launches"));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[1].expression, "combinePartials<float, Operation::sum, 256, WarpStep::shuffle>");
}

// c may be a or b, and what is read through the read-only path must not be written while the kernel runs.
TEST(SumMatrix2DTemplate, ReadsNothingThroughTheReadOnlyPath) {
  std::istringstream lines(built_in("sumMatrix2D").program.text);
  for (std::string line; std::getline(lines, line);)
    for (const char* const word : {"__ldg", ".nc", "__restrict__"})
      EXPECT_THAT(line.substr(0, line.find("//")), Not(HasSubstr(word)));
}

TEST(SumMatrix2DTemplate, RunsMoreRowsThanAGridMayHave) {
  const KernelSpec spec = built_in("sumMatrix2D");
  const Configuration configuration =
      Configuration::parse("block_x=32 block_y=1 cache=plain rows=1 transposed=false unroll=1 vector=1");
  const ProblemSize tall = complete(spec, {{{"nx", 4}, {"ny", 1000000}}, {}});
  EXPECT_FALSE(why_invalid(spec, tall, h200(), configuration));
  EXPECT_EQ(resolve_launches(spec, tall, h200(), configuration)[0].shape.grid[1], 65535);
}

TEST(ReduceClassicTemplate, HasAllStepsOfTheLadderInOrder) {
  const KernelSpec spec = built_in("reduceClassic");
  const TuningParameter* step = spec.space.find("step");
  ASSERT_NE(step, nullptr);
  std::vector<std::string> steps;
  for (const Value& value : step->values) steps.push_back(value.text());
  EXPECT_THAT(steps,
              ElementsAre("neighbored", "neighbored_less_divergent", "interleaved", "unroll2", "unroll4", "unroll8",
                          "unroll8_loop", "unroll8_rolled", "unroll16", "unroll_warps8", "barrier_warps8",
                          "shrinking_warps8", "complete_unroll8", "barrier_complete8", "template8"));
  const auto blocks = [&](const char* name) {
    const Configuration configuration = default_with(spec, std::string("threads=512 step=") + name);
    return resolve_launches(spec, complete(spec, {}), h200(), configuration)[0].shape.blocks();
  };
  for (const char* name : {"unroll8", "unroll8_loop", "unroll8_rolled", "unroll_warps8", "barrier_warps8",
                           "shrinking_warps8", "complete_unroll8", "template8"})
    EXPECT_EQ(blocks(name), 4096) << name;
  EXPECT_EQ(blocks("neighbored"), 32768);
  EXPECT_EQ(blocks("unroll4"), 8192);
  EXPECT_EQ(blocks("unroll16"), 2048);
}

TEST(NestedTemplates, RefuseTheHostBackendBeforeAnythingIsCompiled) {
  for (const char* name : {"nestedHello", "nestedReduce"}) {
    const KernelSpec spec = built_in(name);
    EXPECT_EQ(why_invalid(spec, complete(spec, {}), two_cores(), *spec.default_configuration),
              "the kernel launches kernels from the device; the host backend cannot");
  }
}

TEST(NestedReduceTemplate, AsksForAPendingLaunchForEachBlockAndWhereAllRunAtOnceForEachStep) {
  const KernelSpec spec = built_in("nestedReduce");
  const ProblemSize problem = complete(spec, {{{"n", 1 << 24}}, {}});
  const auto pending = [&](const char* changes) {
    return pending_device_launches(spec, problem, h200(), default_with(spec, changes));
  };
  EXPECT_EQ(pending("step=nested stream=tail"), 32768 + 8);
  EXPECT_EQ(pending("step=nested_nosync stream=tail"), 32768 + 8);
  EXPECT_EQ(pending("step=nested stream=fire_and_forget"), 32768 * 8 + 8);
  EXPECT_LE(pending("step=nested2 stream=tail"), 2048) << "what there is without being asked";
}

TEST(NestedReduceTemplate, StartsAChildAtOnceOnlyBehindABarrier) {
  const KernelSpec spec = built_in("nestedReduce");
  const auto reason =
      why_invalid(spec, complete(spec, {}), h200(),
                  Configuration::parse("final_threads=128 step=nested_nosync stream=fire_and_forget threads=64"));
  EXPECT_THAT(reason.value_or("valid"), HasSubstr("children_need_what_they_read"));
}

TEST(WarpReduceTemplate, VotesOnlyToCount) {
  const KernelSpec spec = built_in("warpReduce");
  const Configuration configuration = default_with(spec, "warp_step=vote");
  EXPECT_FALSE(why_invalid(spec, complete(spec, {{}, {{"operation", "count"}}}), h200(), configuration));
  EXPECT_TRUE(why_invalid(spec, complete(spec, {{}, {{"operation", "sum"}}}), h200(), configuration));
}

}  // namespace
}  // namespace tuner
