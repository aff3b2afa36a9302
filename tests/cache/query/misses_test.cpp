#include <limits>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

MissRecord miss(std::int64_t n, std::int64_t calls, double each_ns) {
  MissRecord record;
  record.kernel = reduce_kernel();
  record.problem = problem(n);
  record.sizes_from = {{"n", n / 128 * 128}};
  record.device_key = h200().key;
  record.file = "reduce";
  record.served = "default";
  record.calls = calls;
  record.each_ns = each_ns;
  record.first_ms = record.last_ms = 1'000'000 + n;
  return record;
}

std::vector<std::int64_t> sizes_of(const std::vector<MissRecord>& misses) {
  std::vector<std::int64_t> all;
  for (const MissRecord& one : misses) all.push_back(one.problem.sizes.at("n"));
  return all;
}

using Misses = DatabaseTest;

TEST_F(Misses, AddUpOverProcesses) {
  for (const std::int64_t n : {1000, 1020, 1000}) {
    use_file();
    remember_misses(database, {miss(n, 3, 50)});
  }
  database = Database::open_read_only(file);
  const auto all = misses(database);
  ASSERT_EQ(all.size(), 1u) << "1000 and 1020 are served alike";
  EXPECT_EQ(all[0].problem, problem(1000)) << "the first that was met";
  EXPECT_EQ(all[0].calls, 9);
  EXPECT_EQ(all[0].spent_ns(), 450);
  EXPECT_EQ(all[0].first_ms, 1'001'000);
  EXPECT_EQ(all[0].last_ms, 1'001'020);
  EXPECT_EQ(all[0].file, "reduce");
  EXPECT_TRUE(doctor(database).empty());
  EXPECT_EQ(statistics(database).misses, 1);
}

TEST_F(Misses, ThatMayNotBeStoredKeepNoOthersAway) {
  MissRecord bad = miss(2000, 3, 50);
  bad.file = "a\nb";
  remember_misses(database, {bad, miss(4000, -1, 3), miss(1000, 3, 50)});
  EXPECT_THAT(sizes_of(misses(database)), ElementsAre(1000));
}

TEST_F(Misses, AreSortedByTheTimeSpentInThem) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  remember_misses(database, {miss(1000, 5, unknown), miss(2000, 10, 30), miss(4000, 2, 500), miss(8000, 9, unknown)});
  EXPECT_THAT(sizes_of(misses(database)), ElementsAre(4000, 2000, 8000, 1000));
  remember_misses(database, {miss(4000, 2, unknown)});
  EXPECT_EQ(misses(database).at(0).spent_ns(), 2000) << "by the time that was known before";
}

TEST_F(Misses, AreNoneOnceTheirProblemIsTuned) {
  remember_misses(database, {miss(1 << 20, 5, 40), miss(1000, 5, 40)});
  store_best(database, session_key(1 << 20), "block=1", 10);
  EXPECT_THAT(sizes_of(misses(database)), ElementsAre(1000));
  remember_misses(database, {miss(1 << 20, 5, 40)});
  EXPECT_THAT(sizes_of(misses(database)), ElementsAre(1000)) << "what was counted before is too late";
}

TEST_F(Misses, StayWhileTheirTuningIsCutShort) {
  remember_misses(database, {miss(1 << 20, 5, 40)});
  {
    SessionWriter writer(database, session_key(1 << 20));
    writer.add(trial("block=1", 10));
    writer.set_best("block=1");
  }
  EXPECT_EQ(misses(database).size(), 1u);
  store_best(database, session_key(1 << 20), "block=1", 10);
  EXPECT_TRUE(misses(database).empty());
}

TEST_F(Misses, AreNoNewResults) {
  const std::string before = results_stamp(database);
  remember_misses(database, {miss(1000, 5, 40)});
  EXPECT_EQ(results_stamp(database), before);
}

TEST_F(Misses, CanBeForgotten) {
  MissRecord other = miss(3000, 1, 1);
  other.kernel.name = "scan";
  other.device_key = h100().key;
  remember_misses(database, {miss(1000, 1, 3), miss(2000, 1, 2), other});
  EXPECT_THAT(sizes_of(misses(database, {.device_key = h100().key})), ElementsAre(3000));
  EXPECT_THAT(sizes_of(misses(database, {.kernel = "reduce"})), ElementsAre(1000, 2000));
  EXPECT_EQ(forget_miss(database, miss(1000, 7, 8)), 1);
  EXPECT_THAT(sizes_of(misses(database)), ElementsAre(2000, 3000));
  EXPECT_EQ(forget_misses(database, {.kernel = "reduce"}), 1);
  EXPECT_THAT(sizes_of(misses(database)), ElementsAre(3000));
  EXPECT_EQ(forget_misses(database, {.device_key = "another"}), 0);
  EXPECT_EQ(forget_misses(database, {}), 1);
}

TEST_F(Misses, AreAddedToAFullTableWithoutReadingAllOfIt) {
  std::vector<MissRecord> all;
  for (std::int64_t n = 0; n < kMaxMisses; ++n) all.push_back(miss(128 * n, 1, 3));
  remember_misses(database, all);
  const auto steps_for = [&](std::int64_t first) {
    // Reading each row once takes several thousand steps.
    const auto remember = [&] { remember_misses(database, {all.begin() + first, all.begin() + first + 500}); };
    return steps_of(database, remember, 100);
  };
  EXPECT_LT(steps_for(1000), 10'000) << "known ones";
  for (auto& one : all) one.sizes_from["n"] += 1'000'000'000;
  EXPECT_LT(steps_for(1000), 20'000) << "new ones";
  EXPECT_EQ(misses(database).size(), static_cast<std::size_t>(kMaxMisses));
}

}  // namespace
}  // namespace tuner::cache::test
