#include <tuner/backend/cuda/nvrtc.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// A folder for one test.
class Folder {
 public:
  explicit Folder(const char* name) : path_(fs::temp_directory_path() / (name + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  fs::path add(const fs::path& file, const char* text = "") const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
    return path_ / file;
  }

 private:
  fs::path path_;
};

/// Sets an environment variable for a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

std::string failure(const NvrtcSearch& search) {
  const auto result = load_nvrtc(search);
  const std::string* reason = std::get_if<std::string>(&result);
  return reason != nullptr ? *reason : "it loaded";
}

TEST(Nvrtc, SaysWhatWasTriedAndWhatToDoWhenTheFileAskedForIsMissing) {
  EXPECT_THAT(failure({.asked = "/nowhere/libnvrtc.so.13"}),
              AllOf(HasSubstr("NVRTC, the CUDA run-time compiler, was not found"), HasSubstr("TUNER_NVRTC"),
                    HasSubstr("/nowhere/libnvrtc.so.13")));
}

TEST(Nvrtc, SaysSoWhenTheFolderAskedForHasNone) {
  const Folder folder("tuner-nvrtc-empty-");
  EXPECT_THAT(failure({.asked = folder.path().string()}),
              HasSubstr("no libnvrtc.so.13, .12 or .11.2 in " + folder.path().string()));
}

TEST(Nvrtc, SaysSoWhenTheFileIsNoLibrary) {
  const Folder folder("tuner-nvrtc-broken-");
  const fs::path file = folder.add("libnvrtc.so.12", "not a library");
  EXPECT_THAT(failure({.asked = file.string()}), HasSubstr(file.string()));
}

TEST(Nvrtc, SaysSoWhenTheLibraryIsAnother) {
  EXPECT_THAT(failure({.asked = "libm.so.6"}), HasSubstr("lacks nvrtcVersion"));
}

TEST(Nvrtc, LooksInTheFolderOfCudaPathFirst) {
  const Folder folder("tuner-nvrtc-path-");
  const fs::path file = folder.add("lib64/libnvrtc.so.12");
  const Variable variable("CUDA_PATH", folder.path().string());
  const auto candidates = nvrtc_candidates({});
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.front(), file);
}

TEST(Nvrtc, PrefersOneThatTheDriverCanLoadTheCodeOf) {
  const Folder folder("tuner-nvrtc-major-");
  const fs::path newer = folder.add("lib64/libnvrtc.so.13");
  const fs::path fitting = folder.add("lib64/libnvrtc.so.12");
  const Variable variable("CUDA_PATH", folder.path().string());
  EXPECT_EQ(nvrtc_candidates({.newest_major = 13}).front(), newer);
  EXPECT_EQ(nvrtc_candidates({.newest_major = 12}).front(), fitting);
}

TEST(Nvrtc, LooksInPythonPackagesOnlyWhenAsked) {
  const Folder folder("tuner-nvrtc-python-");
  const fs::path file = folder.add("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const Variable variable("VIRTUAL_ENV", folder.path().string());
  EXPECT_THAT(nvrtc_candidates({}), testing::Not(testing::Contains(file)));
  EXPECT_THAT(nvrtc_candidates({.python = true}), testing::Contains(file));
  EXPECT_EQ(nvrtc_candidates({.asked = "python"}).front(), file);
}

TEST(Nvrtc, KnowsItsVersionArchitecturesAndHeaders) {
  const Nvrtc* library = find_nvrtc();
  if (library == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  EXPECT_GE(library->version, 11020);
  EXPECT_TRUE(fs::exists(library->library)) << library->library;
  EXPECT_THAT(library->architectures, testing::Contains(80));
  EXPECT_TRUE(std::is_sorted(library->architectures.begin(), library->architectures.end()));
  for (const fs::path& folder : library->includes) EXPECT_TRUE(fs::is_directory(folder)) << folder;
}

}  // namespace
}  // namespace tuner::cuda
