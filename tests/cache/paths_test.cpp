#include <cache/paths.hpp>

#include <tests/matchers.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;

TEST(Paths, FollowTheFirstVariableThatIsSet) {
  const EnvironmentVariable home("HOME", "/home/ada");
  const EnvironmentVariable xdg("XDG_CACHE_HOME", "/xdg");
  {
    const EnvironmentVariable own("TUNER_CACHE_DIR", "/own");
    EXPECT_EQ(user_cache_dir(), "/own");
  }
  const EnvironmentVariable own("TUNER_CACHE_DIR", "");
  EXPECT_EQ(user_cache_dir(), "/xdg/tuner");
  EXPECT_EQ(user_database_file(), "/xdg/tuner/wisdom.db");
  const EnvironmentVariable relative("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(user_cache_dir(), "/home/ada/.cache/tuner");
}

TEST(Paths, AreAbsoluteWhereverTheWorkGoesOn) {
  const EnvironmentVariable own("TUNER_CACHE_DIR", "relative");
  EXPECT_EQ(user_cache_dir(), fs::current_path() / "relative");
}

TEST(Paths, OfTheInstallationFollowTheProgram) {
  const auto program = fs::read_symlink("/proc/self/exe");
  ASSERT_FALSE(installation_prefixes().empty());
  EXPECT_EQ(installation_prefixes().front(), program.parent_path().parent_path());
}

TEST(Paths, FindShippedDatabasesInOrderAndOnce) {
  const TemporaryFolder folder;
  for (const char* name : {"application/b.db", "application/a.db", "application/readme.txt", "one/c.db", "single.db",
                           "data/tuner/wisdom/d.db"}) {
    write_file(folder / name, "x");
  }
  const auto list = (folder / "application").string() + ":" + (folder / "one").string() +
                    "::" + (folder / "single.db").string() + ":" + (folder / "missing").string() + ":" +
                    (folder / "application").string();
  const EnvironmentVariable path("TUNER_DB_PATH", list);
  const EnvironmentVariable data("XDG_DATA_DIRS", (folder / "data").string());
  std::vector<fs::path> found;
  for (const auto& file : shipped_database_files()) {
    if (file.string().starts_with(fs::canonical(folder.path()).string())) found.push_back(file.filename());
  }
  EXPECT_THAT(found, ElementsAre("a.db", "b.db", "c.db", "single.db", "d.db"));
}

TEST(Paths, OfMissingFilesAreOnNoNetwork) { EXPECT_FALSE(on_network_file_system("/no/such/place")); }

TEST(Database, IsReadableByItsOwnerOnly) {
  const TemporaryFolder folder;
  auto database = Database::open_user(folder / "deep/wisdom.db");
  EXPECT_FALSE(database.is_in_memory());
  EXPECT_EQ(mode_of(folder / "deep/wisdom.db"), 0600u);
  EXPECT_EQ(mode_of(folder / "deep"), 0700u);
}

}  // namespace
}  // namespace tuner::cache::test
