#include <cstdlib>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cache/paths.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// Sets an environment variable for the length of a test; nullptr takes it away.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Paths, FollowTheFirstVariableThatIsSet) {
  const Variable home("HOME", "/home/ada");
  const Variable xdg("XDG_CACHE_HOME", "/xdg");
  {
    const Variable own("TUNER_CACHE_DIR", "/own");
    EXPECT_EQ(user_cache_dir(), "/own");
  }
  const Variable own("TUNER_CACHE_DIR", "");
  EXPECT_EQ(user_cache_dir(), "/xdg/tuner");
  EXPECT_EQ(user_database_file(), "/xdg/tuner/wisdom.db");
  const Variable relative("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(user_cache_dir(), "/home/ada/.cache/tuner");
}

TEST(Paths, FindShippedDatabasesInOrderAndOnce) {
  const TemporaryFolder folder;
  for (const char* name : {"application", "one", "data/tuner/wisdom"}) fs::create_directories(folder / name);
  for (const char* name : {"application/b.db", "application/a.db", "application/readme.txt", "one/c.db", "single.db",
                           "data/tuner/wisdom/d.db"}) {
    write_file(folder / name, "x");
  }
  const auto list = (folder / "one").string() + "::" + (folder / "single.db").string() + ":" +
                    (folder / "missing").string() + ":" + (folder / "application").string();
  const Variable path("TUNER_DB_PATH", list.c_str());
  const Variable data("XDG_DATA_DIRS", (folder / "data").c_str());
  std::vector<fs::path> found;
  for (const auto& file : shipped_database_files(folder / "application")) {
    if (file.string().starts_with(fs::canonical(folder.path()).string())) found.push_back(file.filename());
  }
  EXPECT_THAT(found, ElementsAre("a.db", "b.db", "c.db", "single.db", "d.db"));
}

TEST(Paths, AreCreatedForTheOwnerOnly) {
  const TemporaryFolder folder;
  const auto nested = folder / "a/b/c";
  ASSERT_TRUE(make_private_folder(nested));
  ASSERT_TRUE(make_private_folder(nested)) << "again";
  struct stat info {};
  for (const char* part : {"a", "a/b", "a/b/c"}) {
    ASSERT_EQ(::stat((folder / part).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << part;
  }
  write_file(folder / "file", "x");
  EXPECT_FALSE(make_private_folder(folder / "file/below"));
}

TEST(Paths, OfMissingFilesAreOnNoNetwork) { EXPECT_FALSE(on_network_file_system("/no/such/place")); }

TEST(Database, IsReadableByItsOwnerOnly) {
  const TemporaryFolder folder;
  auto database = Database::open_user(folder / "deep/wisdom.db");
  EXPECT_FALSE(database.is_in_memory());
  struct stat info {};
  ASSERT_EQ(::stat((folder / "deep/wisdom.db").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder / "deep").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

}  // namespace
}  // namespace tuner::cache::test
