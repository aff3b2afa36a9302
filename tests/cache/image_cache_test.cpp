#include <unistd.h>

#include <cstdio>

#include <cache/image_cache.hpp>
#include <cache/sha256.hpp>

#include <tests/child_process.hpp>
#include <tests/matchers.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;

using tuner::testing::start_child;
using tuner::testing::wait_for;

std::string key_of(int i) { return sha256_hex(std::to_string(i)); }

ImageCacheOptions quiet(Warnings& warnings, std::int64_t bytes = 1 << 20) {
  return {bytes, [&warnings](const std::string& text) { warnings.texts.push_back(text); }};
}

class KeptImages : public ::testing::Test {
 protected:
  const TemporaryFolder folder;
  const fs::path file = folder / "images.db";
  Warnings warnings;
};

TEST_F(KeptImages, GivesBackWhatWasPut) {
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
  EXPECT_EQ(mode_of(file), 0600u);
}

TEST_F(KeptImages, LetsTheLeastRecentlyUsedGoFirst) {
  ImageCache cache(folder.path(), quiet(warnings, 100'000));
  for (int i = 0; i < 9; ++i) cache.put(key_of(i), std::string(10'000, 'x'));
  for (int i = 0; i < 9; ++i)
    execute(file, "UPDATE image SET used_ms = " + std::to_string(1000 + i) + " WHERE key = '" + key_of(i) + "'");
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

TEST_F(KeptImages, NeverServesADamagedImage) {
  ImageCache cache(folder.path(), quiet(warnings));
  cache.put(key_of(1), "good code");
  execute(file, "UPDATE image SET bytes = CAST('evil code' AS BLOB)");
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_EQ(warnings.texts.size(), 1u);
  EXPECT_EQ(cache.stats().images, 0) << "removed";
  cache.put(key_of(1), "good code");
  EXPECT_TRUE(cache.get(key_of(1)));
}

TEST_F(KeptImages, RefusesPlacesThatOthersCanWriteTo) {
  fs::permissions(folder.path(), fs::perms::all);
  {
    ImageCache cache(folder.path(), quiet(warnings));
    cache.put(key_of(1), "x");
    EXPECT_FALSE(cache.get(key_of(1)));
    EXPECT_FALSE(cache.stats().usable);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("others can write")));
  fs::permissions(folder.path(), fs::perms::owner_all);
  { ImageCache(folder.path()).put(key_of(1), "x"); }
  fs::permissions(file, fs::perms::all);
  ImageCache cache(folder.path(), quiet(warnings));
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_EQ(warnings.texts.size(), 2u);
}

TEST_F(KeptImages, MayLieBehindALink) {
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  ImageCache cache(folder / "link", quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_TRUE(cache.get(key_of(1)));
  EXPECT_TRUE(warnings.texts.empty());
  EXPECT_TRUE(fs::exists(folder / "real/images.db"));
}

TEST_F(KeptImages, RefusesAFolderThatOthersCanReplace) {
  fs::create_directories(folder / "shared/mine");
  fs::permissions(folder / "shared", fs::perms::all);
  ImageCache cache(folder / "shared/mine", quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("chmod go-w " + fs::canonical(folder / "shared").string())));
}

TEST_F(KeptImages, RefusesWhatBelongsToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directory(folder / "theirs");
  ASSERT_EQ(::chown((folder / "theirs").c_str(), 12345, 12345), 0);
  ImageCache cache(folder / "theirs", quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("somebody else")));
}

TEST_F(KeptImages, DoesNothingWhereItCannotWrite) {
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

TEST_F(KeptImages, ReplacesAFileThatIsNone) {
  write_file(file, std::string(5000, 'z'));
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  ImageCache cache(folder.path(), quiet(warnings));
  cache.put(key_of(1), "x");
  EXPECT_TRUE(cache.get(key_of(1)));
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST_F(KeptImages, IsSharedByManyProcesses) {
  std::vector<pid_t> children;
  for (int child = 0; child < 6; ++child) {
    children.push_back(start_child([&] {
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
      return good;
    }));
  }
  for (const pid_t pid : children) EXPECT_EQ(wait_for(pid), 0);
  ImageCache cache(folder.path());
  EXPECT_EQ(cache.stats().images, 40);
}

}  // namespace
}  // namespace tuner::cache::test
