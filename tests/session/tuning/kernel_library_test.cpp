#include <tuner/session/tuning/kernel_library.hpp>

#include <cstdlib>
#include <fstream>

#include <cache/records/sha256.hpp>
#include <templates/embedded.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

#include <tests/support/session_fakes.hpp>

namespace tuner {
namespace {

class KernelLibraryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string text = testing::small_kernel().program.text;
    std::ofstream(folder_ / "copy.cu") << text;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(KernelLibraryTest, KnowsAFileThatStandsAloneByTheSha256OfItsText) {
  // Programs that write wisdom texts compute it, too.
  const std::string text =
      "#pragma tuner kernel one\n#pragma tuner size n : int64 = 64\n#pragma tuner parameter block = 32 64\n#pragma "
      "tuner out y[n] : float\n"
      "#pragma tuner grid n\n#pragma tuner block block\n__global__ void one(float* y, long long n) {}\n";
  for (const std::string& whole : {text, text + "#pragma tuner verify n=7\n"}) {
    const KernelSpec spec = parse_kernel_file(whole, "one.cu");
    EXPECT_EQ(to_record(spec, Objective()).source_hash, cache::sha256_hex(whole));
  }
}

TEST_F(KernelLibraryTest, GivesBuiltInTemplatesAsIfTheirTextWereJudgedAndHashedNow) {
  for (const EmbeddedTemplate& file : embedded_templates()) {
    const KernelSpec found = KernelLibrary().find(file.name), judged = parse_kernel_file(file.text, found.program.file);
    const std::string counted = counted_text(file.text);
    EXPECT_EQ(cache::sha256_of_text(file.text), cache::sha256_hex(file.text)) << file.name;
    EXPECT_EQ(cache::sha256_of_text(file.text, &counted_text), cache::sha256_hex(counted)) << file.name;
    EXPECT_EQ(file.counted_sha256, cache::sha256_hex(counted)) << file.name;
    EXPECT_EQ(file.counted_sha256 == file.sha256, !found.work.in_flight && !found.work.estimate && found.seeds.empty())
        << file.name;
    EXPECT_EQ(to_record(found, Objective()).source_hash, to_record(judged, Objective()).source_hash) << file.name;
    EXPECT_EQ(judged.program.includes, nullptr)
        << file.name << " includes a file of its folder, which find() does not see";
    EXPECT_EQ(judged.program.reference_includes, nullptr) << file.name;
  }
}

TEST_F(KernelLibraryTest, SuggestsTheNearestNameAndListsAllOfThem) {
  const std::string message = error_of([] { KernelLibrary().find("sumMatrix2d"); });
  EXPECT_THAT(message, HasSubstr("unknown kernel 'sumMatrix2d'; did you mean 'sumMatrix2D'?"));
  EXPECT_THAT(message, HasSubstr("warpDivergence"));
}

TEST_F(KernelLibraryTest, ReadsAFileByItsPath) {
  EXPECT_EQ(KernelLibrary().find((folder_ / "copy.cu").string()).name, "copy");
}

TEST_F(KernelLibraryTest, SaysWhichFileCannotBeRead) {
  EXPECT_THAT(error_of([&] { KernelLibrary().find((folder_ / "missing.cu").string()); }), HasSubstr("missing.cu"));
}

TEST_F(KernelLibraryTest, PrefersTheTemplatePathOfTheEnvironmentToTheBuiltInTemplates) {
  std::filesystem::copy(folder_ / "copy.cu", folder_ / "reduce.cu");
  ::setenv("TUNER_TEMPLATE_PATH", ("/nowhere:" + folder_.path().string()).c_str(), 1);
  EXPECT_EQ(KernelLibrary().find("copy").name, "copy");
  EXPECT_EQ(KernelLibrary().find("reduce").name, "copy");
  EXPECT_EQ(KernelLibrary().missing_folders(), "TUNER_TEMPLATE_PATH names /nowhere, which is not a folder.");
  EXPECT_THAT(error_of([] { KernelLibrary().find("other"); }), HasSubstr("names /nowhere, which is not a folder."));
  ::unsetenv("TUNER_TEMPLATE_PATH");
}

}  // namespace
}  // namespace tuner
