#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/spec_expressions.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/space/enumerated_space.hpp>

#include <tuner/core/kernel_file/kernel_file.hpp>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

TEST(Complete, FillsInDefaultsAndKnowsAliasesOfTypes) {
  const KernelSpec spec = parse(kVectorAdd);
  EXPECT_EQ(complete(spec, {}).text(), "T=float n=1000");
  EXPECT_EQ(complete(spec, {{{"n", 5}}, {{"T", "int32"}}}).text(), "T=int n=5");
}

TEST(Complete, NamesWhatItDoesNotKnow) {
  const KernelSpec spec = parse(edited(3, "size n rows"));
  EXPECT_EQ(error_of([&] {
              complete(spec, {{{"row", 1}}, {}});
            }),
            "kernel 'add' has no size 'row'; did you mean 'rows'?");
  EXPECT_THAT(error_of([&] {
                complete(spec, {{}, {{"T", "duoble"}}});
              }),
              HasSubstr("kernel 'add': T=duoble is not one of: float double int; did you mean 'double'?"));
  EXPECT_EQ(error_of([&] { complete(spec, {{}, {{"Q", "half"}}}); }), "kernel 'add' has no choice 'Q'; its choices: T");
  EXPECT_THAT(error_of([&] { complete(spec, {{}, {{"T", "half"}}}); }), HasSubstr("T=half is not one of"));
  EXPECT_THAT(error_of([&] {
                complete(spec, {{{"n", 1}}, {}});
              }),
              HasSubstr("size 'rows' of kernel 'add' has no default"));
  EXPECT_THAT(error_of([&] { complete(spec, {{{"n", -1}}, {}}); }), HasSubstr("n=-1 is negative"));
}

/// Every expression names one of the sizes n1 to n31.
const char* const kOneSizeEach =
    "#pragma tuner kernel copy\n"
    "#pragma tuner parameter items = 1 2\n"
    "#pragma tuner constraint fits: items <= n1\n"
    "#pragma tuner in a[n2] : float\n"
    "#pragma tuner in b[n3] : float\n"
    "#pragma tuner in s[n4] : { float x; int id; }\n"
    "#pragma tuner inout c[n5] : float\n"
    "#pragma tuner scratch room[n6] : float\n"
    "#pragma tuner fill a = uniform n7, n8\n"
    "#pragma tuner fill b = expression i % n9\n"
    "#pragma tuner fill s.id = expression i + n10\n"
    "#pragma tuner compare c when i < n11\n"
    "#pragma tuner scalar factor : float = n12\n"
    "#pragma tuner texture image = a[n13]\n"
    "#pragma tuner tensormap map = b[n30] box n31\n"
    "#pragma tuner compile --maxrregcount={n14} when n15 > 0\n"
    "#pragma tuner define TILE = items * n16\n"
    "#pragma tuner launch one\n"
    "#pragma tuner when n17 > 0\n"
    "#pragma tuner grid n18\n"
    "#pragma tuner block n19\n"
    "#pragma tuner shared n20\n"
    "#pragma tuner cooperative n21 > 0\n"
    "#pragma tuner untimed n22 < 0\n"
    "#pragma tuner arguments image, map, a, b, s, c, room, factor, n23 * 2 : int\n"
    "#pragma tuner instantiate copy<{n24 * 2}>\n"
    "#pragma tuner prepare clear\n"
    "#pragma tuner grid n25\n"
    "#pragma tuner block 1\n"
    "#pragma tuner arguments c\n"
    "#pragma tuner reference copyReference\n"
    "#pragma tuner grid n26\n"
    "#pragma tuner block 1\n"
    "#pragma tuner accumulates n27\n"
    "#pragma tuner bytes n28\n"
    "#pragma tuner in_flight n29\n"
    "#pragma tuner estimate n32\n";

TEST(SpecExpressions, AreTheOnesOfEveryDirective) {
  std::string text = kOneSizeEach;
  for (int i = 1; i <= 32; ++i) text += "#pragma tuner size n" + std::to_string(i) + " = " + std::to_string(i) + "\n";
  const KernelSpec spec = parse(text);
  std::map<std::string, ExpressionRole> found;
  for_each_expression(spec, [&](const Expression& expression, const ExpressionUse& use) {
    for (const std::string& name : expression.names())
      if (spec.find_size(name)) found[name] = use.role;
  });
  std::vector<std::string> missing;
  for (const SizeSpec& size : spec.sizes)
    if (!found.contains(size.name)) missing.push_back(size.name);
  EXPECT_THAT(missing, IsEmpty());
  const auto of_role = [&](ExpressionRole role) {
    std::set<std::string> names;
    for (const auto& [name, its] : found)
      if (its == role) names.insert(name);
    return names;
  };
  EXPECT_THAT(of_role(ExpressionRole::constraint), ElementsAre("n1"));
  EXPECT_THAT(of_role(ExpressionRole::work_space), ElementsAre("n6"));
  EXPECT_THAT(of_role(ExpressionRole::code), ::testing::UnorderedElementsAre("n14", "n15", "n16", "n24"));
  EXPECT_THAT(of_role(ExpressionRole::launch), ::testing::UnorderedElementsAre("n17", "n18", "n19", "n20", "n21", "n22",
                                                                               "n23", "n25", "n26", "n30", "n31"));
}

TEST(EvaluateAmount, RefusesANegativeOneAtItsPlace) {
  const KernelSpec spec = parse(edited(18, "bytes n - 2000"));
  EXPECT_EQ(error_of([&] { evaluate_amount(spec, *spec.work.bytes, complete(spec, {}), {}); }),
            "k.cu:18:21: 'n - 2000' is negative: -1000 for T=float n=1000");
  EXPECT_EQ(evaluate_amount(spec, *spec.work.bytes, {{{"n", 2001}}, {}}, {}), 1);
}

TEST(Enumerate, LeavesOutWhatTheDeviceCannotLaunch) {
  const KernelSpec spec = parse(kVectorAdd);
  const EnumeratedSpace space = enumerate(spec, complete(spec, {}), {});
  EXPECT_EQ(space.size(), 3u * 3 + 3u);  // 2048 threads are too many; streaming needs items == 4
  EXPECT_FALSE(space.find(configuration(2048)));
}

TEST(FirstValid, IsFoundAtOnceInASpaceOfAnySize) {
  std::string many;
  for (const char* name : {"p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"})
    many += std::string("#pragma tuner parameter ") + name + " = 1..32\n";
  const KernelSpec spec = parse(with_line(19, many + "#pragma tuner constraint large: p1 + p8 > 20"));
  const ProblemSize size = complete(spec, {});
  const std::optional<Configuration> first = first_valid(spec, size, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(why_invalid(spec, size, {}, *first), std::nullopt);
}

TEST(Enumerate, IsWhatWhyInvalidHasNothingAgainst) {
  const KernelSpec spec = parse(edited(0,
                                       "scratch partials[100 / (items - 1)]\n"
                                       "launch finish\n"
                                       "when items > 1\n"
                                       "grid 65 - block\n"
                                       "block block, items, 128 / block\n"
                                       "shared 512 * block\n"
                                       "arguments partials\n"
                                       "instantiate finish"));
  const ProblemSize size = complete(spec, {});
  const EnumeratedSpace space = enumerate(spec, size, {});
  std::size_t valid = 0;
  for (const Value& block : spec.space.find("block")->values) {
    for (const Value& items : spec.space.find("items")->values) {
      for (const Value& load : spec.space.find("load")->values) {
        const Configuration tested{{"block", block}, {"items", items}, {"load", load}};
        const auto reason = why_invalid(spec, size, {}, tested);
        EXPECT_EQ(space.find(tested).has_value(), !reason) << tested.text() << ": " << reason.value_or("valid");
        valid += !reason;
      }
    }
  }
  EXPECT_EQ(space.size(), valid);
  EXPECT_GT(valid, 0u);
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(128, 2)),
            "launch 'finish': grid of -63x1x1 is empty: its extent in x is -63");
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(64)),
            "buffer 'partials': k.cu:20:36: division by zero (of 100 and 0)");
}

TEST(Enumerate, IsEmptyForASizeThatDoesNotFitItsType) {
  const KernelSpec spec = parse(edited(3, "size n : int = 1000"));
  const ProblemSize size = complete(spec, {{{"n", 2147483648}}, {}});
  EXPECT_TRUE(enumerate(spec, size, {}).empty());
  EXPECT_FALSE(first_valid(spec, size, {}));
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(64)), "n=2147483648 does not fit its type int");
}

TEST(Enumerate, IsEmptyWhereABufferCannotBeCounted) {
  const KernelSpec spec = parse(edited(10, "out c[n * n]"));
  const ProblemSize size = complete(spec, {{{"n", 4000000000}}, {}});
  EXPECT_TRUE(enumerate(spec, size, {}).empty());
  EXPECT_THAT(*why_invalid(spec, size, {}, configuration(64)), HasSubstr("buffer 'c': k.cu:10:23: overflow"));
}

TEST(Enumerate, LeavesOutArgumentsThatDoNotFit) {
  const KernelSpec spec =
      parse(edited(14, "arguments a, b, c, alpha, tile * n : int16, n") + "#pragma tuner arguments a, b, c, alpha\n");
  EXPECT_EQ(enumerate(spec, complete(spec, {{{"n", 500}}, {}}), {}).size(), 3u) << "tiles up to 64, plain";
}

TEST(Enumerate, TakesAnEmptyGridForInvalid) {
  const KernelSpec spec = parse(edited(12, "grid ceil_div(n, tile)"));
  const ProblemSize empty = complete(spec, {{{"n", 0}}, {}});
  EXPECT_TRUE(enumerate(spec, empty, {}).empty());
  EXPECT_EQ(why_invalid(spec, empty, {}, configuration(64)), "grid of 0x1x1 is empty: its extent in x is 0");
}

TEST(Enumerate, RefusesAConfigurationForWhichNothingIsLaunched) {
  const KernelSpec spec = parse(edited(13, "block block\nwhen items > 1"));
  EXPECT_THAT(*why_invalid(spec, complete(spec, {}), {}, configuration(64)), HasSubstr("nothing is launched"));
  EXPECT_FALSE(enumerate(spec, complete(spec, {}), {}).find(configuration(64)));
}

TEST(Enumerate, RefusesAConfigurationForWhichNothingIsTimed) {
  const KernelSpec spec = parse(edited(13, "block block\nuntimed items == 1 or 8 / (items - 2) > 8"));
  const ProblemSize size = complete(spec, {});
  EXPECT_THAT(*why_invalid(spec, size, {}, configuration(64)), HasSubstr("no launch is timed"));
  EXPECT_THAT(*why_invalid(spec, size, {}, configuration(64, 2)), HasSubstr("division by zero"));
  const EnumeratedSpace space = enumerate(spec, size, {});
  EXPECT_FALSE(space.empty());
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i)
    EXPECT_EQ(space.configuration(i).find("items")->integer(), 4) << space.configuration(i).text();
}

DeviceLimits some_gpu() {
  DeviceLimits limits;
  limits.compute_capability = 90;
  return limits;
}

TEST(DeviceLaunches, AreCountedForEachConfiguration) {
  const DeviceLimits gpu = some_gpu();
  const KernelSpec spec = parse(edited(0, "device_launches items == 1 ? 0 : ceil_div(n, tile)"));
  const ProblemSize size = complete(spec, {{{"n", 1000}}, {}});
  EXPECT_EQ(pending_device_launches(spec, size, gpu, configuration(64)), 0);
  EXPECT_EQ(pending_device_launches(spec, size, gpu, configuration(64, 2)), 8);
  EXPECT_FALSE(why_never(spec, gpu));
  EXPECT_FALSE(enumerate(spec, size, gpu).empty());
  EXPECT_EQ(pending_device_launches(parse(kVectorAdd), size, gpu, {}), 0);
}

TEST(DeviceLaunches, NeedAGpu) {
  const KernelSpec spec = parse(edited(0, "device_launches 1"));
  const ProblemSize size = complete(spec, {});
  EXPECT_EQ(why_never(spec, {}), "launches kernels from the device; the host backend cannot");
  EXPECT_EQ(why_invalid(spec, size, {}, *spec.default_configuration),
            "the kernel launches kernels from the device; the host backend cannot");
  EXPECT_TRUE(enumerate(spec, size, {}).empty());
  EXPECT_FALSE(why_never(parse(kVectorAdd), {}));
}

TEST(DeviceLaunches, AreNeverFewerThanNone) {
  const DeviceLimits gpu = some_gpu();
  const KernelSpec spec = parse(edited(0, "device_launches items - 2"));
  const ProblemSize size = complete(spec, {});
  const auto reason = why_invalid(spec, size, gpu, configuration(64));
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, HasSubstr("'items - 2' is negative: -1"));
  const EnumeratedSpace space = enumerate(spec, size, gpu);
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i)
    EXPECT_FALSE(why_invalid(spec, size, gpu, space.configuration(i))) << space.configuration(i).text();
  EXPECT_FALSE(space.empty());
}

TEST(Cooperative, HoldsForTheConfigurationsOfItsCondition) {
  const KernelSpec spec = parse(edited(0,
                                       "launch second\ngrid 4\n"
                                       "block block\narguments c\n"
                                       "instantiate f<T>\n"
                                       "cooperative items > 1"));
  const auto launches = [&](int items) {
    return resolve_launches(spec, complete(spec, {}), {}, configuration(64, items));
  };
  EXPECT_FALSE(launches(1)[1].shape.cooperative);
  EXPECT_TRUE(launches(2)[1].shape.cooperative);
  EXPECT_FALSE(launches(2)[0].shape.cooperative);
}

TEST(Cooperative, AloneHoldsAlways) {
  const KernelSpec spec = parse(edited(0,
                                       "launch second\ngrid 1\n"
                                       "block 1\narguments c\n"
                                       "instantiate f<T>\ncooperative "));
  EXPECT_TRUE(resolve_launches(spec, complete(spec, {}), {}, configuration(64))[1].shape.cooperative);
}

TEST(Cooperative, LeavesOutGridsThatAreNotResidentAtOnce) {
  const KernelSpec spec = parse(edited(13, "block block\ncooperative items < 4"));
  for (const std::int64_t n : {0, 1000, 100'000, 1'000'000}) {
    const ProblemSize size = complete(spec, {{{"n", n}}, {}});
    for (const bool has : {true, false}) {
      DeviceLimits limits;
      limits.sm_count = 20;
      limits.cooperative_launch = has;
      const EnumeratedSpace space = enumerate(spec, size, limits);
      for (const int block : {32, 64, 128})
        for (const int items : {1, 2, 4})
          EXPECT_EQ(space.find(configuration(block, items)).has_value(),
                    !why_invalid(spec, size, limits, configuration(block, items)))
              << n << ' ' << block << ' ' << items;
      EXPECT_TRUE(space.find(configuration(32, 4)));
      EXPECT_TRUE(has || !space.find(configuration(32, 1)));
    }
  }
  DeviceLimits limits;
  limits.sm_count = 20;
  EXPECT_THAT(*why_invalid(spec, complete(spec, {{{"n", 100'000}}, {}}), limits, configuration(128)),
              HasSubstr("a cooperative grid of 782 blocks"));
}

TEST(LaunchAttributes, AreExpressionsOfParametersAndSizes) {
  const KernelSpec spec = parse(edited(13,
                                       "block block\ncluster items, n / 500\n"
                                       "dependent items > 1\ncarveout block - 32"));
  const auto shape = [&](int block, int items) {
    return resolve_launches(spec, complete(spec, {}), {}, configuration(block, items))[0].shape;
  };
  EXPECT_EQ(shape(64, 2).cluster, (std::array<std::int64_t, 3>{2, 2, 1}));
  EXPECT_TRUE(shape(64, 2).dependent);
  EXPECT_EQ(shape(64, 2).carveout, 32);
  EXPECT_FALSE(shape(64, 1).dependent);
  EXPECT_TRUE(spec.verification.reference.at(0).cluster == std::nullopt) << "a reference has none";
  const KernelSpec plain = parse(kVectorAdd);
  EXPECT_FALSE(resolve_launches(plain, complete(plain, {}), {}, configuration(64))[0].shape.has_attributes());
}

TEST(LaunchAttributes, AloneADependentLaunchAlwaysIs) {
  const KernelSpec spec = parse(edited(13, "block block\ndependent"));
  EXPECT_TRUE(resolve_launches(spec, complete(spec, {}), {}, configuration(64))[0].shape.dependent);
}

TEST(LaunchAttributes, LeaveOutWhatTheDeviceCannotLaunch) {
  const KernelSpec spec = parse(edited(13, "block block\ncluster items\ndependent items == 4\ncarveout block"));
  bool some_fit = false;
  for (const int capability : {0, 86, 90})
    for (const std::int64_t n : {100, 1000, 1024}) {
      DeviceLimits limits;
      limits.compute_capability = capability;
      const ProblemSize size = complete(spec, {{{"n", n}}, {}});
      const EnumeratedSpace space = enumerate(spec, size, limits);
      for (const int block : {32, 64, 128})
        for (const int items : {1, 2, 4}) {
          const bool fits = space.find(configuration(block, items)).has_value();
          EXPECT_EQ(fits, !why_invalid(spec, size, limits, configuration(block, items)))
              << capability << ' ' << n << ' ' << block << ' ' << items;
          EXPECT_FALSE(fits && (block == 128 || (capability == 86 && items > 1)));
          some_fit = some_fit || (fits && items == 2);
        }
    }
  EXPECT_TRUE(some_fit);
  DeviceLimits limits;
  EXPECT_THAT(*why_invalid(spec, complete(spec, {{{"n", 1025}}, {}}), limits, configuration(64, 4)),
              HasSubstr("grid of 5x1x1 does not consist of clusters of 4x1x1"));
}

TEST(WhyInvalid, NamesTheConstraintOrTheForeignValue) {
  const KernelSpec spec = parse(kVectorAdd);
  const ProblemSize size = complete(spec, {});
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(64)), std::nullopt);
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(2048)),
            "block of 2048x1x1 = 2048 threads exceeds the limit of 1024 threads per block");
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(64, 1, "streaming")),
            "streams: load != streaming or items == 4 with items=1 load=streaming");
  EXPECT_EQ(why_invalid(spec, size, {}, configuration(65)), "block=65 is not one of: 32 64 128 2048");
}

TEST(ResolveLaunches, ReplacesWholeWordsOnly) {
  const KernelSpec spec = parse(edited(15, "instantiate block_items<T, block, items2, Load::load, T::T, n, 0block>"));
  const auto launches = resolve_launches(spec, complete(spec, {{}, {{"T", "double"}}}), {}, configuration(64));
  EXPECT_EQ(launches[0].expression, "block_items<double, 64, items2, Load::plain, double::double, 1000, 0block>");
  EXPECT_EQ(launches[0].shape, (LaunchShape{{16, 1, 1}, {64, 1, 1}, 0}));
}

TEST(ResolveLaunches, SpellsTypesInCudaAndProtectsNegativeNumbers) {
  const KernelSpec spec = parse(
      "#pragma tuner kernel k\n#pragma tuner type T = half\n#pragma tuner type R of T = half:int64\n#pragma tuner size "
      "n = 1\n"
      "#pragma tuner parameter p = -3 5\n#pragma tuner parameter q = false true\n#pragma tuner out c[n]\n"
      "#pragma tuner instantiate f<T, R, n-p, q>\n#pragma tuner grid 1\n#pragma tuner block 1\n#pragma tuner arguments "
      "c\n");
  const auto launches = resolve_launches(spec, complete(spec, {}), {}, {{"p", -3}, {"q", true}});
  EXPECT_EQ(launches[0].expression, "f<__half, long long, 1-(-3), true>");
}

TEST(Types, FollowTheChoicesOfTheCaller) {
  const KernelSpec spec = parse(edited(2, "type T = int8 half double\ntype R of T = int8:int64 half:float"));
  const auto resolved = [&](const char* choice, const char* type) {
    return resolved_type(spec, complete(spec, {{}, {{"T", choice}}}), type);
  };
  EXPECT_EQ(resolved("int8", "R"), ElementType::int64);
  EXPECT_EQ(resolved("half", "R"), ElementType::float32);
  EXPECT_EQ(resolved("double", "R"), ElementType::float64);
  EXPECT_EQ(resolved("double", "T"), ElementType::float64);
  EXPECT_EQ(resolved("double", "int32"), ElementType::int32);
  EXPECT_THROW(resolved("double", "n"), Error);
}

TEST(Tolerance, GrowsWithTheRootOfTheNumberOfTerms) {
  const KernelSpec spec = parse(edited(0, "accumulates n"));
  const ProblemSize size = complete(spec, {{{"n", 1000000}}, {}});
  EXPECT_DOUBLE_EQ(tolerance_for(spec, size, {}, ElementType::float32).relative, 0x1p-24 * 1016);
  EXPECT_EQ(tolerance_for(spec, size, {}, ElementType::int32).relative, 0);
}

TEST(Tolerance, OfTf32FollowsFromItsBits) {
  const KernelSpec spec = parse(edited(0, "accumulates n"));
  const ProblemSize size = complete(spec, {{{"n", 1000000}}, {}});
  EXPECT_DOUBLE_EQ(tolerance_for(spec, size, {}, ElementType::tf32).relative, 0x1p-11 * 1016);
}

TEST(Tolerance, IsTheAuthorsWhereHeGivesOneExceptForIntegers) {
  const KernelSpec spec = parse(edited(0, "tolerance relative 0.5"));
  EXPECT_EQ(tolerance_for(spec, complete(spec, {}), {}, ElementType::half).relative, 0.5);
  EXPECT_EQ(tolerance_for(spec, complete(spec, {}), {}, ElementType::int8).relative, 0);
}

TEST(Fill, GivesIntegersMoreThanZeroesByDefault) {
  EXPECT_EQ(Fill::by_default(ElementType::float32).high, 1);
  EXPECT_EQ(Fill::by_default(ElementType::uint8).high, 10);
}

}  // namespace
}  // namespace tuner
