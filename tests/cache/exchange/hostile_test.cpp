// Databases and texts that somebody made in order to harm: they are refused, and nothing runs for ever. The checksums
// of their rows are right, but their contents may be anything.

#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cache/exchange/exchange.hpp>
#include <cache/query/rows.hpp>
#include <cache/file/side_files.hpp>
#include <cache/query/shipped.hpp>
#include <cache/records/json_value.hpp>

#include <tests/support/processor_time.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using HostileDatabase = FileTest;

TEST(HostileText, WithManyMembersIsReadFast) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += fmt::format("\"{}\":{},", i, i);
  const double before = testing::processor_seconds();
  const JsonValue value = read_json(text + "\"7\":{\"a\":1,\"a\":2},\"x\":0}");
  EXPECT_LT(testing::processor_seconds() - before, 5);
  const auto& members = *value.as<JsonValue::Object>();
  ASSERT_EQ(members.size(), 100'001U);
  EXPECT_EQ(members[7].first, "7");
  EXPECT_EQ(members[7].second.text(), "{\"a\":2}") << "of equal names the last one counts";
  EXPECT_EQ(members.back().first, "x");
}

TEST_F(HostileDatabase, AJournalThatIsNoneOfTunersIsNeverApplied) {
  make();
  const std::string before = read_file(file);
  const fs::path journal = file.string() + "-journal";
  const auto read = [&] { Database::open_read_only(file); };
  const auto write = [&] { Database::open_user(file, {.strict = true}); };
  write_file(journal, std::string(1024, 'x') + "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7");  // as if it named another file
  EXPECT_THAT(error_of<CacheError>(read), HasSubstr("names another file, which would be deleted"));
  EXPECT_THAT(error_of<CacheError>(write), HasSubstr("names another file, which would be deleted"));
  fs::remove(journal);
  ASSERT_EQ(::mkfifo(journal.c_str(), 0600), 0);
  EXPECT_THAT(error_of<CacheError>(read), HasSubstr("is not a regular file"));
  EXPECT_FALSE(is_frozen_file(file)) << "which does not wait for a writer to the pipe";
  fs::remove(journal);
  EXPECT_EQ(error_of<CacheError>(read), "no error");
  EXPECT_EQ(read_file(file), before);
}

TEST_F(HostileDatabase, JournalsAreCheckedByALayerThatSQLiteKnowsOnlyWhileFilesAreOpened) {
  {
    const CheckedSideFiles slow;
    make();
    EXPECT_NE(sqlite3_vfs_find(CheckedSideFiles::name()), nullptr) << "nobody waits for another";
  }
  EXPECT_EQ(sqlite3_vfs_find(CheckedSideFiles::name()), nullptr);
}

TEST_F(HostileDatabase, AJournalOfAnotherUserIsAppliedOnlyIfThatUserMayWriteTheDatabase) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
  constexpr ::uid_t kOwner = 12345, kOther = 12346, kReader = 12347;
  constexpr ::gid_t kGroup = 12345;
  make();
  const fs::path journal = file.string() + "-journal";
  write_file(journal, "");
  ASSERT_EQ(::chown(file.c_str(), kOwner, kGroup), 0);
  const struct Row {
    ::gid_t group_of_journal;
    ::mode_t file, folder;
    bool applied;
  } rows[] = {{kGroup, 0664, 0775, true},
              {kGroup + 1, 0664, 0775, false},
              {kGroup, 0644, 0775, false},
              {kGroup, 0664, 01777, false}};
  for (const auto& row : rows) {
    ASSERT_EQ(::chown(journal.c_str(), kOther, row.group_of_journal), 0);
    ASSERT_EQ(::chmod(file.c_str(), row.file), 0);
    ASSERT_EQ(::chmod(folder.path().c_str(), row.folder), 0);
    ASSERT_EQ(::seteuid(kReader), 0);
    const auto why = error_of<CacheError>([&] { Database::open_read_only(file); });
    ASSERT_EQ(::seteuid(0), 0);
    EXPECT_EQ(why.find("belongs to another user than the database") == std::string::npos, row.applied) << why;
  }
}

/// A journal that empties the database which it stands beside, and then makes SQLite delete the file \p named.
std::string journal_that_names(const fs::path& named) {
  const std::string mark("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8), name = named.string();
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
  };
  std::string text = mark + number(0) + number(0) + number(0) + number(512) + number(4096);
  text.resize(512);
  std::uint32_t sum = 0;
  for (const char c : name) sum += static_cast<std::uint32_t>(static_cast<signed char>(c));
  return text + number(0x40000000 / 4096 + 1) + name + number(static_cast<std::uint32_t>(name.size())) + number(sum) +
         mark;
}

TEST_F(HostileDatabase, AJournalThatComesWhileTheDatabaseIsOpenIsNeverApplied) {
  make();
  const fs::path journal = file.string() + "-journal", victim = folder / "victim.txt";
  write_file(victim, "precious");
  auto options = warnings.options();
  options.look_again = std::chrono::milliseconds(0);
  auto writer = Database::open_user(file, options);
  auto reader = Database::open_read_only(file);
  ASSERT_EQ(find(reader, query()).best->configuration, "block=1");
  for (const bool is_of_another_user : {false, true}) {
    if (is_of_another_user && ::geteuid() != 0) continue;  // only root can make files of other users
    write_file(journal, journal_that_names(victim));
    const char* why = "names another file, which would be deleted";
    if (is_of_another_user) {
      write_file(journal, std::string(1024, 'x'));
      why = "belongs to another user than the database";
      ASSERT_EQ(::chown(journal.c_str(), 12345, 12345), 0);
    }
    EXPECT_THAT(find(reader, query()).unavailable, HasSubstr(why));
    EXPECT_THAT(error_of<Unavailable>([&] { (void)best_rows(reader); }), HasSubstr(why));
    warnings.texts.clear();
    store_best(writer, session_key(77), "block=2", 2);
    EXPECT_TRUE(writer.is_in_memory());
    EXPECT_THAT(warnings.texts, Contains(HasSubstr(why)));
    EXPECT_EQ(read_file(victim), "precious");
    fs::remove(journal);
    EXPECT_EQ(find(reader, query()).best->configuration, "block=1");
    EXPECT_EQ(find(writer, query(77)).best->configuration, "block=2");
    EXPECT_FALSE(writer.is_in_memory());
  }
  EXPECT_EQ(find(reader, query(77)).best->configuration, "block=2") << "and is stored";
  EXPECT_THAT(names_in(folder.path()), ElementsAre("victim.txt", "wisdom.db"));
}

TEST_F(HostileDatabase, NoFileBesideADatabaseIsFollowedToAnotherPlace) {
  make();
  const fs::path victim = folder / "victim.txt";
  write_file(victim, "precious");
  auto database = Database::open_user(file, warnings.options());
  for (const char* side : {"-journal", "-wal"}) {
    fs::create_symlink(victim, file.string() + side);
    store_best(database, session_key(77), "block=2", 2);
    EXPECT_THAT(find(*std::make_unique<Database>(open()), query()).unavailable, HasSubstr("is not a regular file"))
        << side;
    EXPECT_EQ(read_file(victim), "precious");
    fs::remove(file.string() + side);
    fs::create_hard_link(victim, file.string() + side);
    EXPECT_THAT(find(*std::make_unique<Database>(open()), query()).unavailable, HasSubstr("has a second name")) << side;
    EXPECT_EQ(read_file(victim), "precious");
    fs::remove(file.string() + side);
  }
  if (::geteuid() != 0) return;  // only root can make files of other users
  write_file(file.string() + "-wal", std::string(64, 'x'));
  ASSERT_EQ(::chown((file.string() + "-wal").c_str(), 12345, 12345), 0);
  EXPECT_THAT(error_of<CacheError>([&] { Database::open_read_only(file); }), HasSubstr("belongs to another user"));
}

TEST_F(HostileDatabase, ASchemaThatIsNotTunersIsDamageInOneSentence) {
  const auto with = [](const std::string& from, const std::string& to) {
    return "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '" + from + "', '" + to +
           "') WHERE name = 'best'";
  };
  for (const std::string& change :
       {std::string("ALTER TABLE best RENAME TO other; CREATE VIEW best AS SELECT * FROM other"),
        std::string("DROP TABLE best; CREATE TABLE best(id INTEGER PRIMARY KEY, kernel TEXT)"),
        std::string("DROP TABLE best"), with(") STRICT", ")"),
        with("source TEXT NOT NULL", "source TEXT NOT NULL COLLATE RTRIM"),
        with("median_ns REAL", "median_ns REAL AS (random() + 0.0)")}) {
    make();
    execute(file, change);
    for (const bool is_served : {false, true}) {
      EXPECT_THAT(error_of<CacheError>([&] {
                    is_served ? (void)find(*std::make_unique<Database>(Database::open_read_only(file)), query())
                              : (void)best_rows(*std::make_unique<Database>(Database::open_read_only(file)));
                  }),
                  HasSubstr("wisdom.db cannot be used: it is damaged"))
          << change;
    }
    fs::remove(file);
  }
}

TEST_F(HostileDatabase, TextInAnotherEncodingIsNoWisdom) {
  execute(file, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE best(kernel TEXT); PRAGMA application_id = " +
                    std::to_string(kApplicationId) + "; PRAGMA user_version = 655370");
  EXPECT_THAT(error_of<CacheError>([&] { Database::open_read_only(file); }), HasSubstr("it is not a wisdom database"));
}

TEST_F(HostileDatabase, ValuesWithoutOrderAreNotSearchedForEver) {
  make();
  execute(file,
          "PRAGMA user_version = 262243; PRAGMA writable_schema = ON; "  // of a newer tuner, in its own way
          "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'best'");
  execute(file, "UPDATE best SET compute_capability = 'any'");  // text is greater than all numbers, and taken for 0
  auto database = Database::open_read_only(file, warnings.options());
  EXPECT_EQ(find(database, query(5)).tier, Tier::fallback);
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("damaged rows were left out")));
}

TEST_F(HostileDatabase, EndsWhenItTakesFarTooLong) {
  make();
  execute(file,
          "CREATE TEMP TABLE copy AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
          "SELECT trial.* FROM trial, n; UPDATE copy SET id = rowid + 9, trial = rowid + 9; INSERT INTO trial SELECT * "
          "FROM copy");
  for (const std::int64_t check_bytes : {0, 1 << 20})  // while it is read, and while it is opened
    EXPECT_THAT(error_of<CacheError>([&] {
                  auto database = Database::open_read_only(
                      file, {.longest_read = std::chrono::milliseconds(0), .check_bytes = check_bytes});
                  export_all(database);
                }),
                HasSubstr("took far longer than on any sound file"));
  auto patient = Database::open_read_only(file);
  EXPECT_EQ(statistics(patient).trials, 2001);
}

/// Reads as many rows, which are in no table. Returns false when that fails.
bool reads(Database& database, int rows) {
  return database.store().read([&] {
    Query(database.store(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?) SELECT i FROM n",
          rows)
        .run();
    return true;
  });
}

TEST_F(HostileDatabase, HasNoMoreRowsThanItsFileHasRoomFor) {
  make();
  auto database = Database::open_read_only(file);
  EXPECT_TRUE(reads(database, 1000));
  EXPECT_THAT(error_of<CacheError>([&] { reads(database, 1'000'000); }),
              HasSubstr("it has more rows than its file has room for"));
}

TEST_F(HostileDatabase, IsStillReadAfterSomethingTookTooLong) {
  make();
  auto options = warnings.options();
  options.longest_read = std::chrono::milliseconds(0);
  auto database = Database::open_user(file, options);
  auto strict = Database::open_read_only(file, options);
  EXPECT_FALSE(reads(database, 50'000));
  EXPECT_THAT(error_of<CacheError>([&] { reads(strict, 50'000); }),
              HasSubstr("took far longer than on any sound file"));
  for (Database* one : {&database, &strict}) EXPECT_EQ(find(*one, query()).tier, Tier::exact);
  EXPECT_FALSE(database.is_in_memory());
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("took far longer than on any sound file")));
}

TEST_F(HostileDatabase, IsNotOneWhoseReaderHadToWait) {
  make();
  constexpr auto longest = std::chrono::milliseconds(200);
  auto database = Database::open_read_only(file, {.longest_read = longest});
  EXPECT_TRUE(database.store().read([&] {
    std::thread([&] {
      while (cpu_time() <= longest) {
      }
    }).join();
    return reads(database, 5000);
  }));
}

TEST_F(HostileDatabase, IsNotWaitedForWhereSomebodyKeepsItsFolderLocked) {
  make();
  const int folder_of_it = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(folder_of_it, LOCK_EX), 0);
  auto options = warnings.options();
  options.busy_timeout = std::chrono::milliseconds(20);
  {
    auto database = Database::open_user(file, options);
    EXPECT_EQ(find(database, query()).tier, Tier::exact);
  }
  const EnvironmentVariable own("TUNER_CACHE_DIR", folder.path().string());
  write_file(file, std::string(8192, 'x'));
  store_best(*std::make_unique<Database>(Database::open_user(file, options)), session_key(7), "block=7", 7);
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("a new one was begun")));
  ::close(folder_of_it);
}

TEST(HostileText, ThatNestsWithoutEndIsNoRecord) {
  auto database = Database::in_memory();
  for (const char* const before : {"{\"tuner_wisdom\": ", "{\"device\": \"\\\"[\", \"a\": "}) {
    const std::string deep = before + std::string(100'000, '[') + std::string(100'000, ']') + "}\n";
    EXPECT_THROW(import_text(database, deep), ImportError);
  }
}

constexpr const char* kCode = "2;struct/**/P{P(){system(\"x\");}}p";

void put_row(Database& database, const auto& record) {
  database.store().write([&] { put(database.store(), record); });
}

TEST(ForeignRows, ThatNameWhatIsNoNameAreLeftOut) {
  const std::pair<const char*, void (*)(Context&, std::string&)> changes[] = {
      {"a value", [](Context&, std::string& configuration) { configuration = std::string("block=") + kCode; }},
      {"a parameter", [](Context&, std::string& configuration) { configuration = "a;b=1"; }},
      {"a kernel", [](Context& c, std::string&) { c.kernel.name = "reduce*/x"; }},
      {"a source hash", [](Context& c, std::string&) { c.kernel.source_hash = "a\nint x;"; }},
      {"a size",
       [](Context& c, std::string&) {
         c.problem.sizes = {{"n\nint", 1}};
       }},
      {"a choice", [](Context& c, std::string&) { c.problem.choices = "T=float{}"; }},
      {"a choice without a value", [](Context& c, std::string&) { c.problem.choices = "T"; }}};
  for (const auto& [what, change] : changes) {
    Warnings warnings;
    auto database = Database::in_memory(warnings.options());
    SessionRecord session;
    session.key = session_key();
    session.uuid = "1";
    StoredTrial stored_trial{"1", 1, trial("block=32", 10)};
    BestRecord best{session_key(), trial("block=32", 10), "block=32", 3, 1};
    QuarantineRecord banned{h200().key, reduce_kernel(), problem(), "block=32", "hung", 1};
    change(session.key, stored_trial.trial.configuration);
    change(best, best.configuration);
    Context context = session_key();
    change(context, banned.configuration);
    banned.kernel = context.kernel;
    banned.problem = context.problem;
    put_row(database, session);
    put_row(database, stored_trial);
    put_row(database, best);
    put_row(database, banned);
    EXPECT_TRUE(best_rows(database).empty()) << what;
    EXPECT_TRUE(quarantined(database).empty()) << what;
    EXPECT_TRUE(sessions(database).empty() || session_trials(database, "1").empty()) << what;
    EXPECT_THAT(export_all(database), Not(HasSubstr(kCode))) << what;
    EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("damaged rows were left out"))) << what;
  }
}

}  // namespace
}  // namespace tuner::cache::test
