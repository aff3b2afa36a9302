// A broken file may cause a warning, but never a crash, a wrong answer or damage to other files of the user.

#include <cmath>
#include <mutex>
#include <random>

#include <unistd.h>

#include <cache/exchange/exchange.hpp>

#include <tests/support/child_process.hpp>
#include <tests/support/in_threads.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using tuner::testing::start_child;
using tuner::testing::wait_for;

constexpr const char* kRecipes = "CREATE TABLE recipes(name TEXT); INSERT INTO recipes VALUES('soup')";

/// The folder is the user's cache folder, so any `wisdom.db` in it is tuner's own.
struct Damage : FileTest {
  const EnvironmentVariable own{"TUNER_CACHE_DIR", folder.path().string()};
};

/// Expects that the database stores and finds results.
void expect_usable(Database& database) {
  store_best(database, session_key(4242), "block=7", 7);
  const auto match = find(database, query(4242));
  ASSERT_EQ(match.tier, Tier::exact);
  EXPECT_EQ(match.best->configuration, "block=7");
}

TEST_F(Damage, SetsTheFileAsideUnharmedWithOneWarning) {
  make();
  const std::string garbage = read_file(file).replace(0, 16, "garbage garbage!");
  const fs::path recipes = folder / "elsewhere/recipes.db";
  write_file(recipes, "");
  execute(recipes, kRecipes);
  const struct {
    std::string bytes;
    const char *journal, *reason, *suffix;
  } table[] = {{garbage, "", "damaged", ".corrupt-"},
               {read_file(recipes), "", "it is not a wisdom database", ".foreign-"},
               {std::string(8192, 'x'), "-journal", "", ".corrupt-"},
               {std::string(8192, 'y'), "-wal", "", ".corrupt-"}};
  std::set<std::string> aside;
  for (const auto& row : table) {
    fs::remove(file);
    write_file(file, row.bytes);
    if (*row.journal != '\0') write_file(file.string() + row.journal, "a journal of the old file");
    warnings.texts.clear();
    auto database = open();
    EXPECT_FALSE(database.is_in_memory());
    expect_usable(database);
    EXPECT_THAT(warnings.texts, ElementsAre(AllOf(HasSubstr(row.reason), HasSubstr(row.suffix))));
    EXPECT_FALSE(*row.journal != '\0' && fs::exists(file.string() + row.journal))
        << "it would be applied to the new file";
    EXPECT_EQ(integrity(file), "ok");
    for (const std::string& name : names_in(folder.path()))
      if (name.find(row.suffix) != std::string::npos && !name.ends_with("l") && aside.insert(name).second) {
        EXPECT_EQ(read_file(folder / name), row.bytes);
      }
  }
  EXPECT_EQ(aside.size(), std::size(table)) << "none replaces another";
}

TEST_F(Damage, IsNoneWhenTheFileIsEmpty) {
  write_file(file, "");
  auto database = open();
  EXPECT_THAT(warnings.texts, ElementsAre());
  expect_usable(database);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"wisdom.db"});
}

/// The disk is full when the file has 60 pages.
void fill_at_60_pages(Database& database) { database.store().connection().exec("PRAGMA max_page_count = 60"); }

/// Adds more than fits into 60 pages.
void add_large_trials(SessionWriter& writer) {
  for (int i = 0; i < 200; ++i) {
    auto failed = failed_trial("block=" + std::to_string(i), "compile", "failed");
    failed.log = std::string(3000, 'x');
    writer.add(failed);
  }
}

/// Opens the file in every way, and expects that nothing in the folder changes.
void expect_untouched(const fs::path& folder, const fs::path& file, const std::string& reason) {
  const auto before = read_file(file);
  const auto names = names_in(folder);
  Warnings warnings;
  {
    auto database = Database::open_user(file, warnings.options());
    EXPECT_TRUE(database.is_in_memory());
    expect_usable(database);
  }
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr(reason)));
  EXPECT_THAT(error_of([&] { Database::open_user(file, {.strict = true}); }), HasSubstr(reason));
  EXPECT_THAT(error_of([&] { Database::open_read_only(file); }), HasSubstr("wisdom database"));
  EXPECT_FALSE(findings(file).empty());
  EXPECT_EQ(read_file(file), before);
  EXPECT_EQ(names_in(folder), names);
}

using SomebodysFile = FileTest;

TEST_F(SomebodysFile, IsNeitherRenamedNorWrittenWhateverItIs) {
  write_file(folder / "notes.txt", "my notes, long enough to be looked at by a database library, and mine alone");
  expect_untouched(folder.path(), folder / "notes.txt", "it is left as it is");
  execute(folder / "recipes.db", kRecipes);
  expect_untouched(folder.path(), folder / "recipes.db", "it is not a wisdom database; it is left as it is");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(Database::open_user(folder / "fifo").is_in_memory());
}

TEST_F(SomebodysFile, OfAnOlderTunerIsLeftAloneAndSaysHowItsResultsComeAlong) {
  open();
  execute(file, "PRAGMA user_version = 1");
  expect_untouched(folder.path(), file, "format 1");
  EXPECT_FALSE(Database::open_shipped(file, warnings.options()));
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("tune db import")));
}

/// A file of the version before this one, with a result for problem().
void make_older(const fs::path& file) {
  store_best(*std::make_unique<Database>(Database::open_user(file, {.strict = true})), session_key(), "block=1", 10);
  execute(file, "DROP INDEX best_rule; ALTER TABLE best DROP COLUMN rule; PRAGMA user_version = 589833");
}

using OlderFile = FileTest;

TEST_F(OlderFile, OfTheUserIsKeptUnderAnotherNameAndANewOneIsBegun) {
  const EnvironmentVariable own("TUNER_CACHE_DIR", folder.path().string());
  make_older(file);
  const std::string before = read_file(file);
  {
    auto database = Database::open_user(file, {.warn = warnings.options().warn, .strict = true});
    expect_usable(database);
    EXPECT_NE(find(database, query()).tier, Tier::exact);
  }
  ASSERT_EQ(names_in(folder.path()).size(), 2u);
  const std::string kept = names_in(folder.path()).back();
  EXPECT_THAT(kept, HasSubstr("wisdom.db.older-"));
  EXPECT_THAT(warnings.texts, ElementsAre(AllOf(HasSubstr("format 9"), HasSubstr(kept), HasSubstr("tune db import"))));
  EXPECT_EQ(read_file(folder / kept), before);
  auto database = Database::open_user(file, warnings.options());
  merge(database, *std::make_unique<Database>(Database::open_read_only(folder / kept)));
  EXPECT_EQ(find(database, query()).best->configuration, "block=1");
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST_F(OlderFile, ThatOnlyItsTunerReadsIsNamedForTheExport) {
  const EnvironmentVariable own("TUNER_CACHE_DIR", folder.path().string());
  make_older(file);
  execute(file, "PRAGMA user_version = 458759");
  Database::open_user(file, {.warn = warnings.options().warn, .strict = true});
  const std::string kept = names_in(folder.path()).back();
  EXPECT_THAT(warnings.texts, ElementsAre(AllOf(HasSubstr("format 7"), HasSubstr("`tune export --all --db FILE`"),
                                                HasSubstr("kept as " + kept), HasSubstr("FILE is " + kept))));
}

TEST_F(OlderFile, ThatMayNotBeReplacedOrWrittenIsLeftAlone) {
  const EnvironmentVariable own("TUNER_CACHE_DIR", folder.path().string());
  make_older(file);
  EXPECT_THAT(error_of([&] { Database::open_user(file, {.may_replace = false, .strict = true}); }),
              HasSubstr("format 9"));
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"wisdom.db"});
}

TEST_F(OlderFile, OfThePreviousVersionIsReadAndItsResultsHaveNoRule) {
  make_older(file);
  fs::permissions(file, fs::perms::owner_read);
  for (const bool is_shipped : {false, true}) {
    std::optional<Database> database =
        is_shipped ? Database::open_shipped(file, warnings.options()) : Database::open_read_only(file);
    ASSERT_TRUE(database);
    const auto match = find(*database, query());
    ASSERT_EQ(match.tier, Tier::exact);
    EXPECT_EQ(match.best->configuration, "block=1");
    EXPECT_EQ(match.best->rule, "");
  }
  EXPECT_THAT(warnings.texts, ElementsAre());
  fs::permissions(file, fs::perms::owner_all);
  execute(file, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'checked', 'claimed')");
  EXPECT_THROW(Database::open_read_only(file), CacheError) << "its tables are not those of its version";
}

using ReadOnly = FileTest;
TEST_F(ReadOnly, OpeningReadsAndNeverWrites) {
  make();
  const auto before = read_file(file);
  {
    auto database = Database::open_read_only(file);
    EXPECT_EQ(find(database, query()).best->configuration, "block=1");
    EXPECT_EQ(find(database, query()).database, file.string());
    EXPECT_FALSE(find(database, query()).shipped);
    EXPECT_THROW(database.quarantine(h200(), reduce_kernel(), problem(), "block=1", "x"), CacheError);
  }
  EXPECT_EQ(read_file(file), before);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("wisdom.db"));
  EXPECT_THROW(Database::open_read_only(folder / "missing.db"), CacheError);
  write_file(file, before.substr(0, before.size() / 2));
  EXPECT_THROW(Database::open_read_only(file), CacheError);
  EXPECT_THAT(findings(file), Contains(HasSubstr("damaged")));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("wisdom.db")) << "a doctor does not operate";
}

TEST_F(ReadOnly, OpeningTakesBackACommitThatWasInterrupted) {
  make();
  const auto die_in_a_commit = [&]() -> bool {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; DELETE FROM best; CREATE TABLE big(x)");
    for (int i = 0; i < 2000; ++i) db.exec("INSERT INTO big VALUES(randomblob(4000))");
    ::_exit(0);  // in the middle, with pages written
  };
  ASSERT_EQ(wait_for(start_child(die_in_a_commit)), 0);
  ASSERT_THAT(names_in(folder.path()), Contains("wisdom.db-journal"));
  auto database = Database::open_read_only(file);
  EXPECT_EQ(find(database, query()).best->configuration, "block=1");
}

TEST_F(FileTest, ANameIsThatOfAFileWhateverItLooksLike) {
  const fs::path place = fs::current_path();
  fs::current_path(folder.path());
  for (const char* const name : {":memory:", "file:other.db?mode=memory", "file:..%2Fother.db"}) {
    {
      store_best(*std::make_unique<Database>(Database::open_user(name, {.strict = true})), session_key(4242), "block=7",
                 7);
    }
    EXPECT_TRUE(fs::exists(folder / name)) << name;
  }
  fs::current_path(place);
}

using Strict = FileTest;
TEST_F(Strict, WritingSaysThatItDidNotHappen) {
  auto from = Database::in_memory();
  {
    SessionWriter writer(from, session_key(77));
    add_large_trials(writer);
  }
  {
    auto full = Database::open_user(file, {.strict = true});
    fill_at_60_pages(full);
    EXPECT_THROW(merge(full, from), CacheError);
  }
  EXPECT_TRUE(sessions(*std::make_unique<Database>(Database::open_read_only(file))).empty());
  SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  const auto into_locked = [&] {
    auto locked = Database::open_user(file, {.busy_timeout = std::chrono::milliseconds(20), .strict = true});
    merge(locked, from);
  };
  EXPECT_THROW(into_locked(), CacheError);
  EXPECT_THROW(Database::open_user(folder / "wisdom.db/below/x.db", {.strict = true}), CacheError);
}

TEST_F(Damage, IsNotWhatANewerTunerWroteEvenInWordsThatWeDoNotKnow) {
  for (const std::string words :
       {"",
        "; PRAGMA writable_schema = ON; "
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE best(a FUTURE (SYNTAX' WHERE name = 'best'"}) {
    fs::remove(file);
    make();
    execute(file, "PRAGMA user_version = 6488163" + words);  // version 99, readable from version 99 on
    const auto before = read_file(file);
    warnings.texts.clear();
    {
      auto database = open();
      EXPECT_TRUE(database.is_in_memory());
      expect_usable(database);
    }
    EXPECT_THAT(warnings.texts, ElementsAre(AllOf(HasSubstr("newer tuner"), HasSubstr("99"))));
    EXPECT_EQ(read_file(file), before);
    EXPECT_EQ(names_in(folder.path()).size(), 1u);
  }
}

TEST_F(Damage, IsNoneWhenANewerTunerSaysThatWeMayReadItsFile) {
  make();
  execute(file, "PRAGMA user_version = 262243; ALTER TABLE best ADD COLUMN novelty TEXT");
  auto database = open();
  EXPECT_THAT(warnings.texts, ElementsAre());
  EXPECT_EQ(find(database, query()).tier, Tier::exact);
}

TEST_F(Damage, WhileWorkingCostsNoTrial) {
  auto database = open();
  SessionWriter writer(database, session_key());
  for (int i = 0; i < 20; ++i) writer.add(trial("block=" + std::to_string(i), 10 + i));
  writer.flush();  // overwriting the file during a commit, without its locks, could damage the commit
  write_file(file, std::string(fs::file_size(file), '\x5a'));
  for (int i = 20; i < 40; ++i) writer.add(trial("block=" + std::to_string(i), 10 + i));
  writer.set_best("block=3");
  writer.finish();
  EXPECT_EQ(warnings.texts.size(), 1u);
  auto reader = Database::open_user(file);
  EXPECT_EQ(finished_trials(reader, session_key()).size(), 40u) << "the new file has the whole session";
  EXPECT_EQ(find(reader, query()).best->configuration, "block=3");
  EXPECT_EQ(integrity(file), "ok");
}

TEST_F(Damage, IsAnErrorForThoseWhoMayNotReplaceTheFile) {
  make();
  write_file(file, read_file(file).replace(100, 400, 400, '\x5a'));
  const std::string before = read_file(file);
  const OpenOptions options{.may_replace = false, .strict = true};
  EXPECT_THAT(error_of([&] { Database::open_user(file, options); }), HasSubstr("damaged"));
  EXPECT_EQ(read_file(file), before);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"wisdom.db"});
}

TEST_F(Damage, IsRepairedOnceByThreadsThatMeetIt) {
  write_file(file, std::string(20000, 'x'));
  std::mutex mutex;
  std::vector<std::string> texts;
  tuner::testing::in_threads(4, [&](int i) {
    OpenOptions options;
    options.warn = [&](const std::string& text) {
      const std::lock_guard lock(mutex);
      texts.push_back(text);
    };
    auto database = Database::open_user(file, options);
    SessionWriter writer(database, session_key(100 + i));
    writer.add(trial("block=1", 1));
  });
  EXPECT_THAT(texts, ElementsAre(HasSubstr(".corrupt-")));
  auto database = Database::open_user(file);
  EXPECT_EQ(sessions(database).size(), 4u);
}

using BitFlips = FileTest;
TEST_F(BitFlips, AreNeverServedAndNeverCrash) {
  {
    auto database = Database::open_user(file);
    for (int shift = 8; shift < 24; ++shift) {
      store_best(database, session_key(1 << shift), "block=" + std::to_string(shift) + " vector=4", 100.0 * shift);
    }
  }
  const auto bytes = read_file(file);
  std::mt19937_64 random(20240229);
  int noticed = 0;
  for (int flip = 0; flip < 250; ++flip) {
    auto changed = bytes;
    const auto bit = random() % (bytes.size() * 8);
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const TemporaryFolder flipped;
    warnings.texts.clear();
    auto options = warnings.options();
    options.check_bytes = flip % 2 == 0 ? options.check_bytes : 0;  // also like a large file, which is not checked
    auto database = Database::open_user(flipped.write("wisdom.db", changed), options);
    for (int shift = 8; shift < 24; ++shift) {
      const auto match = find(database, query(1 << shift));
      if (match.tier == Tier::exact) {
        ASSERT_EQ(match.best->configuration, "block=" + std::to_string(shift) + " vector=4") << "bit " << bit;
        ASSERT_EQ(match.best->median_ns, 100.0 * shift) << "bit " << bit;
      } else if (match) {
        // A neighbour may replace a lost row, but only with values that were really measured for it.
        const auto n = match.best->problem.sizes.at("n");
        ASSERT_EQ(match.best->median_ns, 100.0 * std::log2(static_cast<double>(n))) << "bit " << bit;
      }
      for (const auto& t : finished_trials(database, session_key(1 << shift))) {
        ASSERT_EQ(t.median_ns, 100.0 * shift) << "bit " << bit;
      }
    }
    (void)doctor(database);
    noticed += warnings.texts.empty() ? 0 : 1;
    if (flip % 10 == 0) expect_usable(database);
  }
  EXPECT_GT(noticed, 20) << "the test must hit something";
}

using Cuts = FileTest;
TEST_F(Cuts, AreNeverServedAndNeverCrash) {
  make();
  const auto bytes = read_file(file);
  for (std::size_t length = 0; length < bytes.size(); length += 4096 * 3 + 511) {
    warnings.texts.clear();
    auto database =
        Database::open_user(folder.write("cut" + std::to_string(length), bytes.substr(0, length)), warnings.options());
    const auto match = find(database, query());
    EXPECT_TRUE(!match || match.best->configuration == "block=1");
    expect_usable(database);
    EXPECT_LE(warnings.texts.size(), 1u) << length;
  }
}

using FullDisk = FileTest;
using LockedDatabase = FileTest;
TEST_F(FullDisk, IsGoneOnFromInMemoryUntilThereIsRoom) {
  auto database = open();
  fill_at_60_pages(database);
  store_best(database, session_key(), "block=1", 1);
  {
    SessionWriter writer(database, session_key(77));
    add_large_trials(writer);
    writer.add(trial("block=2", 2));
    writer.flush();
    EXPECT_TRUE(database.is_in_memory());
    EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("disk is full")));
    EXPECT_EQ(find(database, query()).best->configuration, "block=1") << "what the file knew is still known";
    writer.set_best("block=2");
    writer.finish();
  }
  EXPECT_FALSE(database.is_in_memory()) << "only that connection had no room";
  EXPECT_EQ(finished_trials(database, session_key(77)).size(), 200u) << "one of them was tried twice";
  EXPECT_EQ(integrity(file), "ok");
  auto on_disk = Database::open_read_only(file);
  EXPECT_EQ(find(on_disk, query()).best->configuration, "block=1");
  EXPECT_EQ(find(on_disk, query(77)).best->configuration, "block=2");
  EXPECT_THAT(doctor(on_disk), ElementsAre());
}

TEST_F(LockedDatabase, KeepsWhatOthersChangeBeforeItIsWrittenAgain) {
  make();
  auto options = warnings.options();
  options.busy_timeout = options.look_again = std::chrono::milliseconds(0);
  auto database = Database::open_user(file, options);
  {
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN IMMEDIATE");
    database.quarantine(h200(), reduce_kernel(), problem(77), "block=3", "hung");
    EXPECT_TRUE(database.is_in_memory());
  }
  {
    auto other = Database::open_user(file);
    EXPECT_EQ(remove_results(other, {}).best, 1);
  }
  EXPECT_EQ(find(database, query()).tier, Tier::fallback) << "the result that was removed does not come back";
  EXPECT_FALSE(database.is_in_memory());
  EXPECT_EQ(quarantined(database).size(), 1u);
  EXPECT_TRUE(sessions(database).empty());
}

TEST_F(LockedDatabase, GetsEverythingInOrderThatWasAddedAndRemovedMeanwhile) {
  for (const bool is_known : {true, false}) {  // memory has the contents of the file, or none
    fs::remove(file);
    {
      auto before = Database::open_user(file);
      store_best(before, session_key(5), "block=5", 5);
      before.quarantine(h200(), reduce_kernel(), problem(), "block=1", "hung");
      before.quarantine(h200(), reduce_kernel(), problem(), "block=2", "hung");
      before.quarantine(h200(), reduce_kernel(), problem(), "block=3", "hung");
    }
    auto options = warnings.options();
    options.busy_timeout = options.look_again = std::chrono::milliseconds(0);
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec(is_known ? "BEGIN IMMEDIATE" : "BEGIN EXCLUSIVE");
    auto database = Database::open_user(file, options);
    database.lift_quarantine(h200().key, reduce_kernel(), problem(), "block=1");
    EXPECT_TRUE(database.is_in_memory());
    (void)lift_quarantine(database, {}, "block=2");
    store_best(database, session_key(6), "block=6", 6);
    (void)remove_results(database, {.kernel = "reduce"});
    store_best(database, session_key(7), "block=7", 7);
    database.quarantine(h200(), reduce_kernel(), problem(), "block=4", "hung");
    database.quarantine(h200(), reduce_kernel(), problem(), "block=5", "hung");
    database.lift_quarantine(h200().key, reduce_kernel(), problem(), "block=5");
    EXPECT_TRUE(database.is_in_memory());
    other.exec("ROLLBACK");
    const auto expect_the_last = [](Database& one) {
      EXPECT_EQ(find(one, query(7)).best->configuration, "block=7");
      EXPECT_EQ(best_rows(one).size(), 1u);
      EXPECT_EQ(sessions(one).size(), 1u);
      EXPECT_EQ(finished_trials(one, session_key(7)).size(), 1u);
      ASSERT_EQ(quarantined(one).size(), 1u);
      EXPECT_EQ(quarantined(one)[0].configuration, "block=4");
    };
    expect_the_last(database);
    EXPECT_FALSE(database.is_in_memory());
    auto reader = Database::open_read_only(file);
    expect_the_last(reader);
    EXPECT_THAT(doctor(reader), ElementsAre());
  }
}

TEST_F(LockedDatabase, IsGivenNoBestConfigurationThatWasQuarantinedMeanwhile) {
  auto options = warnings.options();
  options.busy_timeout = options.look_again = std::chrono::milliseconds(0);
  auto database = Database::open_user(file, options);
  {
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN IMMEDIATE");
    store_best(database, session_key(), "block=1", 1);
    EXPECT_EQ(best_rows(database).size(), 1u) << "in memory";
  }
  Database::open_user(file).quarantine(h200(), reduce_kernel(), problem(), "block=1", "it hung");
  EXPECT_TRUE(best_rows(database).empty());
  EXPECT_FALSE(database.is_in_memory());
  EXPECT_EQ(finished_trials(database, session_key()).size(), 1u);
  EXPECT_THAT(warnings.texts, Contains(HasSubstr("'block=1' cannot become the best")));
}

TEST_F(LockedDatabase, GetsTheRestOfASessionWhoseBeginningWasRemovedMeanwhile) {
  auto options = warnings.options();
  options.busy_timeout = std::chrono::milliseconds(0);
  options.look_again = std::chrono::hours(1);
  auto database = Database::open_user(file, options);
  SessionWriter writer(database, session_key());
  writer.add(trial("block=1", 1));
  writer.flush();
  {
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN IMMEDIATE");
    writer.add(trial("block=2", 2));
    writer.flush();
    EXPECT_TRUE(database.is_in_memory());
  }
  {
    auto other = Database::open_user(file);
    EXPECT_EQ(remove_results(other, {}).trials, 1);
  }
  writer.finish();
  EXPECT_FALSE(database.is_in_memory());
  auto reader = Database::open_read_only(file);
  EXPECT_EQ(sessions(reader).size(), 1u);
  EXPECT_EQ(finished_trials(reader, session_key()).size(), 1u) << "block=1 was removed";
  EXPECT_THAT(doctor(reader), ElementsAre());
}

using UnwritablePlace = FileTest;
TEST_F(UnwritablePlace, IsReplacedByMemoryWithOneWarning) {
  write_file(folder / "file", "x");
  fs::create_directory(folder / "folder");
  for (const char* place : {"file/below/wisdom.db", "folder"}) {
    warnings.texts.clear();
    auto database = Database::open_user(folder / place, warnings.options());
    EXPECT_TRUE(database.is_in_memory());
    expect_usable(database);
    EXPECT_EQ(warnings.texts, std::vector{database.trouble()});
    EXPECT_EQ(statistics(database).path, ":memory:");
  }
}

TEST_F(UnwritablePlace, WithoutPermissionStillServesWhatItHolds) {
  if (::geteuid() == 0) {
    // Root may write anywhere, so this test runs as another user, who owns the folder.
    ASSERT_EQ(::chown(folder.path().c_str(), 65534, 65534), 0);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  make();
  for (const bool lock_folder : {false, true}) {
    fs::permissions(file, lock_folder ? fs::perms::owner_read | fs::perms::owner_write : fs::perms::owner_read);
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    warnings.texts.clear();
    auto database = open();
    EXPECT_EQ(find(database, query()).best->configuration, "block=1");
    EXPECT_EQ(find(database, query()).database, file.string()) << "that is where it comes from";
    expect_usable(database);
    EXPECT_EQ(warnings.texts.size(), 1u);
    EXPECT_TRUE(database.is_in_memory());
    EXPECT_EQ(find(database, query()).best->configuration, "block=1");
    fs::permissions(folder.path(), fs::perms::owner_all);
  }
  if (::getuid() == 0) {
    EXPECT_EQ(::seteuid(0), 0);
  }
}

TEST_F(LockedDatabase, IsGoneOnFromInMemoryWhenTheOtherProcessNeverLetsGo) {
  auto options = warnings.options();
  options.busy_timeout = std::chrono::milliseconds(20);
  auto database = Database::open_user(file, options);
  SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  expect_usable(database);
  EXPECT_TRUE(database.is_in_memory());
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("locked")));
}

TEST_F(LockedDatabase, IsWrittenAgainWithAllThatMemoryGotWhenTheOtherProcessLetsGo) {
  make();
  for (const char* begin : {"BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"}) {  // the second keeps readers out as well
    warnings.texts.clear();
    auto options = warnings.options();
    options.busy_timeout = std::chrono::milliseconds(20);
    options.look_again = std::chrono::milliseconds(0);
    auto database = Database::open_user(file, options);
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec(begin);
    SessionWriter writer(database, session_key(77));
    writer.add(trial("block=2", 2));
    writer.set_best("block=2");
    database.quarantine(h200(), reduce_kernel(), problem(77), "block=3", "hung");
    EXPECT_TRUE(database.is_in_memory());
    other.exec("ROLLBACK");
    writer.finish();
    EXPECT_FALSE(database.is_in_memory());
    EXPECT_EQ(database.trouble(), "");
    EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("locked"), HasSubstr("is written to again")));
    auto reader = Database::open_read_only(file);
    EXPECT_EQ(find(reader, query()).best->configuration, "block=1");
    EXPECT_EQ(find(reader, query(77)).best->configuration, "block=2");
    EXPECT_EQ(reader.quarantined(h200().key, reduce_kernel(), problem(77)).size(), 1u);
    EXPECT_TRUE(sessions_of(reader, session_key(77)).back().finished_ms.has_value());
    EXPECT_THAT(doctor(reader), ElementsAre());
  }
}

using Doctor = FileTest;
TEST_F(Doctor, FindsWhatTheQuickLookMisses) {
  make();
  execute(file, "UPDATE best SET median_ns = 0.5; UPDATE trial SET verified = 0; UPDATE session SET seed = 7");
  auto database = open();
  EXPECT_EQ(find(database, query()).tier, Tier::fallback);
  EXPECT_TRUE(finished_trials(database, session_key()).empty());
  EXPECT_EQ(warnings.texts.size(), 1u) << "one for all damaged rows";
  const auto findings = doctor(database);
  EXPECT_THAT(findings, Contains(HasSubstr("best configurations have a wrong checksum")));
  EXPECT_THAT(findings, Contains(HasSubstr("sessions have a wrong checksum")));
  EXPECT_THAT(findings, Contains(HasSubstr("trials have a wrong checksum")));
}

TEST_F(Doctor, FindsAnIndexThatIsMissingOrAnother) {
  open();
  EXPECT_THAT(findings(file), ElementsAre());
  execute(file, "DROP INDEX best_place");
  EXPECT_THAT(findings(file), ElementsAre(HasSubstr("'best_place' is missing")));
  execute(file, "CREATE INDEX best_place ON best(kernel)");
  EXPECT_THAT(findings(file), ElementsAre(HasSubstr("'best_place' is not defined as tuner defines it")));
}

TEST_F(Doctor, FindsADamagedQuarantine) {
  open().quarantine(h200(), reduce_kernel(), problem(), "block=256", "it hung");
  for (const char* flip : {"UPDATE quarantine SET device_key = 'cudb'", "UPDATE quarantine SET kernel = 'reducf'",
                           "UPDATE quarantine SET reason = 'it hunG'", "UPDATE quarantine SET created = 3",
                           "UPDATE quarantine SET sizes = 'n=5'", "UPDATE quarantine SET sizes = 'n='"}) {
    fs::copy_file(file, folder / "flipped.db", fs::copy_options::overwrite_existing);
    execute(folder / "flipped.db", flip);
    EXPECT_THAT(findings(folder / "flipped.db"), Contains(HasSubstr("quarantine"))) << flip;
  }
}

using DamagedQuarantine = FileTest;
TEST_F(DamagedQuarantine, KeepsNothingElseAwayWhereARowIsDamaged) {
  {
    auto database = Database::open_user(file);
    store_best(database, session_key(), "block=256", 1);
    database.quarantine(h200(), reduce_kernel(), problem(), "block=128", "it hung");
  }
  execute(file, "UPDATE quarantine SET reason = 'it hunG'");
  auto database = open();
  EXPECT_EQ(find(database, query()).best->configuration, "block=256");
  store_best(database, session_key(), "block=64", 0.5);
  EXPECT_EQ(find(database, query()).best->configuration, "block=64") << "and a tuning is not in vain";
  EXPECT_EQ(database.quarantined(h200().key, reduce_kernel(), problem()).size(), 1u) << "which leaves block=128 out";
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST_F(DamagedQuarantine, KeepsItsConfigurationAwayAndItsReasonIsNotRepeated) {
  make();
  open().quarantine(h200(), reduce_kernel(), problem(), "block=1", "it hung");
  execute(file, "UPDATE quarantine SET reason = 'click here'");
  auto database = open();
  const auto match = find(database, query());
  EXPECT_FALSE(match);
  ASSERT_FALSE(match.rejected.empty());
  EXPECT_THAT(match.rejected[0].reason, StartsWith("may be quarantined on this device"));
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("damaged rows were left out")));
}

TEST_F(BitFlips, HideNothingOfTheQuarantine) {
  {
    auto database = Database::open_user(file);
    store_best(database, session_key(), "block=256", 1);
    database.quarantine(h200(), reduce_kernel(), problem(), "block=256", "it hung");
  }
  const auto bytes = read_file(file);
  std::vector<std::size_t> pages;  // of the table and of its indices
  {
    SQLite::Database db(file.string());
    SQLite::Statement row(db, "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'quarantine'");
    while (row.executeStep()) pages.push_back(static_cast<std::size_t>(row.getColumn(0).getInt64() - 1) * 4096);
  }
  ASSERT_EQ(pages.size(), 3u);
  int flips = 0;
  for (const std::size_t page : pages) {
    for (std::size_t at = page; at < page + 4096; ++at) {
      const bool head = at < page + 10;
      if (!head && (bytes[at] == 0 || at % 3 != 0)) continue;
      for (int bit = head ? 0 : static_cast<int>(at % 8); bit < (head ? 8 : static_cast<int>(at % 8) + 1); ++bit) {
        auto changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        write_file(folder / "flipped.db", changed);
        ++flips;
        try {
          auto database = Database::open_read_only(folder / "flipped.db", {.check_bytes = 0});
          EXPECT_NE(find(database, query()).tier, Tier::exact) << "bit " << bit << " of byte " << at;
        } catch (const CacheError&) {
        }
      }
    }
  }
  EXPECT_GT(flips, 300);
}

}  // namespace
}  // namespace tuner::cache::test
