#include <tuner/runtime/plan_table.hpp>

#include <gtest/gtest.h>

#include <thread>

#include "fake_backend.hpp"

namespace tuner::runtime {
namespace {

class PlanTableTest : public ::testing::Test {
 protected:
  std::unique_ptr<Plan> plan(std::int64_t n) {
    PlanParts parts;
    parts.key = key(n);
    return std::make_unique<Plan>(backend_, std::move(parts));
  }
  static PlanKey key(std::int64_t n) { return {1, 0x1a, {n}}; }

  testing::FakeBackend backend_;
  PlanTable table_;
};

TEST_F(PlanTableTest, FindsNothingWhileEmpty) { EXPECT_EQ(table_.find(key(1)), nullptr); }

TEST_F(PlanTableTest, FindsEveryPlanThatWasInserted) {
  for (std::int64_t n = 0; n < 1000; ++n) table_.insert(plan(n));
  for (std::int64_t n = 0; n < 1000; ++n) {
    const Plan* found = table_.find(key(n));
    ASSERT_NE(found, nullptr) << n;
    EXPECT_EQ(found->key().sizes[0], n);
  }
  EXPECT_EQ(table_.find(key(1000)), nullptr);
}

TEST_F(PlanTableTest, KeepsTheFirstOfTwoPlansForOneKey) {
  const Plan& first = table_.insert(plan(7));
  EXPECT_EQ(&table_.insert(plan(7)), &first);
}

TEST_F(PlanTableTest, TellsApartContextsPatternsAndNumbersOfSizes) {
  table_.insert(plan(7));
  EXPECT_EQ(table_.find({2, 0x1a, {7}}), nullptr);
  EXPECT_EQ(table_.find({1, 0x1b, {7}}), nullptr);
  EXPECT_EQ(table_.find({1, 0x1a, {7, 0}}), nullptr);
}

TEST_F(PlanTableTest, MissesOldPlansOnceRenewedButKeepsThemAlive) {
  const Plan& old = table_.insert(plan(7));
  table_.renew();
  EXPECT_EQ(table_.find(key(7)), nullptr);
  EXPECT_EQ(old.key().sizes[0], 7);
  EXPECT_NE(&table_.insert(plan(7)), &old);
  EXPECT_NE(table_.find(key(7)), nullptr);
}

TEST_F(PlanTableTest, SaysWhenItIsFull) {
  EXPECT_FALSE(table_.full());
  for (std::size_t n = 0; n < PlanTable::kMaxPlans; ++n) table_.insert(plan(static_cast<std::int64_t>(n)));
  EXPECT_TRUE(table_.full());
}

TEST_F(PlanTableTest, LetsReadersSearchWhileAWriterInserts) {
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      for (std::int64_t n = 0; n < 500; ++n) {
        const Plan* found = table_.find(key(n));
        if (found != nullptr) {
          EXPECT_EQ(found->key().sizes[0], n);
        }
      }
    }
  });
  for (std::int64_t n = 0; n < 500; ++n) table_.insert(plan(n));
  done = true;
  reader.join();
  EXPECT_NE(table_.find(key(499)), nullptr);
}

}  // namespace
}  // namespace tuner::runtime
