#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include <cache/image_files.hpp>

#include <tests/child_process.hpp>
#include <tests/environment_variable.hpp>
#include <tests/matchers.hpp>
#include <tests/temporary_folder.hpp>

namespace tuner::cache {
namespace {

namespace fs = std::filesystem;

class ImageFiles : public ::testing::Test {
 protected:
  std::optional<Image> find(const std::string& key = "k", const std::string& architecture = "sm_90") {
    std::optional<Image> found;
    find_image(
        architecture, key,
        [&](const Image& image) {
          found = image;
          return image.bytes != refused_;
        },
        [this](std::string_view message) { warning_ = message; });
    return found;
  }

  const testing::TemporaryFolder folder_;
  const fs::path shipped_ = folder_ / "shipped", kept_ = folder_ / "kept";
  const testing::EnvironmentVariable found_{"TUNER_DB_PATH", shipped_.string()};
  const testing::EnvironmentVariable written_{"TUNER_CACHE_DIR", kept_.string()};
  const Image image_{std::string("code\0\n{}", 8), R"({"functions":[]})"};
  std::string warning_, refused_ = "refused";
};

TEST_F(ImageFiles, GiveBackWhatWasWrittenForTheSameKeyAndArchitecture) {
  write_image(shipped_, "sm_90", "k", image_);
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->bytes, image_.bytes);
  EXPECT_EQ(find()->meta, image_.meta);
  EXPECT_FALSE(find("other"));
  EXPECT_FALSE(find("k", "sm_80"));
  EXPECT_EQ(warning_, "");
}

TEST_F(ImageFiles, AreLookedForBesideTheShippedWisdomFirst) {
  keep_image("sm_90", "k", image_);
  EXPECT_EQ(find()->bytes, image_.bytes);
  write_image(shipped_, "sm_90", "k", {"of the package", "{}"});
  EXPECT_EQ(find()->bytes, "of the package");
}

TEST_F(ImageFiles, OfThePackageDoNotHideTheUsersOwnWhereTheyAreRefused) {
  write_image(shipped_, "sm_90", "k", {"refused", "{}"});
  keep_image("sm_90", "k", image_);
  EXPECT_EQ(find()->bytes, image_.bytes);
}

TEST_F(ImageFiles, CannotBeWrittenToByOthersWhateverTheMaskOfNewFiles) {
  const mode_t before = ::umask(0);
  write_image(shipped_, "sm_90", "k", image_);
  ::umask(before);
  EXPECT_TRUE(find()) << warning_;
}

TEST_F(ImageFiles, OfRootServeEverybody) {
  if (::geteuid() != 0) GTEST_SKIP() << "root installs";
  write_image(shipped_, "sm_90", "k", image_);
  fs::permissions(folder_.path(), fs::perms(0755));
  EXPECT_EQ(testing::wait_for(testing::start_child([&] { return ::setuid(65534) == 0 && find(); })), 0);
}

TEST_F(ImageFiles, ThatAreDamagedArePassedOverWithAWarning) {
  const fs::path file = image_file(shipped_, "sm_90", "k");
  for (const std::string text : {"", "tuner image 1", "tuner image 1 0 {}\ncode"}) {
    write_image(shipped_, "sm_90", "k", image_);
    testing::write_file(file, text);
    EXPECT_FALSE(find()) << text;
    EXPECT_THAT(warning_, HasSubstr(file.string() + " is damaged"));
  }
}

TEST_F(ImageFiles, OfAnotherKeyAreNotTakenForThisOne) {
  write_image(shipped_, "sm_90", "other", image_);
  fs::rename(image_file(shipped_, "sm_90", "other"), image_file(shipped_, "sm_90", "k"));
  EXPECT_FALSE(find());
}

TEST_F(ImageFiles, ThatOthersCouldHaveChangedArePassedOverWithAWarning) {
  write_image(shipped_, "sm_90", "k", image_);
  fs::permissions(image_file(shipped_, "sm_90", "k"), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(find());
  EXPECT_THAT(warning_, HasSubstr("passed over"));
}

TEST_F(ImageFiles, TellForWhichArchitecturesThereAreAny) {
  EXPECT_THAT(image_architectures(), IsEmpty());
  write_image(shipped_, "sm_90", "k", image_);
  write_image(shipped_, "compute_80", "k", image_);
  keep_image("sm_90", "k", image_);
  EXPECT_THAT(image_architectures(), ElementsAre("compute_80", "sm_90"));
}

TEST_F(ImageFiles, AreKeptInTheCacheFolderUntilTheyBecomeTooMany) {
  for (int i = 0; i < 1025; ++i) keep_image("sm_90", "k" + std::to_string(i), image_);
  EXPECT_EQ(kept_images(kept_).images, 512);
  EXPECT_TRUE(find("k1024")) << "the newest stays";
  remove_kept_images(kept_);
  EXPECT_EQ(kept_images(kept_).images, 0);
}

TEST_F(ImageFiles, AreNotKeptWhereNothingCanBeWritten) {
  testing::write_file(kept_, "a file");
  keep_image("sm_90", "k", image_);
  EXPECT_FALSE(find());
}

}  // namespace
}  // namespace tuner::cache
