#include <tuner/backend/cuda/driver/nvrtc.hpp>

#include <cache/file/paths.hpp>

#include <tuner/backend/cuda/driver/toolkit.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/memory_disk.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;
using testing::EnvironmentVariable;
using testing::TemporaryFolder;

std::string failure(const NvrtcSearch& search) {
  const auto result = load_nvrtc(search);
  const std::string* reason = std::get_if<std::string>(&result);
  return reason != nullptr ? *reason : "it loaded";
}

TEST(Nvrtc, SaysWhatWasTriedAndWhatToDoWhereThereIsNone) {
  const TemporaryFolder empty, broken;
  const std::string file = broken.write("libnvrtc.so.12", "not a library").string();
  const std::pair<std::string, std::string> rows[] = {
      {"/nowhere/libnvrtc.so.13", "/nowhere/libnvrtc.so.13"},
      {empty.path().string(), "no libnvrtc.so.13, .12 or .11.2 in " + empty.path().string()},
      {file, file},
      {"libm.so.6", "lacks nvrtcVersion"}};
  for (const auto& [asked, said] : rows)
    EXPECT_THAT(failure({.requested = asked}), AllOf(HasSubstr("NVRTC, the CUDA run-time compiler, was not found"),
                                                     HasSubstr("TUNER_NVRTC"), HasSubstr(said)));
}

TEST(Nvrtc, LooksInTheFolderOfCudaPathFirst) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("lib64/libnvrtc.so.12", "");
  const EnvironmentVariable variable("CUDA_PATH", folder.path().string());
  const auto candidates = nvrtc_candidates({});
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.front(), file);
}

TEST(Nvrtc, PrefersOneThatTheDriverCanLoadTheCodeOf) {
  const TemporaryFolder folder;
  const fs::path newer = folder.write("lib64/libnvrtc.so.13", "");
  const fs::path fitting = folder.write("lib64/libnvrtc.so.12", "");
  const EnvironmentVariable variable("CUDA_PATH", folder.path().string());
  EXPECT_EQ(nvrtc_candidates({.newest_major = 13}).front(), newer);
  EXPECT_EQ(nvrtc_candidates({.newest_major = 12}).front(), fitting);
}

TEST(Nvrtc, LooksInPythonPackagesOfOthersOnlyWhenAsked) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "");
  const EnvironmentVariable variable("VIRTUAL_ENV", folder.path().string());
  EXPECT_THAT(nvrtc_candidates({}), Not(Contains(file)));
  EXPECT_EQ(nvrtc_candidates({.requested = "python"}).front(), file);
}

TEST(Nvrtc, LooksInPythonPackagesBesideItsOwn) {
  const auto beside = [](const char* prefix) { return package_folders_beside({prefix}, {"nvidia/cu13/lib"}); };
  EXPECT_THAT(beside("/v/lib/python3.12/site-packages/tuner"),
              ElementsAre("/v/lib/python3.12/site-packages/nvidia/cu13/lib"));
  EXPECT_THAT(beside("/usr/lib/python3/dist-packages/tuner/libexec"),
              ElementsAre("/usr/lib/python3/dist-packages/nvidia/cu13/lib"));
  EXPECT_THAT(beside("/opt/tuner"), ElementsAre());
}

class NvrtcFactsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library.library = folder.write("toolkit/lib64/libnvrtc.so.12", "");
    library.includes = {folder / "toolkit/include"};
    folder.write("toolkit/include/cuda_runtime_api.h", "#define CUDART_VERSION 12040");
    library.version = 12040;
    library.architectures = {80, 90};
    library.headers = "CUDART_VERSION 12040";
    write_nvrtc_facts(file, search, library);
  }
  std::optional<NvrtcFacts> read() const { return read_nvrtc_facts(file, search); }

  const TemporaryFolder folder;
  const fs::path file = folder / "nvrtc";
  NvrtcSearch search{.requested = (folder / "toolkit/lib64").string(), .newest_major = 12, .capabilities = {90}};
  Nvrtc library;
};

TEST_F(NvrtcFactsTest, AreReadAsTheyWereWritten) {
  const auto facts = read();
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->version, library.version);
  EXPECT_EQ(facts->architectures, library.architectures);
  EXPECT_EQ(facts->headers, library.headers);
}

TEST_F(NvrtcFactsTest, AreNotThoseOfAnotherSearch) {
  search.capabilities = {90, 100};
  EXPECT_FALSE(read());
}

TEST_F(NvrtcFactsTest, EndWithTheLibraryThatTheyAreAbout) {
  testing::write_file(library.library, "another");
  EXPECT_FALSE(read());
}

TEST_F(NvrtcFactsTest, EndWithTheHeadersThatTheyAreAbout) {
  fs::remove(folder / "toolkit/include/cuda_runtime_api.h");
  EXPECT_FALSE(read());
}

TEST_F(NvrtcFactsTest, EndWhereALibraryIsAddedThatWouldBeTriedToo) {
  folder.write("toolkit/lib64/libnvrtc.so.13", "");
  EXPECT_FALSE(read());
}

TEST_F(NvrtcFactsTest, AreNotReadFromAPartOfAFile) {
  testing::MemoryDisk disk;
  disk.space = 100;
  write_nvrtc_facts(file, search, library, disk);
  EXPECT_TRUE(disk.files.empty()) << "the disk is full";
  disk.space = 1 << 20;
  write_nvrtc_facts(file, search, library, disk);
  EXPECT_TRUE(read_nvrtc_facts(file, search, disk));
  std::string& text = disk.files[file];
  for (int cut = 0; cut < 100; ++cut) {
    text.pop_back();
    EXPECT_FALSE(read_nvrtc_facts(file, search, disk)) << text;
  }
}

TEST(Nvrtc, IsOneThatKnowsAllCapabilitiesWhereThereIsOne) {
  const Nvrtc* library = find_nvrtc();
  if (library == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  const auto with = [&](std::vector<int> capabilities) {
    const auto found = load_nvrtc({.requested = library->library.string(), .capabilities = std::move(capabilities)});
    return std::get<Nvrtc>(found).architectures;
  };
  EXPECT_EQ(with({library->architectures.back()}), library->architectures);
  EXPECT_EQ(with({99999}), library->architectures) << "better one that does not know it than none";
}

TEST(Nvrtc, KnowsItsVersionArchitecturesAndHeaders) {
  const Nvrtc* library = find_nvrtc();
  if (library == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  EXPECT_GE(library->version, 11020);
  EXPECT_TRUE(fs::exists(library->library)) << library->library;
  EXPECT_THAT(library->architectures, Contains(80));
  EXPECT_TRUE(std::is_sorted(library->architectures.begin(), library->architectures.end()));
  for (const fs::path& folder : library->includes) EXPECT_TRUE(fs::is_directory(folder)) << folder;
}

}  // namespace
}  // namespace tuner::cuda
