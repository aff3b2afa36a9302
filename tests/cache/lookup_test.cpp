#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cache/lookup.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Wisdom, IsExactWhenAllIsAsItWasMeasured) {
  const TemporaryFolder folder;
  auto database = Database::open_user(folder / "wisdom.db");
  store_best(database, session_key(), "block=256", 1000);
  const auto match = find(database, query());
  EXPECT_EQ(match.tier, Tier::exact);
  ASSERT_TRUE(match);
  EXPECT_EQ(match.best->configuration, "block=256");
  EXPECT_EQ(match.best->median_ns, 1000);
  EXPECT_EQ(match.best->samples, 3);
  EXPECT_EQ(match.best->device, h200());
  EXPECT_EQ(match.best->environment, environment());
  EXPECT_EQ(match.best->problem.sizes, (Sizes{{"n", 1 << 20}}));
  EXPECT_EQ(match.database, (folder / "wisdom.db").string());
  EXPECT_FALSE(match.shipped);
  EXPECT_TRUE(match.rejected.empty());
}

TEST(Wisdom, IsStillExactForAnotherVersionOfTuner) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=256", 1000);
  auto q = query();
  q.environment.tuner = "9.9";
  EXPECT_EQ(find(database, q).tier, Tier::exact);
}

TEST(Wisdom, IsStaleWhenDriverCompilerOrSourceHaveChanged) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=256", 1000);
  auto q = query();
  q.environment.driver = "14.1";
  auto match = find(database, q);
  EXPECT_EQ(match.tier, Tier::stale);
  EXPECT_THAT(match.reason, AllOf(HasSubstr("13.0"), HasSubstr("14.1")));
  q.kernel.source_hash = std::string(64, 'b');
  match = find(database, q);
  EXPECT_EQ(match.tier, Tier::stale);
  EXPECT_THAT(match.reason, HasSubstr("source"));
}

TEST(Wisdom, PrefersTheSameSourceAmongStaleOnes) {
  auto database = Database::in_memory();
  auto key = session_key();
  key.environment.driver = "12.0";
  store_best(database, key, "same_source=1", 1000);
  key = session_key();
  key.kernel.source_hash = std::string(64, 'b');
  store_best(database, key, "other_source=1", 1000);
  auto q = query();
  q.environment.driver = "14.1";
  EXPECT_EQ(find(database, q).best->configuration, "same_source=1");
}

TEST(Wisdom, PrefersTheNearestSizeWhenNoExactMatchExists) {
  auto database = Database::in_memory();
  store_best(database, session_key(1000), "block=1", 1000);
  store_best(database, session_key(1500), "block=2", 1000);
  store_best(database, session_key(4000), "block=3", 1000);
  const auto match = find(database, query(1400));
  EXPECT_EQ(match.tier, Tier::nearest_size);
  EXPECT_EQ(match.best->configuration, "block=2");
  EXPECT_THAT(match.reason, HasSubstr("n=1500"));
}

TEST(Wisdom, TakesANearestSizeOnlyWithinAFactorOfTwo) {
  auto database = Database::in_memory();
  store_best(database, session_key(1024), "block=1", 1000);
  const struct {
    std::int64_t n;
    Tier tier;
  } table[] = {{2048, Tier::nearest_size}, {512, Tier::nearest_size}, {1023, Tier::nearest_size},
               {2049, Tier::portable},     {511, Tier::portable},     {0, Tier::portable},
               {1 << 30, Tier::portable}};
  for (const auto& row : table) EXPECT_EQ(find(database, query(row.n)).tier, row.tier) << row.n;
}

TEST(Wisdom, AgreesForAllProblemsAroundTheSameSizesButForWhatIsKnownOfTheirOwn) {
  auto user = Database::in_memory();
  auto shipped = Database::in_memory();
  store_best(shipped, session_key(1024), "of=1024", 1000);
  store_best(user, session_key(1100), "of=1100", 1000);
  Database* databases[] = {&user, &shipped};
  const auto find = [&](std::int64_t n) { return lookup(query(n), databases, {}, {{"n", 1024}}); };
  EXPECT_EQ(find(1024).tier, Tier::exact);
  EXPECT_EQ(find(1099).best->configuration, "of=1024") << "though 1100 is nearer, and the user's";
  EXPECT_EQ(find(1099).tier, Tier::nearest_size);
  EXPECT_THAT(find(1099).reason, HasSubstr("n=1024"));
  EXPECT_EQ(find(1100).best->configuration, "of=1100");
  EXPECT_EQ(find(1100).tier, Tier::exact);
}

TEST(Wisdom, PassesOverWhatIsQuarantinedNearTheSizesAskedForOrNearThoseAround) {
  for (const std::int64_t near_one : {2 * 1100, 1024 / 2}) {
    auto database = Database::in_memory();
    store_best(database, session_key(1024), "block=256", 1000);
    database.quarantine(h200(), reduce_kernel(), problem(near_one), "block=256", "it hung");
    EXPECT_FALSE(lookup(query(1100), std::vector{&database}, {}, {{"n", 1024}})) << near_one;
  }
}

TEST(Wisdom, BoundsEachDimensionAlone) {
  auto database = Database::in_memory();
  auto key = session_key();
  key.problem.sizes = {{"nx", 1024}, {"ny", 1024}};
  store_best(database, key, "block=1", 1000);
  auto q = query();
  q.problem.sizes = {{"nx", 2048}, {"ny", 512}};
  EXPECT_EQ(find(database, q).tier, Tier::nearest_size);
  q.problem.sizes = {{"nx", 1024}, {"ny", 4096}};
  EXPECT_EQ(find(database, q).tier, Tier::portable);
  q.problem.sizes = {{"nx", 1024}};
  EXPECT_EQ(find(database, q).tier, Tier::fallback) << "not the same dimensions";
}

TEST(Wisdom, NeverMixesChoicesObjectivesKernelsOrBackends) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=1", 1000);
  auto q = query();
  q.problem.choices = "T=double operation=sum";
  auto match = find(database, q);
  EXPECT_EQ(match.tier, Tier::fallback);
  EXPECT_THAT(match.reason, AllOf(HasSubstr("reduce"), HasSubstr("T=double")));
  q = query();
  q.kernel.objective = "energy_j";
  EXPECT_EQ(find(database, q).tier, Tier::fallback);
  q = query();
  q.kernel.name = "scan";
  EXPECT_EQ(find(database, q).tier, Tier::fallback);
  q = query();
  q.device = {"host cpu=\"x\"", "x", "host", 0, 8, 0, 0, 0, 0, "{}"};
  EXPECT_EQ(find(database, q).tier, Tier::fallback);
}

TEST(Wisdom, AsksTheDeviceWithTheNearestNumberOfMultiprocessors) {
  auto database = Database::in_memory();
  auto key = session_key();
  key.device = h100();
  store_best(database, key, "from=h100", 1000);
  key.device.key = "cuda cc=9.0 sm=78 l2=1 bus=1 smem=1 regs=1";
  key.device.sm_count = 78;
  store_best(database, key, "from=h20", 1000);
  key.device = a100();
  store_best(database, key, "from=a100", 1000);
  const auto match = find(database, query());
  EXPECT_EQ(match.tier, Tier::similar_device);
  EXPECT_EQ(match.best->configuration, "from=h100");
  EXPECT_THAT(match.reason, HasSubstr("NVIDIA H100 PCIe (114 SMs)"));
}

TEST(Wisdom, FallsBackToWhatIsBestMostOften) {
  auto database = Database::in_memory();
  auto key = session_key(1 << 10);
  key.device = a100();
  store_best(database, key, "block=64", 1000);
  for (const int shift : {14, 16, 18}) {
    key.problem.sizes["n"] = 1 << shift;
    store_best(database, key, "block=256", 1000);
  }
  const auto match = find(database, query(1 << 28));
  EXPECT_EQ(match.tier, Tier::portable);
  EXPECT_EQ(match.best->configuration, "block=256");
  EXPECT_EQ(match.best->problem.sizes.at("n"), 1 << 18);
  EXPECT_THAT(match.reason, HasSubstr("3 of 4"));
}

TEST(Wisdom, SkipsWhatTheCallerCannotUseAndSaysWhy) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=2048", 1000);
  store_best(database, session_key(1 << 19), "block=256", 1000);
  const auto match = find(database, query(), [](const std::string& configuration) -> std::optional<std::string> {
    if (configuration == "block=2048") return "more than 1024 threads a block";
    return std::nullopt;
  });
  EXPECT_EQ(match.tier, Tier::nearest_size);
  EXPECT_EQ(match.best->configuration, "block=256");
  ASSERT_EQ(match.rejected.size(), 1u);
  EXPECT_EQ(match.rejected[0].tier, Tier::exact);
  EXPECT_EQ(match.rejected[0].configuration, "block=2048");
  EXPECT_EQ(match.rejected[0].reason, "more than 1024 threads a block");
}

TEST(Wisdom, SaysSoWhenEverythingWasRejected) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=2048", 1000);
  const auto match = find(database, query(), [](const std::string&) { return std::optional<std::string>("no"); });
  EXPECT_EQ(match.tier, Tier::fallback);
  EXPECT_FALSE(match);
  EXPECT_FALSE(match.rejected.empty());
  EXPECT_THAT(match.reason, HasSubstr("rejected"));
}

TEST(Wisdom, NeverServesWhatIsQuarantinedHere) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=256", 1000);
  store_best(database, session_key(1 << 19), "block=128", 1000);
  auto other = Database::in_memory();
  other.quarantine(h200(), reduce_kernel(), problem(), "block=256", "illegal address");
  Database* databases[] = {&database, &other};
  const auto match = lookup(query(), databases);
  EXPECT_EQ(match.best->configuration, "block=128");
  ASSERT_EQ(match.rejected.size(), 1u);
  EXPECT_THAT(match.rejected[0].reason, HasSubstr("illegal address"));
}

TEST(Wisdom, ServesAtOneSizeWhatIsQuarantinedAtAnother) {
  auto database = Database::in_memory();
  store_best(database, session_key(1 << 10), "block=256", 1000);
  database.quarantine(h200(), reduce_kernel(), problem(1 << 20), "block=256", "it hung");
  EXPECT_EQ(find(database, query(1 << 10)).tier, Tier::exact);
  const auto match = find(database, query(1 << 20));
  EXPECT_FALSE(match) << "the portable tier offers it";
  EXPECT_THAT(match.rejected.at(0).reason, HasSubstr("it hung"));
}

TEST(Wisdom, PrefersTheEarlierDatabaseWithinATierAndTheTierOverTheDatabase) {
  auto user = Database::in_memory();
  auto shipped = Database::in_memory();
  store_best(shipped, session_key(), "from=shipped", 900);
  auto key = session_key();
  key.environment.driver = "12.0";
  store_best(user, key, "from=user", 1000);
  Database* databases[] = {&user, &shipped};
  EXPECT_EQ(lookup(query(), databases).best->configuration, "from=shipped") << "exact before stale";
  store_best(user, session_key(), "from=user", 1000);
  EXPECT_EQ(lookup(query(), databases).best->configuration, "from=user") << "user before shipped";
}

TEST(Wisdom, OfNoDatabaseIsTheDefault) {
  const auto match = lookup(query(), {});
  EXPECT_EQ(match.tier, Tier::fallback);
  EXPECT_EQ(name(match.tier), "default");
}

}  // namespace
}  // namespace tuner::cache::test
