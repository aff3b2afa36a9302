#include <functional>
#include <random>

#include <cache/exchange/exchange.hpp>
#include <cache/exchange/shipping.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

/// Adds a result for each of \p problems. Its configuration contains the problem's index.
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

using Wisdom = DatabaseTest;
using MeasuredSizes = DatabaseTest;

/// Rules such as `4096 block=1 block=2`: block=1 below 4096, and block=2 up to 2^20.
class Ruled : public DatabaseTest {
 protected:
  static constexpr const char* kRule = "4096 block=1 block=2";
  const Rules rules = {.read = [](const std::string& rule, const Sizes& sizes) -> std::optional<RuleChoice> {
    const std::int64_t n = sizes.at("n");
    const auto words = words_of(rule);
    if (words.size() != 3 || n > 1 << 20) return std::nullopt;
    const bool is_below = n < std::stoll(std::string(words[0]));
    return RuleChoice{std::string(words[is_below ? 1 : 2]), is_below ? "below" : "else"};
  }};

  void rule_of(Database& of, const std::string& driver = environment().driver) {
    store_choice(of, key_with_driver(driver, 1024), "block=1", kRule);
    store_choice(of, key_with_driver(driver, 1 << 16), "block=2", kRule);
  }
  /// Sizes that begin with the same digits are of one class, except for the last two.
  WisdomMatch find_in_class(std::int64_t n, const std::vector<Database*>& databases) {
    Rules with_classes = rules;
    with_classes.class_end = {{"n", n / 100 * 100 + 99}};
    return lookup(query(n), databases, {}, {{"n", n / 100 * 100}}, {}, with_classes);
  }
  WisdomMatch find(std::int64_t n) { return find(query(n)); }
  WisdomMatch find(const Context& query, const Accept& accept = {}) {
    return lookup(query, std::vector{&database}, accept, {}, {}, rules);
  }
};

TEST_F(Wisdom, IsExactWhenAllIsAsItWasMeasured) {
  use_file();
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
  EXPECT_EQ(match.database, file.string());
  EXPECT_FALSE(match.shipped);
  EXPECT_TRUE(match.rejected.empty());
}

TEST_F(Wisdom, IsOfOneSampleOfWhichNothingIsKnownButThatNoTimeIsNegative) {
  use_file();
  SessionWriter writer(database, session_key());
  TrialRecord once = trial("block=256", 1000);
  once.samples_ns = {1000};
  once.low_ns = 0;
  once.high_ns = 2000;
  writer.add(once);
  writer.set_best(once.configuration);
  writer.finish();
  EXPECT_EQ(find(database, query()).tier, Tier::exact);
  auto other = Database::in_memory();
  import_text(other, export_wisdom(database));
  EXPECT_EQ(find(other, query()).tier, Tier::exact);
}

TEST_F(Wisdom, HasATierThatSaysHowFarItIsFromTheQuestion) {
  know(1 << 20, "block=256");
  const struct {
    const char* what;
    void (*change)(Context&);
    Tier tier;
    const char* reason;
  } table[] = {
      {"another tuner", [](Context& q) { q.environment.tuner = "9.9"; }, Tier::exact, "this driver and compiler"},
      {"no compiler", [](Context& q) { q.environment.compiler.clear(); }, Tier::exact, "with this driver"},
      {"a driver", [](Context& q) { q.environment.driver = "14.1"; }, Tier::stale,
       "the driver (13.0 then, 14.1 now) has"},
      {"a driver, and no compiler",
       [](Context& q) {
         q.environment.driver = "14.1";
         q.environment.compiler.clear();
       },
       Tier::stale, "14.1"},
      {"a source", [](Context& q) { q.kernel.source_hash[0] = 'b'; }, Tier::fallback,
       "; 1 result of other sources is not used, as it was not verified with this one"},
      {"choices", [](Context& q) { q.problem.choices = "T=double"; }, Tier::fallback,
       "about reduce with T=double on cuda"},
      {"an objective", [](Context& q) { q.kernel.objective = "energy_j"; }, Tier::fallback, "nothing is known"},
      {"a kernel", [](Context& q) { q.kernel.name = "scan"; }, Tier::fallback, "nothing is known about scan"},
      {"a backend", [](Context& q) { q.device.backend = "host"; }, Tier::fallback, "on host devices"}};
  for (const auto& row : table) {
    auto q = query();
    row.change(q);
    const auto match = find(database, q);
    EXPECT_EQ(match.tier, row.tier) << row.what;
    EXPECT_THAT(match.reason, HasSubstr(row.reason)) << row.what;
  }
}

TEST_F(Wisdom, IsNeverThatOfAnotherSourceWhichNothingProvesForThisOne) {
  store_best(database, key_with_driver("12.0"), "same_source=1", 1000);
  for (const SessionKey& key : {key_of_source('b'), key_of_source('b', 1 << 21), key_of_source('c', 1 << 22)})
    store_best(database, key, "other_source=1", 10);
  for (const std::int64_t n : {1 << 20, 1 << 21, 1 << 22, 1 << 28}) {
    const auto match = find(database, key_with_driver("14.1", n));
    ASSERT_TRUE(match) << n;
    EXPECT_EQ(match.best->configuration, "same_source=1") << n;
  }
}

TEST_F(Wisdom, PrefersTheNearestSizeWhenNoExactMatchExists) {
  know(1000, "block=1");
  know(1500, "block=2");
  know(4000, "block=3");
  const auto match = find(database, query(1400));
  EXPECT_EQ(match.tier, Tier::nearest_size);
  EXPECT_EQ(match.best->configuration, "block=2");
  EXPECT_THAT(match.reason, HasSubstr("n=1500"));
}

TEST_F(Wisdom, TakesANearestSizeOnlyWithinAFactorOfTwo) {
  know(1024, "block=1");
  const struct {
    std::int64_t n;
    Tier tier;
  } table[] = {{2048, Tier::nearest_size}, {512, Tier::nearest_size}, {1023, Tier::nearest_size},
               {2049, Tier::portable},     {511, Tier::portable},     {0, Tier::portable},
               {1 << 30, Tier::portable}};
  for (const auto& row : table) EXPECT_EQ(find(database, query(row.n)).tier, row.tier) << row.n;
}

TEST_F(Ruled, SizesGetTheChoiceOfTheRuleAsItWasMeasuredNearest) {
  rule_of(database);
  for (const std::int64_t n : {3, 2000, 4095}) {
    const auto match = find(n);
    EXPECT_EQ(match.tier, Tier::rule) << n;
    EXPECT_EQ(match.best->configuration, "block=1") << n;
  }
  const auto match = find(40'000);
  EXPECT_EQ(match.best->configuration, "block=2");
  EXPECT_EQ(match.best->problem.sizes.at("n"), 1 << 16);
  EXPECT_THAT(match.reason,
              AllOf(HasSubstr("n=65536"), HasSubstr("n=40000"), HasSubstr("the rule"), HasSubstr("else")));
}

TEST_F(Ruled, AllSizesOfAClassThatABoundCutsGetTheChoiceForItsLowest) {
  rule_of(database);
  for (const std::int64_t n : {4000, 4095, 4096, 4099}) {
    const auto match = find_in_class(n, std::vector{&database});
    EXPECT_EQ(match.best->configuration, "block=1") << n;
    EXPECT_THAT(match.reason, AllOf(HasSubstr("chosen for n=4000"), HasSubstr("(below)"))) << n;
  }
  EXPECT_THAT(find_in_class(4099, std::vector{&database}).reason, HasSubstr("where the class of n=4099 begins"));
}

TEST_F(Ruled, ARuleSaysNothingOutsideOfItsRangeOrOfAnotherSourceDeviceObjectiveOrChoice) {
  rule_of(database);
  EXPECT_EQ(find(2 << 20).tier, Tier::portable);
  for (const auto& change : std::vector<std::function<void(Context&)>>{
           [](Context& q) { q.kernel.source_hash[0] = 'b'; }, [](Context& q) { q.device = h100(); },
           [](Context& q) { q.kernel.objective = "energy_j"; }, [](Context& q) { q.problem.choices = "T=double"; }}) {
    Context changed = query(5000);
    change(changed);
    EXPECT_NE(find(changed).tier, Tier::rule);
  }
}

TEST_F(Ruled, AResultForTheSizesThemselvesComesBeforeTheRule) {
  rule_of(database);
  store_best(database, session_key(5000), "block=9", 1000);
  EXPECT_EQ(find(5000).best->configuration, "block=9");
  EXPECT_EQ(find(key_with_driver("14.1", 5000)).tier, Tier::stale);
  EXPECT_EQ(find(5001).best->configuration, "block=2") << "the nearest size is another one";
}

TEST_F(Ruled, AResultForSizesOfTheSameClassComesBeforeTheRule) {
  rule_of(database);
  store_best(database, session_key(5000), "block=9", 1000);
  const auto match = find_in_class(5001, std::vector{&database});
  EXPECT_EQ(match.tier, Tier::nearest_size);
  EXPECT_EQ(match.best->configuration, "block=9");
}

TEST_F(Ruled, AResultOfTheClassComesBeforeTheRuleIfAnotherSizeIsNearerToTheClass) {
  rule_of(database);
  store_best(database, session_key(4999), "block=8", 1000);
  store_best(database, session_key(5090), "block=9", 1000);
  store_best(database, session_key(5100), "block=7", 1000);
  for (const std::int64_t n : {5000, 5002, 5099}) {
    const auto match = find_in_class(n, std::vector{&database});
    EXPECT_EQ(match.tier, Tier::nearest_size) << n;
    EXPECT_EQ(match.best->configuration, "block=9") << n;
  }
  database.quarantine(h200(), reduce_kernel(), problem(5000), "block=9", "it hung");
  const auto match = find_in_class(5002, std::vector{&database});
  EXPECT_EQ(match.tier, Tier::rule);
  EXPECT_EQ(match.rejected.size(), 1u) << "each configuration is rejected once";
}

TEST_F(Ruled, AResultOfTheClassInALaterDatabaseComesBeforeTheRule) {
  rule_of(database);
  store_best(database, session_key(4999), "block=8", 1000);
  auto later = Database::in_memory();
  store_best(later, session_key(5050), "block=9", 1000);
  EXPECT_EQ(find_in_class(5001, std::vector{&database, &later}).best->configuration, "block=9");
}

TEST_F(Ruled, ALaterResultForOneOfItsSizesLeavesTheRuleToTheOthers) {
  rule_of(database);
  store_choice(database, session_key(2048), "block=1", kRule);
  store_best(database, session_key(1024), "block=9", 500);
  EXPECT_EQ(find(1100).best->configuration, "block=1");
  EXPECT_EQ(find(1100).best->problem.sizes.at("n"), 2048);
  store_best(database, session_key(2048), "block=9", 500);
  EXPECT_EQ(find(1100).best->configuration, "block=9") << "no size has that choice any more";
  EXPECT_EQ(find(5000).best->configuration, "block=2");
}

TEST_F(Ruled, AStaleRuleComesAfterAFreshNearestSizeAndBeforeAStaleOne) {
  rule_of(database, "12.0");
  EXPECT_EQ(find(5000).tier, Tier::rule) << "no size is near";
  store_best(database, key_with_driver("12.0", 5500), "block=8", 1000);
  EXPECT_EQ(find(5000).tier, Tier::rule);
  EXPECT_THAT(find(5000).reason, HasSubstr("driver"));
  store_best(database, session_key(6000), "block=9", 1000);
  EXPECT_EQ(find(6001).best->configuration, "block=9");
  auto other = Database::in_memory();
  rule_of(other);
  EXPECT_EQ(lookup(query(6001), std::vector{&database, &other}, {}, {}, {}, rules).best->configuration, "block=2")
      << "a fresh rule";
}

TEST_F(Ruled, AChoiceThatCannotBeUsedLeavesTheAnswerToTheNearestSize) {
  rule_of(database);
  store_best(database, session_key(5000), "block=9", 1000);
  const auto match = find(query(5001), [](const std::string& configuration) {
    return configuration == "block=2" ? std::optional<std::string>("too large") : std::nullopt;
  });
  EXPECT_EQ(match.best->configuration, "block=9");
  ASSERT_EQ(match.rejected.size(), 1u);
  EXPECT_EQ(match.rejected[0].tier, Tier::rule);
  database.quarantine(h200(), reduce_kernel(), problem(5001), "block=2", "it hung");
  EXPECT_EQ(find(5001).best->configuration, "block=9");
}

TEST_F(Ruled, TextsMergesAndFrozenFilesKeepTheRule) {
  const TemporaryFolder folder;
  rule_of(database);
  auto imported = Database::in_memory(), merged = Database::in_memory();
  import_text(imported, export_wisdom(database));
  merge(merged, imported);
  freeze(merged, folder / "frozen.db");
  auto frozen = Database::open_frozen(folder / "frozen.db");
  for (const char* driver : {"13.0", "14.1"})
    EXPECT_EQ(lookup(key_with_driver(driver, 5000), std::vector{&frozen}, {}, {}, {}, rules).tier, Tier::rule)
        << driver;
}

TEST_F(Wisdom, AgreesForAllProblemsAroundTheSameSizesButForWhatIsKnownOfTheirOwn) {
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

TEST_F(Wisdom, PassesOverWhatIsQuarantinedNearTheSizesAskedForOrNearThoseAround) {
  for (const std::int64_t near_one : {2 * 1100, 1024 / 2}) {
    database = Database::in_memory();
    know(1024, "block=256");
    database.quarantine(h200(), reduce_kernel(), problem(near_one), "block=256", "it hung");
    EXPECT_FALSE(lookup(query(1100), std::vector{&database}, {}, {{"n", 1024}})) << near_one;
  }
}

TEST_F(Wisdom, BoundsEachDimensionAlone) {
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

TEST_F(Wisdom, AsksTheDeviceWithTheNearestNumberOfMultiprocessors) {
  auto h20 = h100();
  h20.key = "cuda cc=9.0 sm=78 l2=1 bus=1 smem=1 regs=1";
  h20.sm_count = 78;
  store_best(database, key_on(h100()), "from=h100", 1000);
  store_best(database, key_on(h20), "from=h20", 1000);
  store_best(database, key_on(a100()), "from=a100", 1000);
  const auto match = find(database, query());
  EXPECT_EQ(match.tier, Tier::similar_device);
  EXPECT_EQ(match.best->configuration, "from=h100");
  EXPECT_THAT(match.reason, HasSubstr("NVIDIA H100 PCIe (114 SMs)"));
}

TEST_F(Wisdom, FallsBackToWhatIsBestMostOften) {
  store_best(database, key_on(a100(), 1 << 10), "block=64", 1000);
  for (const int shift : {14, 16, 18}) store_best(database, key_on(a100(), 1 << shift), "block=256", 1000);
  const auto match = find(database, query(1 << 28));
  EXPECT_EQ(match.tier, Tier::portable);
  EXPECT_EQ(match.best->configuration, "block=256");
  EXPECT_EQ(match.best->problem.sizes.at("n"), 1 << 18);
  EXPECT_THAT(match.reason, HasSubstr("3 of 4"));
}

TEST_F(Wisdom, LetsTheNearestResultsVoteWhereThereAreMany) {
  std::vector<Sizes> problems;
  for (std::int64_t n = 1; n <= 1000; ++n) problems.push_back({{"n", n}});
  import_many(database, problems);
  for (const std::int64_t n : {900, 901, 902}) know(n, "block=7");
  const auto match = find(database, query(1 << 20));
  EXPECT_EQ(match.tier, Tier::portable);
  EXPECT_EQ(match.best->configuration, "block=7");
  EXPECT_THAT(match.reason, HasSubstr("3 of the nearest 128 known problems"));
}

TEST_F(Wisdom, OfASizeOfZeroIsNotServedForAnyOther) {
  know(0, "block=32");
  EXPECT_EQ(find(database, query(0)).tier, Tier::exact);
  EXPECT_EQ(find(database, query(1)).tier, Tier::fallback);
  EXPECT_EQ(find(database, query(1 << 20)).tier, Tier::fallback);
  know(1 << 10, "block=64");
  const auto match = find(database, query(1 << 20));
  EXPECT_EQ(match.best->configuration, "block=64");
  EXPECT_THAT(match.reason, HasSubstr("1 of 1 known problems"));
}

TEST_F(Wisdom, SkipsWhatTheCallerCannotUseAndSaysWhy) {
  know(1 << 20, "block=2048");
  know(1 << 19, "block=256");
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
  const auto nothing = find(database, query(), [](const std::string&) { return std::optional<std::string>("no"); });
  EXPECT_FALSE(nothing);
  EXPECT_THAT(nothing.reason, HasSubstr("rejected"));
}

TEST_F(Wisdom, NeverServesWhatIsQuarantinedHere) {
  know(1 << 20, "block=256");
  know(1 << 19, "block=128");
  auto other = Database::in_memory();
  other.quarantine(h200(), reduce_kernel(), problem(), "block=256", "illegal address");
  Database* databases[] = {&database, &other};
  const auto match = lookup(query(), databases);
  EXPECT_EQ(match.best->configuration, "block=128");
  ASSERT_EQ(match.rejected.size(), 1u);
  EXPECT_THAT(match.rejected[0].reason, HasSubstr("illegal address"));
}

TEST_F(Wisdom, ServesAtOneSizeWhatIsQuarantinedAtAnother) {
  know(1 << 10, "block=256");
  database.quarantine(h200(), reduce_kernel(), problem(1 << 20), "block=256", "it hung");
  EXPECT_EQ(find(database, query(1 << 10)).tier, Tier::exact);
  const auto match = find(database, query(1 << 20));
  EXPECT_FALSE(match) << "the portable tier offers it";
  EXPECT_THAT(match.rejected.at(0).reason, HasSubstr("it hung"));
}

TEST_F(Wisdom, PrefersTheEarlierDatabaseWithinATierAndTheTierOverTheDatabase) {
  auto user = Database::in_memory();
  auto shipped = Database::in_memory();
  store_best(shipped, session_key(), "from=shipped", 900);
  store_best(user, key_with_driver("12.0"), "from=user", 1000);
  Database* databases[] = {&user, &shipped};
  EXPECT_EQ(lookup(query(), databases).best->configuration, "from=shipped") << "exact before stale";
  store_best(user, session_key(), "from=user", 1000);
  EXPECT_EQ(lookup(query(), databases).best->configuration, "from=user") << "user before shipped";
}

TEST_F(Wisdom, IsOfTheNearestOfManySizes) {
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
    database = Database::in_memory();
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

TEST_F(Wisdom, IsFoundWithoutReadingWhatIsFarAway) {
  std::vector<Sizes> problems;
  for (std::int64_t n = 0; n < 3000; ++n) problems.push_back({{"nx", 4096}, {"ny", 1000 + n}});
  import_many(database, problems);
  for (int i = 0; i < 500; ++i)
    database.quarantine(h200(), reduce_kernel(), {problem().choices, problems[static_cast<std::size_t>(i)]},
                        "block=1000" + std::to_string(i % 7), "it hung");
  const auto steps_for = [&](const Sizes& sizes, Tier tier) {
    auto q = query();
    q.problem.sizes = sizes;
    return steps_of(database, [&] { EXPECT_EQ(find(database, q).tier, tier); });
  };
  EXPECT_LT(steps_for({{"nx", 4096}, {"ny", 1500}}, Tier::exact), 500);
  EXPECT_LT(steps_for({{"nx", 4097}, {"ny", 1500}}, Tier::nearest_size), 10'000);
  EXPECT_LT(steps_for({{"nx", 4096}, {"ny", 5000}}, Tier::nearest_size), 10'000);
  EXPECT_LT(steps_for({{"nx", 4096}, {"ny", 1 << 30}}, Tier::portable), 20'000);
}

TEST_F(Wisdom, IsTheDefaultWithoutReadingEverythingWhenAllOfItIsRefused) {
  std::vector<Sizes> problems;
  for (std::int64_t n = 0; n < 3000; ++n) problems.push_back({{"nx", 4096}, {"ny", 1000 + n}});
  import_many(database, problems);
  auto q = query();
  q.problem.sizes = {{"nx", 4096}, {"ny", 1500}};
  std::size_t refused = 0;
  const auto never = [&](const std::string&) {
    ++refused;
    return std::optional<std::string>("no");
  };
  EXPECT_FALSE(find(database, q, never));
  EXPECT_LT(refused, 500u);
}

TEST_F(Wisdom, IsTheDefaultWithoutReadingMuchWhenAllAroundIsQuarantined) {
  for (std::int64_t n = 0; n < 400; ++n) {
    know(5000 + n, "block=" + std::to_string(n));
    database.quarantine(h200(), reduce_kernel(), problem(5000 + n), "block=" + std::to_string(n), "it hung");
  }
  const int steps = steps_of(database, [&] {
    const auto match = find(database, query(5200));
    EXPECT_EQ(match.tier, Tier::fallback);
    EXPECT_LT(match.rejected.size(), 150u);
    EXPECT_THAT(match.rejected.at(0).reason, HasSubstr("quarantined on this device: it hung"));
  });
  EXPECT_LT(steps, 20'000);
}

TEST_F(MeasuredSizes, AreThoseFromTheGivenOnesOnOfThisDeviceAndSource) {
  for (const std::int64_t n : {1000, 1023, 1024, 1100, 2048, 2049, 5000}) know(n, "block=1");
  auto other = session_key(1200);
  other.kernel.source_hash = std::string(64, 'b');
  store_best(database, other, "block=1", 1000);
  other = key_on(h100(), 1300);
  store_best(database, other, "block=1", 1000);
  std::optional<std::vector<Sizes>> found = measured_sizes(query(1024), {{"n", 2048}}, 100, database);
  ASSERT_TRUE(found);
  std::sort(found->begin(), found->end());
  EXPECT_EQ(*found, (std::vector<Sizes>{{{"n", 1024}}, {{"n", 1100}}, {{"n", 2048}}}));
  EXPECT_EQ(measured_sizes(query(1024), {{"n", 1151}}, 100, database)->size(), 2u);
}

TEST_F(MeasuredSizes, AreNotListedWhenThereAreTooMany) {
  for (const std::int64_t n : {1000, 1024, 1100, 1101}) know(n, "block=1");
  EXPECT_TRUE(measured_sizes(query(1024), {{"n", 1151}}, 3, database));
  EXPECT_FALSE(measured_sizes(query(1024), {{"n", 1151}}, 2, database));
}

TEST_F(Wisdom, OfNoDatabaseIsTheDefault) {
  const auto match = lookup(query(), {});
  EXPECT_EQ(match.tier, Tier::fallback);
  EXPECT_EQ(name(match.tier), "default");
}

}  // namespace
}  // namespace tuner::cache::test
