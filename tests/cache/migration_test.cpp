#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/browse.hpp>
#include <cache/session.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// A database as version 1 wrote it: schema_v1.sql and a few rows.
void write_version_1(const fs::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(read_file(fs::path(TUNER_SOURCE_DIR) / "tests/cache/schema_v1.sql"));
  db.exec(read_file(fs::path(TUNER_SOURCE_DIR) / "tests/cache/rows_v1.sql"));
}

SessionKey version_1_key() {
  auto key = session_key(1 << 20);
  key.kernel.source_hash = std::string(64, 'a');
  return key;
}

TEST(Migration, BringsVersion1ToThePresent) {
  const TemporaryFolder folder;
  write_version_1(folder / "wisdom.db");
  Warnings warnings;
  auto database = Database::open_user(folder / "wisdom.db", warnings.options());
  EXPECT_THAT(warnings.texts, ElementsAre());
  EXPECT_FALSE(database.is_in_memory());
  EXPECT_EQ(statistics(database).schema_version, kSchemaVersion);

  const auto match = find(database, query());
  EXPECT_EQ(match.tier, Tier::exact);
  ASSERT_TRUE(match);
  EXPECT_EQ(match.best->configuration, "block=256 step=shuffle vector=true");
  EXPECT_EQ(match.best->median_ns, 1000);
  EXPECT_EQ(match.best->device.key, h200().key);

  auto key = version_1_key();
  key.conditions = R"({"cold":true})";
  const auto trials = finished_trials(database, key);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0].samples_ns, (std::vector<double>{1.0, 2.0}));
  EXPECT_TRUE(trials[0].verified);
  EXPECT_EQ(trials[1].kind, "compile");
  EXPECT_EQ(trials[2].kind, "ok") << "noisy once";
  EXPECT_FALSE(trials[2].converged);
  EXPECT_EQ(database.quarantined(h200().key, key.kernel).size(), 1u);
  EXPECT_THAT(doctor(database), ElementsAre());
  store_best(database, session_key(5), "block=1", 1);
}

TEST(Migration, IsDoneOnce) {
  const TemporaryFolder folder;
  write_version_1(folder / "wisdom.db");
  { Database::open_user(folder / "wisdom.db"); }
  const auto after = read_file(folder / "wisdom.db");
  { Database::open_user(folder / "wisdom.db"); }
  EXPECT_EQ(read_file(folder / "wisdom.db"), after);
}

TEST(Migration, DropsABestThatWasNeverMeasured) {
  const TemporaryFolder folder;
  write_version_1(folder / "wisdom.db");
  {
    SQLite::Database db((folder / "wisdom.db").string(), SQLite::OPEN_READWRITE);
    db.exec("UPDATE measurement SET verified = 0");
  }
  auto database = Database::open_user(folder / "wisdom.db");
  EXPECT_TRUE(best_rows(database).empty());
}

TEST(Migration, OfAShippedFileIsLeftToItsMaker) {
  const TemporaryFolder folder;
  write_version_1(folder / "wisdom.db");
  const auto before = read_file(folder / "wisdom.db");
  Warnings warnings;
  EXPECT_FALSE(Database::open_shipped(folder / "wisdom.db", warnings.options()));
  EXPECT_EQ(warnings.texts.size(), 1u);
  EXPECT_EQ(read_file(folder / "wisdom.db"), before);
}

}  // namespace
}  // namespace tuner::cache::test
