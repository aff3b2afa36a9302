#include <tuner/runtime/call/plan.hpp>
#include <tuner/runtime/call/plan_table.hpp>
#include <tuner/runtime/call/scalar_key.hpp>

#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>

#include <atomic>
#include <bit>
#include <cmath>
#include <thread>

#include <tests/support/in_threads.hpp>
#include <tests/support/processor_time.hpp>
#include <tests/support/testing.hpp>

#include <tests/runtime/served_backend.hpp>

namespace tuner::runtime {
namespace {

TEST(ScalarKeys, OfAStructWithOtherIntegersAreThoseWithoutAResult) {
  const KernelSpec spec = parse_kernel_file(
      "#pragma tuner kernel k\n#pragma tuner size n\n#pragma tuner parameter p = 1\n#pragma tuner out y[n] : float\n"
      "#pragma tuner scalar a : int = 3\n#pragma tuner scalar pass : { float factor; int shift[2]; } = { 2, n, 5 }\n"
      "#pragma tuner grid 1\n#pragma tuner block 1\n#pragma tuner arguments y, a, pass\n"
      "#pragma tuner instantiate k\n#pragma tuner reference k\n",
      "k.cu");
  struct Pass {
    float factor;
    int shift[2];
  };
  ScalarKeys keys(spec, {});
  const auto key = [&](int a, const Pass& pass) {
    float* const y = nullptr;
    const detail::LaunchArgument list[] = {detail::launch_argument(a), detail::launch_argument(y),
                                           detail::launch_argument(pass)};
    const Sizes sizes{10};
    return keys.of({nullptr, {}, sizes, list, 3});
  };
  EXPECT_EQ(key(3, {2, {10, 5}}), 0u);
  EXPECT_EQ(key(3, {7, {10, 5}}), 0u) << "a floating member may have any value";
  EXPECT_EQ(key(3, {2, {11, 5}}), kOtherScalars);
  EXPECT_EQ(key(3, {2, {10, 6}}), kOtherScalars);
  EXPECT_GT(key(4, {2, {10, 5}}), kOtherScalars);
}

class PlanTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<Plan> plan_of(std::int64_t n, const char* chosen = "block=32") {
    auto plan = std::make_shared<Plan>(backend_);
    plan->key = key(n);
    plan->configuration = Configuration::parse(chosen);
    return plan;
  }
  /// The plan that the table has for it. \p only: the one size that the plan serves, of its class.
  const Plan* insert(std::int64_t n, std::optional<std::int64_t> only = std::nullopt, const char* chosen = "block=32") {
    auto plan = plan_of(n, chosen);
    if (only) plan->only = Sizes{*only};
    return table_.insert(std::move(plan), Sizes{only.value_or(n)}, table_.generation()).get();
  }
  const Plan* find(const PlanKey& wanted) { return find(wanted, wanted.classes); }
  const Plan* find(const PlanKey& wanted, const Sizes& sizes) {
    Plan::Shapes shapes;
    return table_.find(wanted, sizes, shapes);
  }
  static PlanKey key(std::int64_t n) { return {{0x1a}, 0, {n}}; }

  testing::ServedBackend backend_;
  PlanTable table_;
};

TEST_F(PlanTableTest, FindsEveryPlanThatWasInserted) {
  EXPECT_EQ(find(key(1)), nullptr);
  for (std::int64_t n = 0; n < 1000; ++n) insert(n);
  for (std::int64_t n = 0; n < 1000; ++n) {
    const Plan* found = find(key(n));
    ASSERT_NE(found, nullptr) << n;
    EXPECT_EQ(found->key.classes[0], n);
  }
  EXPECT_EQ(find(key(1000)), nullptr);
}

TEST_F(PlanTableTest, FindsTheFirstOfTwoPlansForTheSameSizes) {
  const Plan* first = insert(7);
  EXPECT_NE(insert(7, std::nullopt, "block=64"), first);
  EXPECT_EQ(insert(7), first) << "an equal one is not kept twice";
  EXPECT_EQ(find(key(7)), first);
}

TEST_F(PlanTableTest, FindsThePlanOfASingleSizeWithoutLookingAtTheOthersOfItsClass) {
  constexpr std::int64_t kSizes = 4000;
  for (std::int64_t n = 0; n < kSizes; ++n) insert(1 << 20, (1 << 20) + n);
  const auto time_of = [&](std::int64_t n) {
    const double start = testing::processor_seconds();
    for (int i = 0; i < 1000; ++i) {
      const Plan* plan = find(key(1 << 20), Sizes{(1 << 20) + n});
      if (plan == nullptr || *plan->only != Sizes{(1 << 20) + n}) ADD_FAILURE();
    }
    return testing::processor_seconds() - start;
  };
  double first = time_of(0), last = time_of(kSizes - 1);
  for (int i = 0; i < 10; ++i) first = std::min(first, time_of(0)), last = std::min(last, time_of(kSizes - 1));
  EXPECT_LT(last, 100 * first) << "one after the other it takes 4000 times as long";
}

TEST_F(PlanTableTest, TriesFewPlansOfAClassAndKeepsFurtherOnesForTheirSizes) {
  const std::string names[] = {"n"};
  const OpenExpression value(Expression::parse("n", {}), names, {});
  // None serves another size than its own, by a condition.
  const auto insert_for = [&](std::int64_t n) {
    auto plan = plan_of(1024);
    plan->conditions = {{value, n, n, false}};
    return table_.insert(std::move(plan), Sizes{n}, 0);
  };
  for (std::int64_t n = 1024; n < 1124; ++n) {
    const bool within = n < 1024 + static_cast<std::int64_t>(PlanTable::kMaxOfClass);
    EXPECT_EQ(insert_for(n)->only.has_value(), !within) << n;
  }
  for (std::int64_t n = 1024; n < 1124; ++n) EXPECT_NE(find(key(1024), Sizes{n}), nullptr) << n;
}

TEST_F(PlanTableTest, FindsThePlanOfAClassThatAdmitsTheSizesAlsoWhenTheTableHasGrown) {
  const Plan* even = insert(64, 64);
  const Plan* odd = insert(64, 65);
  for (std::int64_t n = 1000; n < 1100; ++n) insert(n);
  const Plan* third = insert(64, 66);
  EXPECT_EQ(find(key(64), Sizes{64}), even);
  EXPECT_EQ(find(key(64), Sizes{65}), odd);
  EXPECT_EQ(find(key(64), Sizes{66}), third);
  EXPECT_EQ(find(key(64), Sizes{67}), nullptr);
}

TEST_F(PlanTableTest, IsReadWhileItGrows) {
  const Plan* const first = insert(0);
  std::atomic<bool> growing{true};
  std::thread reader([&] {
    while (growing) ASSERT_EQ(find(key(0)), first);
  });
  for (std::int64_t n = 1; n < 1000; ++n) insert(n);
  growing = false;
  reader.join();
}

TEST_F(PlanTableTest, TellsApartPatternsConstantsAndNumbersOfSizes) {
  insert(7);
  EXPECT_EQ(find({{0x1b}, 0, {7}}), nullptr);
  EXPECT_EQ(find({{0x1a, 1}, 0, {7}}), nullptr);
  EXPECT_EQ(find({{0x1a}, 1, {7}}), nullptr);
  EXPECT_EQ(find({{0x1a}, 0, {7, 0}}), nullptr);
}

TEST_F(PlanTableTest, MissesOldPlansOnceRenewedButKeepsThemAlive) {
  const Plan* old = insert(7);
  table_.renew(RenewedPlans::all);
  EXPECT_EQ(find(key(7)), nullptr);
  EXPECT_EQ(old->key.classes[0], 7);
  const Plan* other = insert(7, std::nullopt, "block=64");
  EXPECT_NE(other, old);
  EXPECT_EQ(find(key(7)), other);
}

TEST_F(PlanTableTest, KnowsWhichPlanServedLast) {
  Plan::Shapes shapes;
  EXPECT_EQ(table_.find_last(key(7), Sizes{7}, shapes), nullptr);
  const Plan* old = insert(7);
  table_.renew(RenewedPlans::all);
  EXPECT_EQ(table_.find_last(key(7), Sizes{7}, shapes).get(), old);
  const Plan* other = insert(7, std::nullopt, "block=64");
  EXPECT_EQ(table_.find_last(key(7), Sizes{7}, shapes).get(), other);
}

TEST_F(PlanTableTest, TakesAPlanAgainThatNewWisdomDidNotChange) {
  const Plan* old = insert(7);
  for (std::size_t i = 0; i < 2 * PlanTable::kMaxPlans; ++i) {
    table_.renew(RenewedPlans::all);
    ASSERT_EQ(insert(7), old);
    ASSERT_EQ(find(key(7)), old);
  }
}

TEST_F(PlanTableTest, KeepsNoPlanThatWasDecidedBeforeNewWisdomCame) {
  const std::uint64_t before = table_.generation();
  table_.renew(RenewedPlans::all);
  EXPECT_NE(table_.insert(plan_of(7), Sizes{7}, before), nullptr) << "for the call at hand";
  EXPECT_EQ(find(key(7)), nullptr);
}

TEST_F(PlanTableTest, RenewsWhatWaitsWhereAPlanWasMadeForNow) {
  insert(7);
  table_.renew(RenewedPlans::waiting);
  EXPECT_NE(find(key(7)), nullptr);
  table_.insert(plan_of(8), Sizes{8}, table_.generation(), /*for_now=*/true);
  EXPECT_NE(find(key(8)), nullptr);
  table_.renew(RenewedPlans::waiting);
  EXPECT_EQ(find(key(8)), nullptr);
}

TEST_F(PlanTableTest, RenewsWhatMayComeFromAResultThatIsGone) {
  const auto insert_from_user = [&](std::int64_t n, std::uint64_t generation) {
    return table_.insert(plan_of(n), Sizes{n}, generation, /*for_now=*/false, /*from_user=*/true);
  };
  insert(6);
  insert_from_user(7, table_.generation());
  table_.renew(RenewedPlans::none);
  insert_from_user(8, table_.generation());
  EXPECT_NE(find(key(7)), nullptr);
  EXPECT_NE(find(key(8)), nullptr);
  table_.renew(RenewedPlans::recent);
  EXPECT_EQ(find(key(7)), nullptr);
  EXPECT_EQ(find(key(8)), nullptr) << "inserted since this look began";

  const std::uint64_t before = table_.generation();
  table_.renew(RenewedPlans::none);
  table_.renew(RenewedPlans::recent);
  EXPECT_NE(insert_from_user(9, before), nullptr) << "for the call at hand";
  EXPECT_EQ(find(key(9)), nullptr) << "its result may have been removed while it was made";
  table_.insert(plan_of(10), Sizes{10}, before);
  EXPECT_NE(find(key(10)), nullptr) << "a default cannot be removed";
}

TEST_F(PlanTableTest, FindsTheLatestPlansHoweverManyThereWereInBoundedMemory) {
  constexpr auto kAll = static_cast<std::int64_t>(2 * (PlanTable::kMaxPlans + PlanTable::kMaxRecent));
  std::weak_ptr<const Plan> displaced;
  for (std::int64_t n = 0; n < kAll; ++n) {
    insert(n);
    Plan::Shapes shapes;
    const std::shared_ptr<const Plan> recent = table_.find_recent(key(n), Sizes{n}, shapes);
    ASSERT_EQ(recent == nullptr, n < static_cast<std::int64_t>(PlanTable::kMaxPlans)) << n;
    if (n == static_cast<std::int64_t>(PlanTable::kMaxPlans)) displaced = recent;
  }
  EXPECT_NE(find(key(0)), nullptr);
  EXPECT_TRUE(displaced.expired());
}

TEST_F(PlanTableTest, KeepsThePlansOfSeveralWritersWhileAReaderSearches) {
  constexpr std::int64_t kWriters = 4, kPlans = 1000;
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      for (std::int64_t n = 0; n < kWriters * kPlans; ++n) {
        const Plan* const found = find(key(n));
        EXPECT_TRUE(found == nullptr || found->key.classes[0] == n);
      }
    }
  });
  testing::in_threads(kWriters, [&](std::int64_t writer) {
    for (std::int64_t n = 0; n < kPlans; ++n) insert(writer * kPlans + n);
  });
  done = true;
  reader.join();
  for (std::int64_t n = 0; n < kWriters * kPlans; ++n) EXPECT_NE(find(key(n)), nullptr) << n;
}

using From = ParameterSource::Kind;

ParameterSource constant(std::int64_t value) { return {From::constant, 0, ElementType::int64, Argument::of(value)}; }

OpenExpression of_n(const char* text) {
  const std::string names[] = {"n"};
  return {Expression::parse(text, {}), names, {}};
}

class PlanTest : public ::testing::Test {
 protected:
  Plan plan_of(std::vector<PlannedLaunch> launches) {
    Plan plan(backend_);
    plan.module = std::make_shared<testing::ServedModule>();
    plan.launches = std::move(launches);
    return plan;
  }
  PlannedLaunch launch(std::vector<ParameterSource> parameters) {
    backend_.parameters_per_launch = parameters.size();
    PlannedLaunch planned;
    planned.parameters = std::move(parameters);
    return planned;
  }

  /// Launches \p plan for \p n and \p arguments on the default stream.
  template <typename... Arguments>
  bool run(const Plan& plan, std::int64_t n, const WorkSpace& work, Arguments... arguments) {
    const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
    const Sizes sizes{n};
    Plan::Shapes shapes;
    if (!plan.admits(sizes, shapes)) return false;
    plan.launch({nullptr, {}, sizes, list, sizeof...(arguments)}, shapes, work);
    return true;
  }

  testing::ServedBackend backend_;
  float buffer_ = 0;
};

TEST_F(PlanTest, PassesPointersNumbersSizesAndConstantsInTheKernelsOrder) {
  Plan plan = plan_of({launch({{From::pointer, 1, {}, {}},
                               constant(42),
                               {From::number, 0, ElementType::float64, {}},
                               {From::size, 0, ElementType::uint64, {}}})});
  ASSERT_TRUE(run(plan, 7, {}, 2.5, &buffer_));
  EXPECT_THAT(backend_.enqueued.at(0).parameters,
              ElementsAre(reinterpret_cast<std::uint64_t>(&buffer_), 42u, std::bit_cast<std::uint64_t>(2.5), 7u));
}

TEST_F(PlanTest, ConvertsNumbersToTheKernelsType) {
  Plan plan = plan_of({launch({{From::number, 0, ElementType::float32, {}},
                               {From::number, 1, ElementType::int64, {}},
                               {From::number, 2, ElementType::half, {}}})});
  backend_.parameter_bytes = {4, 8, 2};
  ASSERT_TRUE(run(plan, 1, {}, 3, std::int64_t{1} << 60, 1.5));
  EXPECT_THAT(backend_.enqueued.at(0).parameters,
              ElementsAre(std::bit_cast<std::uint32_t>(3.0f), std::uint64_t{1} << 60, 0x3e00u));
}

TEST_F(PlanTest, RefusesNumbersThatTheKernelsTypeCannotHold) {
  const auto given = [&](auto number) {
    Plan plan = plan_of({launch({constant(1)}), launch({{From::number, 0, ElementType::int32, {}}})});
    return error_of([&] { run(plan, 1, {}, number); });
  };
  EXPECT_THAT(given(INFINITY), HasSubstr("int, which cannot hold inf"));
  EXPECT_THAT(given(std::nan("")), HasSubstr("nan"));
  EXPECT_THAT(given(std::int64_t{1} << 31), HasSubstr("2147483648"));
  EXPECT_THAT(given(-2147483649.0), HasSubstr("-2147483649"));
  EXPECT_TRUE(backend_.enqueued.empty()) << "also of the launch before";
  given(-2147483648.0);
  EXPECT_EQ(backend_.enqueued.size(), 2u);
}

TEST_F(PlanTest, WorksOutExtentsForEachCallsSizes) {
  PlannedLaunch grid = launch({});
  grid.shape.block[0] = 32;
  grid.sized = {{0, of_n("ceil_div(n, 32)")}, {6, of_n("n * 4")}};
  const Plan plan = plan_of({grid});
  ASSERT_TRUE(run(plan, 100, {}));
  EXPECT_EQ(backend_.enqueued.at(0).shape.grid[0], 4);
  EXPECT_EQ(backend_.enqueued.at(0).shape.block[0], 32);
  EXPECT_EQ(backend_.enqueued.at(0).shape.shared_bytes, 400);
}

TEST_F(PlanTest, AdmitsOnlySizesThatMeetItsConditions) {
  const auto admits = [&](std::int64_t n) {
    Plan plan = plan_of({launch({})});
    plan.conditions = {{of_n("n <= 4194304"), 1, 1, true}, {of_n("100 / (n - 8)"), -100, 100, false}};
    return run(plan, n, {});
  };
  EXPECT_TRUE(admits(4194304));
  EXPECT_FALSE(admits(4194305));
  EXPECT_FALSE(admits(8)) << "a condition without an answer";
}

TEST_F(PlanTest, DoesNotAdmitSizesWhoseLaunchPassesTheDevicesLimits) {
  PlannedLaunch wide = launch({});
  wide.sized = {{1, of_n("n")}};
  wide.may_exceed = true;
  const Plan plan = plan_of({wide});
  EXPECT_TRUE(run(plan, 65535, {}));
  EXPECT_FALSE(run(plan, 65536, {}));
  EXPECT_FALSE(run(plan, 0, {}));
}

TEST_F(PlanTest, DoesNotAdmitSizesWhoseCooperativeGridIsNotResidentAtOnce) {
  PlannedLaunch meeting = launch({});
  meeting.shape.cooperative = true;
  meeting.sized = {{0, of_n("n")}};
  meeting.resident = 3 * std::int64_t{backend_.device().limits.sm_count};
  const Plan plan = plan_of({meeting});
  const int most = 3 * backend_.device().limits.sm_count;
  EXPECT_TRUE(run(plan, most, {}));
  EXPECT_TRUE(backend_.enqueued.at(0).shape.cooperative);
  EXPECT_FALSE(run(plan, most + 1, {}));
}

TEST_F(PlanTest, ServesItsOwnSizesAloneWhereTheyArePartOfTheCode) {
  Plan plan = plan_of({launch({})});
  plan.only = Sizes{17};
  EXPECT_TRUE(run(plan, 17, {}));
  EXPECT_FALSE(run(plan, 18, {}));
}

TEST_F(PlanTest, PassesPlacesInTheWorkSpaceOfTheCall) {
  Plan plan = plan_of({launch({{From::zeroed, 0, {}, {}}, {From::scratch, 256, {}, {}}})});
  run(plan, 1, {0x1000, 0x2000});
  EXPECT_THAT(backend_.enqueued.at(0).parameters, ElementsAre(0x1000u, 0x2100u));
}

TEST_F(PlanTest, EnqueuesAllLaunchesInOrder) {
  Plan plan = plan_of({launch({}), launch({}), launch({})});
  for (std::size_t i = 0; i < 3; ++i) plan.launches[i].function = i;
  run(plan, 1, {});
  ASSERT_EQ(backend_.enqueued.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(backend_.enqueued[i].function, i);
}

}  // namespace
}  // namespace tuner::runtime
