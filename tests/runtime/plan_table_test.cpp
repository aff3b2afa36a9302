#include <tuner/runtime/plan_table.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "fake_backend.hpp"

namespace tuner::runtime {
namespace {

class PlanTableTest : public ::testing::Test {
 protected:
  /// Null when the table does not take it. \p only: the one size that the plan serves, of its class.
  const Plan* insert(std::int64_t n, std::optional<std::int64_t> only = std::nullopt) {
    auto plan = std::make_unique<Plan>(backend_);
    plan->key = key(n);
    if (only) plan->only = Sizes{*only};
    const Plan* const given = plan.get();
    table_.insert(plan);
    return plan == nullptr ? given : nullptr;
  }
  const Plan* find(const PlanKey& wanted) {
    Plan::Shapes shapes;
    return table_.find(wanted, wanted.classes, shapes);
  }
  static PlanKey key(std::int64_t n) { return {0x1a, 0, {n}}; }

  testing::FakeBackend backend_;
  PlanTable table_;
};

TEST_F(PlanTableTest, FindsNothingWhileEmpty) { EXPECT_EQ(find(key(1)), nullptr); }

TEST_F(PlanTableTest, FindsEveryPlanThatWasInserted) {
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
  EXPECT_NE(insert(7), first);
  EXPECT_EQ(find(key(7)), first);
}

TEST_F(PlanTableTest, FindsThePlanOfAClassThatAdmitsTheSizesAlsoWhenTheTableHasGrown) {
  const Plan* even = insert(64, 64);
  const Plan* odd = insert(64, 65);
  for (std::int64_t n = 1000; n < 1100; ++n) insert(n);
  const Plan* third = insert(64, 66);
  Plan::Shapes shapes;
  EXPECT_EQ(table_.find(key(64), Sizes{64}, shapes), even);
  EXPECT_EQ(table_.find(key(64), Sizes{65}, shapes), odd);
  EXPECT_EQ(table_.find(key(64), Sizes{66}, shapes), third);
  EXPECT_EQ(table_.find(key(64), Sizes{67}, shapes), nullptr);
}

TEST_F(PlanTableTest, TellsApartPatternsConstantsAndNumbersOfSizes) {
  insert(7);
  EXPECT_EQ(find({0x1b, 0, {7}}), nullptr);
  EXPECT_EQ(find({0x1a, 1, {7}}), nullptr);
  EXPECT_EQ(find({0x1a, 0, {7, 0}}), nullptr);
}

TEST_F(PlanTableTest, MissesOldPlansOnceRenewedButKeepsThemAlive) {
  const Plan* old = insert(7);
  table_.renew();
  EXPECT_EQ(find(key(7)), nullptr);
  EXPECT_EQ(old->key.classes[0], 7);
  EXPECT_NE(insert(7), old);
  EXPECT_NE(find(key(7)), nullptr);
}

TEST_F(PlanTableTest, KeepsABoundedNumberOfPlans) {
  for (std::size_t n = 0; n < PlanTable::kMaxPlans; ++n) ASSERT_NE(insert(static_cast<std::int64_t>(n)), nullptr);
  EXPECT_EQ(insert(-1), nullptr);
}

TEST_F(PlanTableTest, LetsReadersSearchWhileAWriterInserts) {
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      for (std::int64_t n = 0; n < 500; ++n) {
        const Plan* found = find(key(n));
        if (found != nullptr) {
          EXPECT_EQ(found->key.classes[0], n);
        }
      }
    }
  });
  for (std::int64_t n = 0; n < 500; ++n) insert(n);
  done = true;
  reader.join();
  EXPECT_NE(find(key(499)), nullptr);
}

TEST_F(PlanTableTest, KeepsThePlansOfSeveralWriters) {
  constexpr std::int64_t kWriters = 4, kPlans = 1000;
  std::vector<std::thread> writers;
  for (std::int64_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      for (std::int64_t n = 0; n < kPlans; ++n) insert(writer * kPlans + n);
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (std::int64_t n = 0; n < kWriters * kPlans; ++n) EXPECT_NE(find(key(n)), nullptr) << n;
}

}  // namespace
}  // namespace tuner::runtime
