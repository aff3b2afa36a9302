#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>

#include <cache/exchange.hpp>
#include <cache/lookup.hpp>
#include <cache/store.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Adds a result for each of \p problems, with a configuration that tells its number.
void import_many(Database& database, const std::vector<Sizes>& problems) {
  auto one = Database::in_memory();
  store_best(one, session_key(1), "block=0", 1000);
  const auto text = export_wisdom(one);
  const auto header = text.find('\n') + 1;
  std::string all = text.substr(0, header);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    auto line = text.substr(header);
    line.replace(line.find("n=1\""), 3, sizes_text(problems[i]));
    line.replace(line.find("block=0"), 7, "block=" + std::to_string(i));
    all += line;
  }
  import_text(database, all);
}

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

TEST(Wisdom, IsExactForWhoDoesNotKnowTheCompiler) {
  auto database = Database::in_memory();
  store_best(database, session_key(), "block=256", 1000);
  auto q = query();
  q.environment.compiler.clear();
  EXPECT_EQ(find(database, q).tier, Tier::exact);
  q.environment.driver = "another";
  EXPECT_EQ(find(database, q).tier, Tier::stale);
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

TEST(Wisdom, LetsTheNearestResultsVoteWhereThereAreMany) {
  std::vector<Sizes> problems;
  for (std::int64_t n = 1; n <= 1000; ++n) problems.push_back({{"n", n}});
  auto database = Database::in_memory();
  import_many(database, problems);
  auto key = session_key(900);
  for (int i = 0; i < 3; ++i) {
    key.problem.sizes["n"] = 900 + i;
    store_best(database, key, "block=7", 1000);
  }
  const auto match = find(database, query(1 << 20));
  EXPECT_EQ(match.tier, Tier::portable);
  EXPECT_EQ(match.best->configuration, "block=7");
  EXPECT_THAT(match.reason, HasSubstr("3 of the nearest 128 known problems"));
}

TEST(Wisdom, OfASizeOfZeroIsNotServedForAnyOther) {
  auto database = Database::in_memory();
  store_best(database, session_key(0), "block=32", 1000);
  EXPECT_EQ(find(database, query(0)).tier, Tier::exact);
  EXPECT_EQ(find(database, query(1)).tier, Tier::fallback);
  EXPECT_EQ(find(database, query(1 << 20)).tier, Tier::fallback);
  store_best(database, session_key(1 << 10), "block=64", 1000);
  const auto match = find(database, query(1 << 20));
  EXPECT_EQ(match.best->configuration, "block=64");
  EXPECT_THAT(match.reason, HasSubstr("1 of 1 known problems"));
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

TEST(Wisdom, IsOfTheNearestOfManySizes) {
  std::mt19937 random(20240229);
  for (const std::vector<const char*>& names :
       {std::vector{"n"}, {"nx", "ny"}, {"a", "b", "c"}, {"a", "b", "c", "d", "e", "f", "g"}}) {
    const auto draw = [&](std::int64_t from, std::int64_t to) {
      Sizes sizes;
      for (const char* name : names) sizes[name] = std::uniform_int_distribution<std::int64_t>(from, to)(random);
      return sizes;
    };
    std::vector<Sizes> problems;
    for (int i = 0; i < 300; ++i) problems.push_back(i % 3 == 0 ? draw(0, 5000) : draw(1000, 1100));
    std::sort(problems.begin(), problems.end());
    problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
    auto database = Database::in_memory();
    import_many(database, problems);
    for (int i = 0; i < 60; ++i) {
      auto q = query();
      q.problem.sizes = i % 2 == 0 ? draw(0, 6000) : draw(950, 1150);
      std::optional<double> nearest;
      for (const Sizes& sizes : problems)
        if (alike({q.problem.choices, sizes}, q.problem))
          nearest = std::min(nearest.value_or(1e9), *distance(sizes, q.problem.sizes));
      const auto match = find(database, q);
      ASSERT_EQ(nearest.has_value(), match.tier <= Tier::nearest_size) << sizes_text(q.problem.sizes);
      if (nearest) {
        ASSERT_EQ(*nearest, *distance(match.best->problem.sizes, q.problem.sizes));
      }
    }
  }
}

TEST(Wisdom, IsFoundWithoutReadingWhatIsFarAway) {
  std::vector<Sizes> problems;
  for (std::int64_t n = 0; n < 3000; ++n) problems.push_back({{"nx", 4096}, {"ny", 1000 + n}});
  auto database = Database::in_memory();
  import_many(database, problems);
  for (int i = 0; i < 500; ++i)
    database.quarantine(h200(), reduce_kernel(), {problem().choices, problems[static_cast<std::size_t>(i)]},
                        "block=1000" + std::to_string(i % 7), "it hung");
  auto& connection = database.store().connection();
  const auto steps_for = [&](const Sizes& sizes, Tier tier) {
    int steps = 0;  // of SQLite's virtual machine: a row takes some twenty
    sqlite3_progress_handler(
        connection.getHandle(), 1, [](void* count) { return ++*static_cast<int*>(count), 0; }, &steps);
    auto q = query();
    q.problem.sizes = sizes;
    EXPECT_EQ(find(database, q).tier, tier);
    sqlite3_progress_handler(connection.getHandle(), 0, nullptr, nullptr);
    return steps;
  };
  EXPECT_LT(steps_for({{"nx", 4096}, {"ny", 1500}}, Tier::exact), 500);
  EXPECT_LT(steps_for({{"nx", 4097}, {"ny", 1500}}, Tier::nearest_size), 10'000);
  EXPECT_LT(steps_for({{"nx", 4096}, {"ny", 5000}}, Tier::nearest_size), 10'000);
  EXPECT_LT(steps_for({{"nx", 4096}, {"ny", 1 << 30}}, Tier::portable), 20'000);
}

TEST(Wisdom, OfAnEarlierVersionIsFoundWithoutBeingWritten) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  {
    auto database = Database::open_user(file);
    store_best(database, session_key(1024), "block=1", 1000);
    store_best(database, session_key(1 << 20), "block=2", 1000);
    database.quarantine(h200(), reduce_kernel(), problem(1 << 20), "block=2", "it hung");
  }
  for (const int version : {5, 4}) {
    rewrite_as_version(file, version);
    const auto bytes = read_file(file);
    auto database = Database::open_read_only(file);
    EXPECT_EQ(find(database, query(1024)).tier, Tier::exact);
    EXPECT_EQ(find(database, query(1500)).tier, Tier::nearest_size);
    EXPECT_EQ(find(database, query(1 << 20)).best->configuration, "block=1") << "the other one is in quarantine";
    EXPECT_EQ(read_file(file), bytes);
  }
  auto upgraded = Database::open_user(file);
  EXPECT_EQ(find(upgraded, query(1500)).tier, Tier::nearest_size);
  EXPECT_EQ(find(upgraded, query(1 << 20)).best->configuration, "block=1") << "the other one is in quarantine";
  EXPECT_EQ(number(upgraded.store().connection(), "SELECT count(*) FROM best WHERE place IS NULL"), 0);
}

TEST(Wisdom, ThatAnEarlierVersionHasAddedIsFound) {
  auto database = Database::in_memory();
  store_best(database, session_key(1024), "block=1", 1000);
  store_best(database, session_key(1 << 20), "block=2", 1000);
  database.quarantine(h200(), reduce_kernel(), problem(1 << 20), "block=2", "it hung");
  database.store().connection().exec("UPDATE best SET place = NULL; UPDATE quarantine SET place = NULL");
  EXPECT_EQ(find(database, query(1500)).tier, Tier::nearest_size);
  EXPECT_EQ(find(database, query(1 << 20)).best->configuration, "block=1") << "the other one is in quarantine";
}

TEST(MeasuredSizes, AreThoseFromTheGivenOnesOnOfThisDevice) {
  auto database = Database::in_memory();
  for (const std::int64_t n : {1000, 1023, 1024, 1100, 2048, 2049, 5000})
    store_best(database, session_key(n), "block=1", 1000);
  auto other = session_key(1200);
  other.kernel.source_hash = std::string(64, 'b');
  store_best(database, other, "block=1", 1000);
  other.device = h100();
  other.problem.sizes["n"] = 1300;
  store_best(database, other, "block=1", 1000);
  std::vector<Sizes> found = measured_sizes(query(1024), database);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<Sizes>{{{"n", 1024}}, {{"n", 1100}}, {{"n", 1200}}, {{"n", 2048}}}));
}

TEST(Wisdom, OfNoDatabaseIsTheDefault) {
  const auto match = lookup(query(), {});
  EXPECT_EQ(match.tier, Tier::fallback);
  EXPECT_EQ(name(match.tier), "default");
}

}  // namespace
}  // namespace tuner::cache::test
