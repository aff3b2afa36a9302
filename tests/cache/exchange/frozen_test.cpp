// Frozen databases, which give the same answers everywhere.

#include <cache/exchange/exchange.hpp>
#include <cache/exchange/shipping.hpp>
#include <cache/query/shipped.hpp>

#include <tests/support/memory_disk.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;

class Frozen : public ::testing::Test {
 protected:
  Frozen() {
    store_best(source, session_key(1 << 20), "block=64", 100);
    store_best(source, session_key(1 << 10), "block=32", 10);
  }
  Database frozen() {
    freeze(source, file);
    return Database::open_frozen(file);
  }

  const TemporaryFolder folder;
  const fs::path file = folder / "job.db";
  Database source = Database::in_memory();
};

TEST_F(Frozen, AnswersLikeItsSourceAndHoldsNoTrials) {
  EXPECT_EQ(freeze(source, file), 2);
  auto database = Database::open_frozen(file);
  EXPECT_TRUE(database.is_frozen());
  for (const std::int64_t n : {1 << 20, 1 << 10, 1500000}) {
    const auto before = find(source, query(n)), after = find(database, query(n));
    EXPECT_EQ(after.tier, before.tier);
    EXPECT_EQ(after.best->configuration, before.best->configuration);
  }
  EXPECT_EQ(find(database, query()).database, file.string());
  EXPECT_EQ(statistics(database).trials, 0);
  EXPECT_EQ(statistics(database).sessions, 0);
  EXPECT_THAT(doctor(database), ElementsAre());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("job.db")) << "nothing beside it";
  EXPECT_EQ(mode_of(file), 0444u);
}

TEST_F(Frozen, IsTheSameFileForTheSameContentsAndOfItself) {
  freeze(source, file);
  const auto bytes = read_file(file);
  freeze(source, file);
  EXPECT_EQ(read_file(file), bytes);
  auto database = Database::open_frozen(file);
  freeze(database, folder / "copy.db");
  EXPECT_EQ(read_file(folder / "copy.db"), bytes);
}

TEST_F(Frozen, HasOneAnswerForEachProblemWhateverTheSoftware) {
  store_best(source, key_with_driver("another"), "block=128", 90);
  store_best(source, key_with_driver("another", 1 << 12), "block=128", 40);
  auto database = frozen();
  ASSERT_EQ(best_rows(database).size(), 3u);
  for (const std::int64_t n : {1 << 20, 1 << 11})  // the second is equally far from two results
    EXPECT_EQ(find(database, query(n)).best->configuration,
              find(database, key_with_driver("another", n)).best->configuration);
}

TEST_F(Frozen, KeepsWhatKilledAwayAndHoldsNoResultOfIt) {
  source.quarantine(h200(), reduce_kernel(), problem(), "block=64", "it hung");
  auto database = frozen();
  EXPECT_EQ(best_rows(database).size(), 1u);
  EXPECT_EQ(quarantined(database).size(), 1u);
  EXPECT_NE(find(database, query()).tier, Tier::exact);
}

TEST_F(Frozen, HoldsOfSeveralSourcesWhatAMergeOfThemHolds) {
  auto other = Database::in_memory();
  auto text = export_wisdom(source);
  for (const std::string name : {"median_ns", "low_ns", "high_ns"}) {
    const auto at = text.rfind(':', text.find(',', text.rfind('"' + name + '"'))) + 1;
    text.replace(at, text.find(',', at) - at, "1");
  }
  import_text(other, text);  // says that block=64 takes 1 ns, not 100
  other.quarantine(h200(), reduce_kernel(), problem(1 << 10), "block=32", "it hung");
  // Each contradicts the trial of the other; the later one stays.
  const auto measure = [](Database& database, double median_ns, std::int64_t created_ms) {
    SessionWriter writer(database, session_key(1 << 5));
    auto one = trial("block=8", median_ns);
    one.created_ms = created_ms;
    writer.add(one);
    writer.set_best("block=8");
  };
  measure(source, 100, 1'000'001);
  measure(other, 2000, 1'000'000);
  std::set<std::string> frozen;
  for (const std::vector<Database*>& sources : {std::vector{&source, &other}, {&other, &source}}) {
    auto united = Database::in_memory();
    for (Database* one : sources) merge(united, *one);
    EXPECT_EQ(freeze(united, file), 2);
    frozen.insert(read_file(file));
    auto database = Database::open_frozen(file);
    EXPECT_EQ(find(database, query()).best->median_ns, 100);
    EXPECT_EQ(find(database, query(1 << 5)).best->median_ns, 100);
  }
  EXPECT_EQ(frozen.size(), 1u) << "in any order";
}

TEST_F(Frozen, OfTwiceTheResultsCostsTwiceTheWork) {
  const auto steps_for = [&](std::int64_t results) {
    for (std::int64_t n = static_cast<std::int64_t>(best_rows(source).size()); n < results; ++n)
      store_best(source, session_key(5000 + n), "block=64", 100);
    return steps_of(source, [&] { EXPECT_EQ(freeze(source, file), results); });
  };
  const int few = steps_for(100);
  EXPECT_LT(steps_for(400), 5 * few);
  EXPECT_LT(few, 100 * 1500);
}

TEST_F(Frozen, IsNotMadeOfNothing) {
  auto empty = Database::in_memory();
  EXPECT_THAT(error_of([&] { freeze(empty, file); }), HasSubstr("no best result is known"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre());
}

TEST_F(Frozen, StaysAsItWasWhenANewOneCannotBeMade) {
  freeze(source, file);
  const auto bytes = read_file(file);
  auto empty = Database::in_memory();
  EXPECT_THROW(freeze(empty, file), CacheError);
  EXPECT_EQ(read_file(file), bytes);
  EXPECT_THROW(freeze(source, folder / "no such folder/job.db"), CacheError);
  tuner::testing::MemoryDisk full;
  full.space = 1000;
  EXPECT_THAT(error_of([&] { freeze(source, file, full); }), HasSubstr("No space left on device"));
  EXPECT_TRUE(full.files.empty()) << "no piece is left";
  fs::create_directory(folder / "folder.db");
  EXPECT_THROW(freeze(source, folder / "folder.db"), CacheError);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("folder.db", "job.db"));
}

TEST_F(Frozen, IsTheOldOrTheNewOneWheneverThePowerFails) {
  for (const bool names_stay : {false, true}) {
    for (int operations = 0; operations < 5; ++operations) {
      tuner::testing::MemoryDisk disk;
      disk.files["job.db"] = "old";
      disk.operations = operations;
      try {
        freeze(source, "job.db", disk);
      } catch (const tuner::testing::MemoryDisk::PowerCut&) {
      }
      disk.cut_power(names_stay);
      const bool is_new = operations > 3 || (operations == 3 && names_stay);
      EXPECT_EQ(disk.files["job.db"].size() > 3, is_new);
      EXPECT_FALSE(disk.files["job.db"].empty());
    }
  }
}

TEST_F(Frozen, FailsRatherThanAnswerDifferentlyWhenAnyByteOfItHasChanged) {
  freeze(source, file);
  const auto bytes = read_file(file);
  for (std::size_t at = 0; at < bytes.size(); at += 509) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_file(folder / "damaged.db", damaged);
    EXPECT_THROW((void)Database::open_frozen(folder / "damaged.db"), CacheError) << "byte " << at;
    EXPECT_THROW((void)Database::open_read_only(folder / "damaged.db"), CacheError) << "byte " << at;
  }
  auto cut = bytes.substr(0, bytes.size() - 4096);
  write_file(folder / "damaged.db", cut);
  EXPECT_THROW((void)Database::open_frozen(folder / "damaged.db"), CacheError);
  fs::permissions(file, fs::perms::owner_all);
  execute(file, "DELETE FROM best WHERE sizes = 'n=1024'");
  EXPECT_THAT(error_of([&] { (void)Database::open_frozen(file); }), HasSubstr("changed after it was frozen"));
}

TEST_F(Frozen, IsAnErrorOfEveryQuestionOnceItIsWrittenToInUse) {
  freeze(source, file);
  fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  auto database = Database::open_frozen(file);
  fs::permissions(file, fs::perms::owner_all);
  write_file(file, std::string(fs::file_size(file), 'x'));
  for (int question = 0; question < 2; ++question) {
    EXPECT_THAT(error_of([&] { find(database, query()); }), HasSubstr("was changed while it was in use"));
    EXPECT_THAT(error_of([&] { best_rows(database); }), HasSubstr(file.string() + " cannot be used"));
  }
}

TEST_F(Frozen, AnswersAsWhenItWasOpenedThoughBitsOfItsFileFlip) {
  freeze(source, file);
  const auto written = fs::last_write_time(file);
  auto database = Database::open_frozen(file);
  fs::permissions(file, fs::perms::owner_all);
  execute(file, "UPDATE best SET median_ns = 1");
  fs::last_write_time(file, written);  // flipped bits do not change the time
  EXPECT_EQ(find(database, query()).best->median_ns, 100);
  EXPECT_EQ(find(database, query(1 << 10)).best->median_ns, 10);
}

TEST_F(Frozen, AnswersOnWhenItIsReplacedAsAWhole) {
  auto database = frozen();
  store_best(source, session_key(), "block=128", 1);
  freeze(source, file);
  EXPECT_EQ(find(database, query()).best->configuration, "block=64");
  EXPECT_EQ(find(database, query(1 << 10)).best->configuration, "block=32");
}

TEST_F(Frozen, MayHaveAnyName) {
  const fs::path odd = "/" + (folder / "100%25?a=b#c.db").string();
  freeze(source, odd);
  auto database = Database::open_frozen(odd);
  EXPECT_EQ(find(database, query()).best->configuration, "block=64");
}

TEST_F(Frozen, HoldsForEachProblemTheResultThatAMergeWouldKeep) {
  for (int i = 0; i < 50; ++i) {
    SessionWriter writer(source, key_with_driver(std::to_string(i), 2000 + i % 10));
    auto one = trial("block=" + std::to_string(i), 10);
    one.created_ms = 1'000'000 + (i * 37) % 50;
    writer.add(one);
    writer.set_best(one.configuration);
  }
  auto database = frozen();
  ASSERT_EQ(best_rows(database).size(), 12u);
  for (int n = 0; n < 10; ++n) {
    std::pair<int, int> latest;
    for (int i = n; i < 50; i += 10) latest = std::max(latest, {(i * 37) % 50, i});
    EXPECT_EQ(find(database, query(2000 + n)).best->configuration, "block=" + std::to_string(latest.second));
  }
}

TEST_F(Frozen, IsOnlyWhatFreezeMade) {
  write_file(folder / "notes.txt", "my notes, which are long enough to be taken for something else entirely\n");
  fs::create_directory(folder / "folder");
  const auto why_not = [&](const char* name) { return error_of([&] { (void)Database::open_frozen(folder / name); }); };
  EXPECT_THAT(why_not("nothing.db"), HasSubstr("there is no such file"));
  EXPECT_THAT(why_not("folder"), HasSubstr("it is not a regular file"));
  EXPECT_THAT(why_not("notes.txt"), HasSubstr("not a wisdom database"));
  { auto ordinary = Database::open_user(folder / "wisdom.db"); }
  EXPECT_THAT(why_not("wisdom.db"), HasSubstr("tune db freeze"));
  EXPECT_FALSE(is_frozen_file(folder / "wisdom.db"));
  freeze(source, file);
  EXPECT_TRUE(is_frozen_file(file));
}

TEST_F(Frozen, TakesNothingMore) {
  freeze(source, file);
  const auto bytes = read_file(file);
  EXPECT_THAT(error_of([&] { (void)Database::open_user(file, {.strict = true}); }), HasSubstr("it is frozen"));
  Warnings warnings;
  auto database = Database::open_user(file, warnings.options());
  EXPECT_TRUE(database.is_in_memory());
  store_best(database, session_key(1 << 14), "block=64", 100);
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("it is frozen")));
  EXPECT_EQ(read_file(file), bytes);
}

}  // namespace
}  // namespace tuner::cache::test
