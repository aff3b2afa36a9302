#include <cstdlib>
#include <fstream>

#include <cache/exchange/exchange.hpp>
#include <cache/exchange/shipping.hpp>
#include <cache/query/shipped.hpp>

#include <tests/support/memory_disk.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;

class Shipped : public ::testing::Test {
 protected:
  const TemporaryFolder folder;
  Warnings warnings;
  const fs::path text = fs::path(TUNER_SOURCE_DIR) / "tests/cache/example.jsonl";
  const fs::path database_file = folder / "share/example.db";

  void SetUp() override { ASSERT_THAT(build_shipped_databases({text}, folder / "share"), ElementsAre(database_file)); }
};

TEST_F(Shipped, AnswersLikeAnyOtherButIsReadOnly) {
  auto database = Database::open_shipped(database_file, warnings.options());
  ASSERT_TRUE(database);
  EXPECT_THAT(warnings.texts, ElementsAre());
  const auto match = find(*database, query());
  EXPECT_EQ(match.tier, Tier::exact);
  EXPECT_TRUE(match.shipped);
  EXPECT_EQ(match.database, database_file.string());
  EXPECT_EQ(mode_of(database_file), 0444u);
  EXPECT_THAT(names_in(folder / "share"), ElementsAre("DEVICES.tsv", "MANIFEST.sha256", "example.db"))
      << "nothing beside it";
  EXPECT_THROW(database->quarantine(h200(), reduce_kernel(), problem(), "block=1", "x"), CacheError);
}

TEST_F(Shipped, GivesTheReviewedTextBack) {
  auto database = Database::open_shipped(database_file);
  ASSERT_TRUE(database);
  EXPECT_EQ(export_wisdom(*database), read_file(text));
}

TEST_F(Shipped, IsTheSameFileForTheSameText) {
  build_shipped_databases({text}, folder / "again");
  EXPECT_EQ(read_file(folder / "again/example.db"), read_file(database_file));
}

TEST_F(Shipped, IsIgnoredWhenItIsNotWhatTheManifestPromises) {
  auto bytes = read_file(database_file);
  bytes[bytes.size() / 2] ^= 1;
  fs::remove(database_file);
  write_file(database_file, bytes);
  EXPECT_FALSE(Database::open_shipped(database_file, warnings.options()));
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("SHA-256"));
}

TEST_F(Shipped, NamesItsDevicesBesideIt) {
  EXPECT_FALSE(lacks_device(database_file, h200().key));
  EXPECT_TRUE(lacks_device(database_file, "another device"));
}

TEST_F(Shipped, IsReadAnewOnceItWasWrittenToInPlace) {
  auto database = Database::open_shipped(database_file, warnings.options());
  ASSERT_TRUE(database);
  EXPECT_NE(find(*database, query()).best->configuration, "block=7");
  auto other = Database::in_memory();
  store_best(other, session_key(), "block=7", 1);
  fs::permissions(database_file, fs::perms::owner_write, fs::perm_options::add);
  std::ofstream(database_file, std::ios::binary) << bytes_of(other);
  fs::permissions(database_file, fs::perms::owner_write, fs::perm_options::remove);
  EXPECT_EQ(find(*database, query()).best->configuration, "block=7");
  EXPECT_THAT(warnings.texts, ElementsAre());
}

TEST_F(Shipped, MayHaveAnyDeviceOnceAnotherFileHasTakenItsPlace) {
  fs::remove(database_file);
  write_file(database_file, "of another size");
  EXPECT_FALSE(lacks_device(database_file, "another device"));
}

TEST_F(Shipped, IsIgnoredWhenItIsMissingForeignOrEmpty) {
  write_file(folder / "empty.db", "");
  write_file(folder / "text.db", "not a database, but long enough to be looked at");
  for (const char* name : {"missing.db", "empty.db", "text.db"}) {
    warnings.texts.clear();
    EXPECT_FALSE(Database::open_shipped(folder / name, warnings.options())) << name;
    EXPECT_EQ(warnings.texts.size(), 1u) << name;
  }
  EXPECT_EQ(read_file(folder / "empty.db"), "") << "never written to";
}

TEST_F(Shipped, KeepsTheOthersBesideIt) {
  fs::copy_file(text, folder / "second.jsonl");
  build_shipped_databases({folder / "second.jsonl"}, folder / "share");
  const auto manifest = read_file(folder / "share/MANIFEST.sha256");
  for (const std::string name : {"example.db", "second.db"}) {
    EXPECT_THAT(manifest, HasSubstr("  " + name + "\n"));
    EXPECT_TRUE(Database::open_shipped(folder / "share" / name));
    EXPECT_TRUE(lacks_device(folder / "share" / name, "another device"));
  }
}

TEST_F(Shipped, StaysWhenANewTextIsBrokenOrTheDiskIsFull) {
  tuner::testing::MemoryDisk disk;
  disk.files["text/example.jsonl"] = read_file(text);
  disk.files["text/broken.jsonl"] = read_file(text) + "{\n";
  build_shipped_databases({"text/example.jsonl"}, "share", disk);
  const auto before = disk.files;
  EXPECT_EQ(before.at("share/example.db"), read_file(database_file));
  EXPECT_THROW(build_shipped_databases({"text/example.jsonl", "text/broken.jsonl"}, "share", disk), ImportError);
  EXPECT_EQ(disk.files, before);
  disk.space = 10'000;
  EXPECT_THAT(error_of([&] { build_shipped_databases({"text/example.jsonl"}, "share", disk); }),
              HasSubstr("share/example.db cannot be written: No space left on device"));
  EXPECT_EQ(disk.files, before);
}

TEST_F(Shipped, IsBuiltByTheToolOfTheBuild) {
  const auto tool = std::string(TUNER_BINARY_DIR) + "/bin/tuner_wisdom_db";
  const auto build = [&](const fs::path& from) {
    return std::system((tool + " " + (folder / "tool").string() + " " + from.string() + " > /dev/null 2>&1").c_str());
  };
  ASSERT_EQ(build(text), 0);
  EXPECT_EQ(read_file(folder / "tool/example.db"), read_file(database_file));
  EXPECT_NE(build(folder.write("bad.jsonl", "{}\n")), 0);
}

}  // namespace
}  // namespace tuner::cache::test
