#include <unistd.h>

#include <cache/query/image_files.hpp>

#include <tests/support/child_process.hpp>
#include <tests/support/memory_disk.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using tuner::testing::MemoryDisk;

class Images : public ::testing::Test {
 protected:
  std::optional<Image> find(const std::string& key = "k", const std::string& architecture = "sm_90") {
    std::optional<Image> found;
    const auto accept = [&](const Image& image) {
      if (image.bytes != "refused") found = image;
      return found.has_value();
    };
    find_image(architecture, key, accept, warn_);
    return found;
  }
  Failure keep(const Image& image, const std::string& key = "k") { return keep_image(kept_, "sm_90", key, image); }

  const TemporaryFolder folder_;
  const fs::path shipped_ = folder_ / "shipped", kept_ = folder_ / "kept";
  const EnvironmentVariable found_{"TUNER_DB_PATH", shipped_.string()};
  const EnvironmentVariable written_{"TUNER_CACHE_DIR", kept_.string()};
  const Image image_{std::string("code\0\n{}", 8), R"({"functions":[]})"};
  std::string warning_;
  const WarningSink warn_ = [this](const std::string& message) { warning_ = message; };
};

TEST_F(Images, GiveBackWhatWasWrittenForTheSameKeyAndArchitecture) {
  write_image(shipped_, "sm_90", "k", image_);
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->bytes, image_.bytes);
  EXPECT_EQ(find()->meta, image_.meta);
  EXPECT_FALSE(find("other"));
  EXPECT_FALSE(find("k", "sm_80"));
  EXPECT_EQ(warning_, "");
}

TEST_F(Images, AreLookedForBesideTheShippedWisdomFirst) {
  EXPECT_FALSE(keep({"an earlier one", "{}"}));
  EXPECT_FALSE(keep(image_));
  EXPECT_EQ(mode_of(image_file(kept_, "sm_90", "k")), 0600u);
  EXPECT_EQ(find()->bytes, image_.bytes);
  EXPECT_EQ(kept_image(kept_, "sm_90", "k", warn_)->bytes, image_.bytes);
  write_image(shipped_, "sm_90", "k", {"of the package", "{}"});
  EXPECT_EQ(find()->bytes, "of the package");
  write_image(shipped_, "sm_90", "k", {"refused", "{}"});
  EXPECT_EQ(find()->bytes, image_.bytes);
}

TEST_F(Images, CannotBeWrittenToByOthersWhateverTheMaskOfNewFiles) {
  const mode_t before = ::umask(0);
  write_image(shipped_, "sm_90", "k", image_);
  ::umask(before);
  EXPECT_TRUE(find()) << warning_;
}

TEST_F(Images, OfRootServeEverybody) {
  if (::geteuid() != 0) GTEST_SKIP() << "root installs";
  write_image(shipped_, "sm_90", "k", image_);
  fs::permissions(folder_.path(), fs::perms(0755));
  EXPECT_EQ(tuner::testing::wait_for(tuner::testing::start_child([&] { return ::setuid(65534) == 0 && find(); })), 0);
}

TEST_F(Images, ThatAreDamagedOrOfAnotherKeyArePassedOverWithAWarning) {
  write_image(shipped_, "sm_90", "other", image_);
  const fs::path file = image_file(shipped_, "sm_90", "k");
  for (const std::string& text : {std::string(), std::string("tuner image 1"), std::string("tuner image 1 0 {}\ncode"),
                                  read_file(image_file(shipped_, "sm_90", "other"))}) {
    write_file(file, text);
    warning_.clear();
    EXPECT_FALSE(find()) << text;
    EXPECT_THAT(warning_, HasSubstr(file.string() + " is damaged"));
  }
}

TEST_F(Images, ThatOthersCouldHaveChangedAreIgnoredWithAWarning) {
  write_image(shipped_, "sm_90", "k", image_);
  fs::permissions(image_file(shipped_, "sm_90", "k"), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(find());
  EXPECT_THAT(warning_, HasSubstr("is ignored"));
}

TEST_F(Images, TellForWhichArchitecturesThereAreAny) {
  EXPECT_THAT(image_architectures(), IsEmpty());
  write_image(shipped_, "sm_90", "k", image_);
  write_image(shipped_, "compute_80", "k", image_);
  EXPECT_FALSE(keep(image_));
  EXPECT_THAT(image_architectures(), ElementsAre("compute_80", "sm_90"));
}

TEST_F(Images, AreKeptUntilTheyBecomeTooMany) {
  const Image large{std::string(1000, 'x'), "{}"};
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(keep_image(kept_, "sm_90", "k" + std::to_string(i), large, 50'000));
  EXPECT_LT(kept_images(kept_).images, 120);
  EXPECT_LT(kept_images(kept_).bytes, 120'000);
  EXPECT_TRUE(find("k199")) << "the newest stays";
  remove_kept_images(kept_);
  EXPECT_EQ(kept_images(kept_).images, 0);
}

TEST_F(Images, AreKeptOnlyWhereNobodyElseCanWriteAndTheReasonIsGiven) {
  fs::create_directories(folder_ / "real");
  fs::create_directory_symlink(folder_ / "real", kept_);
  EXPECT_EQ(keep(image_), std::nullopt) << "through a link";
  fs::permissions(folder_ / "real", fs::perms::all);
  EXPECT_THAT(keep(image_).value_or(""), HasSubstr("chmod go-w " + fs::canonical(kept_).string()));
  EXPECT_FALSE(find());
  fs::remove(kept_);
  write_file(kept_, "a file");
  EXPECT_TRUE(keep(image_));
}

TEST_F(Images, AreWholeOrNotThereWhateverTheDiskDoes) {
  MemoryDisk disk;
  const auto found = [&] { return kept_image("cache", "sm_90", "k", warn_, disk).has_value(); };
  const auto keep = [&] { return keep_image("cache", "sm_90", "k", image_, 1000, disk); };
  disk.space = 10;
  EXPECT_EQ(keep(), "No space left on device");
  EXPECT_TRUE(disk.files.empty()) << "no piece is left";
  disk.space = 1000;
  disk.loses_renames = true;
  EXPECT_FALSE(keep());
  EXPECT_FALSE(found());
  disk.loses_renames = false;
  EXPECT_EQ(warning_, "");
  disk.cuts_short = true;
  EXPECT_FALSE(keep());
  EXPECT_FALSE(found());
  EXPECT_THAT(warning_, HasSubstr("is damaged"));
  disk.cuts_short = false;
  EXPECT_FALSE(keep());
  EXPECT_TRUE(found());
}

TEST_F(Images, AreSharedByManyProcesses) {
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child)
    children.push_back(tuner::testing::start_child([&] {
      bool good = true;
      for (int i = 0; i < 20; ++i) {
        const std::string key = "k" + std::to_string((child * 10 + i) % 40);
        good = good && !keep_image(kept_, "sm_90", key, {"image of " + key, "{}"});
        const auto image = kept_image(kept_, "sm_90", key, {});
        good = good && image && image->bytes == "image of " + key;
      }
      return good;
    }));
  for (const pid_t pid : children) EXPECT_EQ(tuner::testing::wait_for(pid), 0);
  EXPECT_EQ(kept_images(kept_).images, 40) << "and no pieces are left";
}

}  // namespace
}  // namespace tuner::cache::test
