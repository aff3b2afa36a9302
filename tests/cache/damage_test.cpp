// What is broken must cost a warning, never a crash, a wrong answer or the user's other files.

#include <cmath>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/browse.hpp>
#include <cache/exchange.hpp>
#include <cache/session.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The database takes results and gives them back.
void expect_usable(Database& database) {
  store_best(database, session_key(4242), "block=7", 7);
  const auto match = find(database, query(4242));
  ASSERT_EQ(match.tier, Tier::exact);
  EXPECT_EQ(match.best->configuration, "block=7");
}

TEST(Damage, OfTheHeaderSetsTheFileAsideWithOneWarning) {
  const CacheFolder folder;
  const auto file = folder / "wisdom.db";
  { store_best(*std::make_unique<Database>(Database::open_user(file)), session_key(), "block=1", 1); }
  auto bytes = read_file(file);
  bytes.replace(0, 16, "garbage garbage!");
  write_file(file, bytes);
  Warnings warnings;
  auto database = Database::open_user(file, warnings.options());
  EXPECT_FALSE(database.is_in_memory());
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], AllOf(HasSubstr("damaged"), HasSubstr(".corrupt-")));
  EXPECT_THAT(names_in(folder.path()), Contains(StartsWith("wisdom.db.corrupt-")));
  expect_usable(database);
  EXPECT_EQ(warnings.texts.size(), 1u);
  EXPECT_EQ(integrity(file), "ok");
}

TEST(Damage, SetAsideFilesDoNotOverwriteEachOther) {
  const CacheFolder folder;
  for (int i = 0; i < 3; ++i) {
    fs::remove(folder / "wisdom.db");
    write_file(folder / "wisdom.db", "broken number " + std::to_string(i));
    auto database = Database::open_user(folder / "wisdom.db");
    EXPECT_FALSE(database.is_in_memory());
  }
  EXPECT_EQ(names_in(folder.path()).size(), 4u);
}

TEST(Damage, LeavesNoOldJournalThatWouldBeAppliedToTheNewFile) {
  for (const char* side : {"-journal", "-wal"}) {
    const CacheFolder folder;
    write_file(folder / "wisdom.db", std::string(8192, 'x'));
    write_file(folder / (std::string("wisdom.db") + side), "a journal of the old file");
    Warnings warnings;
    auto database = Database::open_user(folder / "wisdom.db", warnings.options());
    expect_usable(database);
    EXPECT_EQ(warnings.texts.size(), 1u);
    EXPECT_THAT(names_in(folder.path()), Not(Contains(std::string("wisdom.db") + side)));
    EXPECT_EQ(integrity(folder / "wisdom.db"), "ok");
  }
}

TEST(Damage, IsNoneWhenTheFileIsEmpty) {
  const TemporaryFolder folder;
  write_file(folder / "wisdom.db", "");
  Warnings warnings;
  auto database = Database::open_user(folder / "wisdom.db", warnings.options());
  EXPECT_THAT(warnings.texts, ElementsAre());
  expect_usable(database);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"wisdom.db"});
}

TEST(Damage, SetsADatabaseOfAnotherProgramAsideUnharmed) {
  const CacheFolder folder;
  {
    SQLite::Database other((folder / "wisdom.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE recipes(name TEXT); INSERT INTO recipes VALUES('soup')");
  }
  const auto before = read_file(folder / "wisdom.db");
  Warnings warnings;
  auto database = Database::open_user(folder / "wisdom.db", warnings.options());
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("it is no wisdom database"));
  expect_usable(database);
  const auto names = names_in(folder.path());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_THAT(names[1], StartsWith("wisdom.db.foreign-"));
  EXPECT_EQ(read_file(folder / names[1]), before);
}

/// Opens in every way; nothing in the folder may change.
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
  const auto refusal = [&](auto&& open) -> std::string {
    try {
      open();
    } catch (const CacheError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal([&] { Database::open_user(file, {.strict = true}); }), HasSubstr(reason));
  EXPECT_THAT(refusal([&] { Database::open_read_only(file); }), HasSubstr("wisdom database"));
  EXPECT_FALSE(findings(file).empty());
  EXPECT_EQ(read_file(file), before);
  EXPECT_EQ(names_in(folder), names);
}

TEST(SomebodysFile, IsNeitherRenamedNorWrittenWhateverItIs) {
  const TemporaryFolder folder;
  write_file(folder / "notes.txt", "my notes, long enough to be looked at by a database library, and mine alone");
  expect_untouched(folder.path(), folder / "notes.txt", "it is left as it is");
  {
    SQLite::Database other((folder / "recipes.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE recipes(name TEXT); INSERT INTO recipes VALUES('soup')");
  }
  expect_untouched(folder.path(), folder / "recipes.db", "it is no wisdom database; it is left as it is");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_TRUE(Database::open_user(folder / "fifo").is_in_memory());
}

TEST(SomebodysFile, OfAnOlderTunerIsLeftAloneAndSaysHowItsResultsComeAlong) {
  const CacheFolder folder;
  { Database::open_user(folder / "wisdom.db"); }
  { SQLite::Database((folder / "wisdom.db").string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 1"); }
  expect_untouched(folder.path(), folder / "wisdom.db", "format 1");
  Warnings warnings;
  EXPECT_FALSE(Database::open_shipped(folder / "wisdom.db", warnings.options()));
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("tune import")));
}

TEST(ReadOnly, OpeningReadsAndNeverWrites) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { store_best(*std::make_unique<Database>(Database::open_user(file)), session_key(), "block=1", 1); }
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

TEST(ReadOnly, OpeningTakesBackACommitThatWasInterrupted) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { store_best(*std::make_unique<Database>(Database::open_user(file)), session_key(), "block=1", 1); }
  const pid_t child = ::fork();
  if (child == 0) {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; DELETE FROM best; CREATE TABLE big(x)");
    for (int i = 0; i < 2000; ++i) db.exec("INSERT INTO big VALUES(randomblob(4000))");
    ::_exit(0);  // in the middle, with pages written
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_THAT(names_in(folder.path()), Contains("wisdom.db-journal"));
  auto database = Database::open_read_only(file);
  EXPECT_EQ(find(database, query()).best->configuration, "block=1");
}

TEST(Strict, WritingSaysThatItDidNotHappen) {
  const TemporaryFolder folder;
  auto from = Database::in_memory();
  {
    SessionWriter writer(from, session_key(77));
    for (int i = 0; i < 200; ++i) {
      auto t = failed_trial("block=" + std::to_string(i), "compile", "failed");
      t.log = std::string(3000, 'x');
      writer.add(t);
    }
  }
  const auto file = folder / "wisdom.db";
  {
    auto full = Database::open_user(file, {.strict = true, .max_pages = 60});
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

TEST(Damage, LeavesAFileOfANewerTunerAlone) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { store_best(*std::make_unique<Database>(Database::open_user(file)), session_key(), "block=1", 1); }
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA user_version = 6488163");  // 99, to be read from 99 on
  }
  const auto before = read_file(file);
  Warnings warnings;
  {
    auto database = Database::open_user(file, warnings.options());
    EXPECT_TRUE(database.is_in_memory());
    expect_usable(database);
  }
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], AllOf(HasSubstr("newer tuner"), HasSubstr("99")));
  EXPECT_EQ(read_file(file), before);
  EXPECT_EQ(names_in(folder.path()).size(), 1u);
}

TEST(Damage, IsNotWhatANewerTunerWroteInWordsThatWeDoNotKnow) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { Database::open_user(file); }
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec(
        "PRAGMA user_version = 6488163; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE "
        "best(a "
        "FUTURE (SYNTAX' WHERE name = 'best'");
  }
  const auto before = read_file(file);
  Warnings warnings;
  auto database = Database::open_user(file, warnings.options());
  EXPECT_TRUE(database.is_in_memory());
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("newer tuner"));
  EXPECT_EQ(read_file(file), before);
}

TEST(Damage, IsNoneWhenANewerTunerSaysThatWeMayReadItsFile) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { store_best(*std::make_unique<Database>(Database::open_user(file)), session_key(), "block=1", 1); }
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA user_version = 262151; ALTER TABLE best ADD COLUMN novelty TEXT");
  }
  Warnings warnings;
  auto database = Database::open_user(file, warnings.options());
  EXPECT_THAT(warnings.texts, ElementsAre());
  EXPECT_EQ(find(database, query()).tier, Tier::exact);
}

TEST(Damage, WhileWorkingCostsNoTrial) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  Warnings warnings;
  auto database = Database::open_user(file, warnings.options());
  SessionWriter writer(database, session_key());
  for (int i = 0; i < 20; ++i) writer.add(trial("block=" + std::to_string(i), 10 + i));
  writer.flush();  // what writes over a file in the middle of a commit, past its locks, may spoil the commit
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

TEST(Damage, IsRepairedOnceByThreadsThatMeetIt) {
  const CacheFolder folder;
  const auto file = folder / "wisdom.db";
  write_file(file, std::string(20000, 'x'));
  std::mutex mutex;
  std::vector<std::string> texts;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      OpenOptions options;
      options.warn = [&](const std::string& text) {
        const std::lock_guard lock(mutex);
        texts.push_back(text);
      };
      auto database = Database::open_user(file, options);
      SessionWriter writer(database, session_key(100 + i));
      writer.add(trial("block=1", 1));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(texts, ElementsAre(HasSubstr(".corrupt-")));
  auto database = Database::open_user(file);
  EXPECT_EQ(sessions(database).size(), 4u);
}

TEST(BitFlips, AreNeverServedAndNeverCrash) {
  const TemporaryFolder folder;
  const auto original = folder / "original.db";
  {
    auto database = Database::open_user(original);
    for (int shift = 8; shift < 24; ++shift) {
      store_best(database, session_key(1 << shift), "block=" + std::to_string(shift) + " vector=4", 100.0 * shift);
    }
  }
  const auto bytes = read_file(original);
  std::mt19937_64 random(20240229);
  int noticed = 0;
  for (int flip = 0; flip < 250; ++flip) {
    auto changed = bytes;
    const auto bit = random() % (bytes.size() * 8);
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const auto file = folder / "flipped.db";
    for (const auto& entry : names_in(folder.path())) {
      if (entry != "original.db") fs::remove(folder / entry);
    }
    write_file(file, changed);
    Warnings warnings;
    auto options = warnings.options();
    options.check_bytes = flip % 2 == 0 ? options.check_bytes : 0;  // also as a large file, which is not checked
    auto database = Database::open_user(file, options);
    for (int shift = 8; shift < 24; ++shift) {
      const auto match = find(database, query(1 << shift));
      if (match.tier == Tier::exact) {
        ASSERT_EQ(match.best->configuration, "block=" + std::to_string(shift) + " vector=4") << "bit " << bit;
        ASSERT_EQ(match.best->median_ns, 100.0 * shift) << "bit " << bit;
      } else if (match) {
        // A neighbour may stand in for a row that was lost, but only with what was really measured for it.
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

TEST(Cuts, AreNeverServedAndNeverCrash) {
  const TemporaryFolder folder;
  {
    auto database = Database::open_user(folder / "original.db");
    store_best(database, session_key(), "block=1", 1);
  }
  const auto bytes = read_file(folder / "original.db");
  for (std::size_t length = 0; length < bytes.size(); length += 4096 * 3 + 511) {
    const auto file = folder / ("cut" + std::to_string(length));
    write_file(file, bytes.substr(0, length));
    Warnings warnings;
    auto database = Database::open_user(file, warnings.options());
    const auto match = find(database, query());
    EXPECT_TRUE(!match || match.best->configuration == "block=1");
    expect_usable(database);
    EXPECT_LE(warnings.texts.size(), 1u) << length;
  }
}

TEST(FullDisk, IsGoneOnFromInMemoryWithOneWarning) {
  const TemporaryFolder folder;
  Warnings warnings;
  auto options = warnings.options();
  options.max_pages = 60;
  auto database = Database::open_user(folder / "wisdom.db", options);
  store_best(database, session_key(), "block=1", 1);
  {
    SessionWriter writer(database, session_key(77));
    std::string log(3000, 'x');
    for (int i = 0; i < 200; ++i) {
      auto t = failed_trial("block=" + std::to_string(i), "compile", "failed");
      t.log = log;
      writer.add(t);
    }
    writer.add(trial("block=2", 2));
    writer.set_best("block=2");
    writer.finish();
  }
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("disk is full"));
  EXPECT_TRUE(database.is_in_memory());
  EXPECT_EQ(find(database, query(77)).best->configuration, "block=2");
  EXPECT_EQ(find(database, query()).best->configuration, "block=1") << "what the file knew is still known";
  EXPECT_EQ(finished_trials(database, session_key(77)).size(), 200u) << "one of them was tried twice";
  EXPECT_EQ(integrity(folder / "wisdom.db"), "ok");
  auto file = Database::open_user(folder / "wisdom.db");
  EXPECT_EQ(find(file, query()).best->configuration, "block=1");
}

TEST(UnwritablePlace, IsReplacedByMemoryWithOneWarning) {
  const TemporaryFolder folder;
  write_file(folder / "file", "x");
  Warnings warnings;
  auto database = Database::open_user(folder / "file/below/wisdom.db", warnings.options());
  EXPECT_TRUE(database.is_in_memory());
  expect_usable(database);
  EXPECT_EQ(warnings.texts.size(), 1u);
  EXPECT_EQ(database.trouble(), warnings.texts[0]);
  EXPECT_EQ(statistics(database).path, ":memory:");
}

TEST(UnwritablePlace, MayBeAFolderOfTheSameName) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "wisdom.db");
  Warnings warnings;
  auto database = Database::open_user(folder / "wisdom.db", warnings.options());
  EXPECT_TRUE(database.is_in_memory());
  expect_usable(database);
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(UnwritablePlace, WithoutPermissionStillServesWhatItHolds) {
  if (::geteuid() == 0) {
    // Root may write anywhere: become somebody else for this test.
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { store_best(*std::make_unique<Database>(Database::open_user(file)), session_key(), "block=1", 1); }
  for (const bool lock_folder : {false, true}) {
    fs::permissions(file, lock_folder ? fs::perms::owner_read | fs::perms::owner_write : fs::perms::owner_read);
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    Warnings warnings;
    auto database = Database::open_user(file, warnings.options());
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

TEST(LockedDatabase, IsGoneOnFromInMemoryWhenTheOtherProcessNeverLetsGo) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  Warnings warnings;
  auto options = warnings.options();
  options.busy_timeout = std::chrono::milliseconds(20);
  auto database = Database::open_user(file, options);
  SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  expect_usable(database);
  EXPECT_TRUE(database.is_in_memory());
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("locked"));
}

TEST(Doctor, FindsWhatTheQuickLookMisses) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { store_best(*std::make_unique<Database>(Database::open_user(file)), session_key(), "block=1", 1); }
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("UPDATE best SET median_ns = 0.5; UPDATE trial SET verified = 0; UPDATE session SET seed = 7");
  }
  Warnings warnings;
  auto database = Database::open_user(file, warnings.options());
  EXPECT_EQ(find(database, query()).tier, Tier::fallback);
  EXPECT_TRUE(finished_trials(database, session_key()).empty());
  EXPECT_EQ(warnings.texts.size(), 1u) << "one for all damaged rows";
  const auto findings = doctor(database);
  EXPECT_THAT(findings, Contains(HasSubstr("best configurations have a wrong checksum")));
  EXPECT_THAT(findings, Contains(HasSubstr("sessions have a wrong checksum")));
  EXPECT_THAT(findings, Contains(HasSubstr("trials have a wrong checksum")));
}

TEST(Doctor, FindsAMissingIndex) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  { Database::open_user(file); }
  EXPECT_THAT(findings(file), ElementsAre());
  { SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("DROP INDEX best_place"); }
  EXPECT_THAT(findings(file), ElementsAre(HasSubstr("'best_place' is missing")));
}

TEST(Doctor, FindsADamagedQuarantine) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  {
    auto database = Database::open_user(file);
    database.quarantine(h200(), reduce_kernel(), problem(), "block=256", "it hung");
  }
  for (const char* flip : {"UPDATE quarantine SET device_key = 'cudb'", "UPDATE quarantine SET kernel = 'reducf'",
                           "UPDATE quarantine SET reason = 'it hunG'", "UPDATE quarantine SET created = 3",
                           "UPDATE quarantine SET sizes = 'n=5'", "UPDATE quarantine SET sizes = 'n='"}) {
    fs::copy_file(file, folder / "flipped.db", fs::copy_options::overwrite_existing);
    { SQLite::Database((folder / "flipped.db").string(), SQLite::OPEN_READWRITE).exec(flip); }
    EXPECT_THAT(findings(folder / "flipped.db"), Contains(HasSubstr("quarantine"))) << flip;
  }
}

TEST(Quarantine, KeepsNothingElseAwayWhereARowIsDamaged) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  {
    auto database = Database::open_user(file);
    store_best(database, session_key(), "block=256", 1);
    database.quarantine(h200(), reduce_kernel(), problem(), "block=128", "it hung");
  }
  { SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("UPDATE quarantine SET reason = 'it hunG'"); }
  Warnings warnings;
  auto database = Database::open_user(file, warnings.options());
  EXPECT_EQ(find(database, query()).best->configuration, "block=256");
  store_best(database, session_key(), "block=64", 0.5);
  EXPECT_EQ(find(database, query()).best->configuration, "block=64") << "and a tuning is not in vain";
  EXPECT_EQ(database.quarantined(h200().key, reduce_kernel(), problem()).size(), 1u) << "which leaves block=128 out";
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(BitFlips, HideNothingOfTheQuarantine) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
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
