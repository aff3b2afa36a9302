#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/image_cache.hpp>
#include <cache/sha256.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string key_of(int i) { return sha256_hex(std::to_string(i)); }

ImageCacheOptions quiet(Warnings& warnings, std::int64_t bytes = 1 << 20) {
  return {bytes, [&warnings](const std::string& text) { warnings.texts.push_back(text); }};
}

TEST(ImageCache, GivesBackWhatWasPut) {
  const TemporaryFolder folder;
  const std::string bytes(
      "\x7f"
      "ELF\0binary\xff",
      12);
  {
    ImageCache cache(folder.path());
    EXPECT_FALSE(cache.get(key_of(1)));
    cache.put(key_of(1), "another that does not load any more", "{}");
    cache.put(key_of(1), bytes, R"({"registers":32})");
  }
  ImageCache cache(folder.path());
  const auto image = cache.get(key_of(1));
  ASSERT_TRUE(image);
  EXPECT_EQ(image->bytes, bytes);
  EXPECT_EQ(image->meta, R"({"registers":32})");
  EXPECT_FALSE(cache.get(key_of(2)));
  const auto stats = cache.stats();
  EXPECT_EQ(stats.images, 1);
  EXPECT_TRUE(stats.usable);
  EXPECT_THROW(cache.put("short", "x"), CacheError);
  cache.clear();
  EXPECT_EQ(cache.stats().images, 0);
  struct stat info {};
  ASSERT_EQ(::stat((folder / "images.db").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(ImageCache, LetsTheLeastRecentlyUsedGoFirst) {
  const TemporaryFolder folder;
  Warnings warnings;
  ImageCache cache(folder.path(), quiet(warnings, 100'000));
  for (int i = 0; i < 9; ++i) cache.put(key_of(i), std::string(10'000, 'x'));
  {
    SQLite::Database db((folder / "images.db").string(), SQLite::OPEN_READWRITE);
    for (int i = 0; i < 9; ++i) {
      SQLite::Statement age(db, "UPDATE image SET used_ms = ? WHERE key = ?");
      age.bind(1, 1000 + i);
      age.bind(2, key_of(i));
      age.exec();
    }
  }
  EXPECT_TRUE(cache.get(key_of(0))) << "used now";
  cache.put(key_of(9), std::string(10'000, 'x'));
  cache.put(key_of(10), std::string(10'000, 'x'));
  EXPECT_TRUE(cache.get(key_of(0)));
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_TRUE(cache.get(key_of(10)));
  EXPECT_LE(cache.stats().bytes, 100'000);
  cache.put(key_of(11), std::string(30'000, 'x'));
  EXPECT_FALSE(cache.get(key_of(11))) << "too large to be kept";
}

TEST(ImageCache, NeverServesADamagedImage) {
  const TemporaryFolder folder;
  Warnings warnings;
  ImageCache cache(folder.path(), quiet(warnings));
  cache.put(key_of(1), "good code");
  {
    SQLite::Database db((folder / "images.db").string(), SQLite::OPEN_READWRITE);
    db.exec("UPDATE image SET bytes = CAST('evil code' AS BLOB)");
  }
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_EQ(warnings.texts.size(), 1u);
  EXPECT_EQ(cache.stats().images, 0) << "removed";
  cache.put(key_of(1), "good code");
  EXPECT_TRUE(cache.get(key_of(1)));
}

TEST(ImageCache, RefusesPlacesThatOthersCanWriteTo) {
  const TemporaryFolder folder;
  Warnings warnings;
  fs::permissions(folder.path(), fs::perms::all);
  {
    ImageCache cache(folder.path(), quiet(warnings));
    cache.put(key_of(1), "x");
    EXPECT_FALSE(cache.get(key_of(1)));
    EXPECT_FALSE(cache.stats().usable);
    EXPECT_FALSE(fs::exists(folder / "images.db"));
  }
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("others can write"));
  fs::permissions(folder.path(), fs::perms::owner_all);
  { ImageCache(folder.path()).put(key_of(1), "x"); }
  fs::permissions(folder / "images.db", fs::perms::all);
  ImageCache cache(folder.path(), quiet(warnings));
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_EQ(warnings.texts.size(), 2u);
}

TEST(ImageCache, MayLieBehindALink) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  Warnings warnings;
  ImageCache cache(folder / "link", quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_TRUE(cache.get(key_of(1)));
  EXPECT_TRUE(warnings.texts.empty());
  EXPECT_TRUE(fs::exists(folder / "real/images.db"));
}

TEST(ImageCache, RefusesAFolderThatOthersCanReplace) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "shared/mine");
  fs::permissions(folder / "shared", fs::perms::all);
  Warnings warnings;
  ImageCache cache(folder / "shared/mine", quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_FALSE(cache.get(key_of(1)));
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("chmod go-w " + fs::canonical(folder / "shared").string()));
}

TEST(ImageCache, RefusesWhatBelongsToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TemporaryFolder folder;
  Warnings warnings;
  fs::create_directory(folder / "theirs");
  ASSERT_EQ(::chown((folder / "theirs").c_str(), 12345, 12345), 0);
  ImageCache cache(folder / "theirs", quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_FALSE(cache.get(key_of(1)));
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_THAT(warnings.texts[0], HasSubstr("somebody else"));
}

TEST(ImageCache, DoesNothingWhereItCannotWrite) {
  const TemporaryFolder folder;
  Warnings warnings;
  write_file(folder / "file", "x");
  ImageCache cache(folder / "file/below", quiet(warnings));
  for (int i = 0; i < 3; ++i) {
    cache.put(key_of(i), "x");
    EXPECT_FALSE(cache.get(key_of(i)));
  }
  cache.clear();
  EXPECT_FALSE(cache.stats().usable);
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(ImageCache, ReplacesAFileThatIsNone) {
  const TemporaryFolder folder;
  Warnings warnings;
  write_file(folder / "images.db", std::string(5000, 'z'));
  fs::permissions(folder / "images.db", fs::perms::owner_read | fs::perms::owner_write);
  ImageCache cache(folder.path(), quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_TRUE(cache.get(key_of(1)));
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(ImageCache, IsSharedByManyProcesses) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 6; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ImageCacheOptions options;
      options.warn = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
      ImageCache cache(folder.path(), options);
      bool good = true;
      for (int i = 0; i < 20; ++i) {
        const auto key = key_of((child * 10 + i) % 40);
        cache.put(key, "image of " + key);
        const auto image = cache.get(key);
        good = good && image && image->bytes == "image of " + key;
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  ImageCache cache(folder.path());
  EXPECT_EQ(cache.stats().images, 40);
}

}  // namespace
}  // namespace tuner::cache::test
