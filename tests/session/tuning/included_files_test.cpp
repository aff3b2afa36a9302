// A kernel with an edited header is another kernel: earlier images and results must not answer for it.

#include <chrono>
#include <filesystem>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/kept_images.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/support/session_fakes.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;

class IncludedFiles : public ::testing::Test {
 protected:
  IncludedFiles() {
    folder_.write("kernel.cu", "#include \"outer.h\"\n" + small_kernel().program.text);
    folder_.write("outer.h", "# include \"inner.h\"\n");
    folder_.write("inner.h", "// one\n");
  }
  KernelSpec read() const { return read_kernel_file(folder_ / "kernel.cu"); }
  static CompileRequest request(const KernelSpec& spec) {
    return compile_request(spec, complete(spec, {{{"n", 1000}}, {}}), {}, "sm_90",
                           Configuration::parse("block=32 unroll=1"));
  }
  static std::string key(const KernelSpec& spec) { return image_key(request(spec), "compiler 1"); }
  static std::string source_hash(const KernelSpec& spec) { return to_record(spec, Objective{}).source_hash; }

  TemporaryFolder folder_;
};

TEST_F(IncludedFiles, BelongToTheIdentityOfImagesAndResultsHoweverDeepTheyAre) {
  const KernelSpec before = read();
  EXPECT_EQ(source_hash(read()), source_hash(before));
  EXPECT_EQ(key(read()), key(before));
  folder_.write("inner.h", "// two\n");
  EXPECT_NE(source_hash(read()), source_hash(before));
  EXPECT_NE(key(read()), key(before));
  std::filesystem::remove(folder_ / "inner.h");
  EXPECT_NE(source_hash(read()), source_hash(before));
}

TEST_F(IncludedFiles, AreCountedBesideAllLinesOfTheKernelFileExceptThoseThatChangeNoResult) {
  const std::string before = source_hash(read()), text = "#include \"outer.h\"\n" + small_kernel().program.text;
  const std::string in_flight = "\n#pragma tuner in_flight   2 * \\\n                          sizeof(float)";
  const std::size_t end = text.rfind("\n#pragma tuner");
  folder_.write("kernel.cu", text.substr(0, end) + in_flight + text.substr(end));
  EXPECT_TRUE(read().work.in_flight);
  EXPECT_EQ(source_hash(read()), before);
  EXPECT_EQ(counted_text(text + in_flight), text);
  for (const char* const line : {"seed block=32 unroll=1", "estimate 0.5 * n / block"})
    EXPECT_EQ(counted_text(text + "\n#pragma tuner " + line), text);
  folder_.write("kernel.cu", text.substr(0, end) + "\n" + text.substr(end));
  EXPECT_NE(source_hash(read()), before);
}

TEST_F(IncludedFiles, OfNumbersBelongToTheIdentityOfResults) {
  folder_.write("kernel.cu", small_kernel().program.text + "#pragma tuner fill a = file \"a.npy\"\n");
  std::set<std::string> hashes{source_hash(read())};
  for (const char* content : {"1", "2", ""}) {
    folder_.write("a.npy", content);
    EXPECT_TRUE(hashes.insert(source_hash(read())).second) << content;
  }
}

TEST_F(IncludedFiles, OfNumbersAreSeenToChangeAlsoWhereTheirTimeIsSetBack) {
  folder_.write("kernel.cu", small_kernel().program.text + "#pragma tuner fill a = file \"a.npy\"\n");
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::set<std::string> hashes;
  for (const char* content : {"one", "two", "six"}) {
    folder_.write("a.npy", content);
    std::filesystem::last_write_time(folder_ / "a.npy", long_ago);
    EXPECT_TRUE(hashes.insert(source_hash(read())).second) << content;
  }
}

TEST_F(IncludedFiles, MakeAnImageUnfitToBeKeptWhenTheyChangedWhileItWasCompiled) {
  const CompileRequest before = request(read());
  EXPECT_TRUE(is_addressable(before));
  folder_.write("inner.h", "// two\n");
  EXPECT_FALSE(is_addressable(before));
  EXPECT_TRUE(is_addressable(request(read())));
}

TEST_F(IncludedFiles, ThatAMacroNamesMakeAnImageUnfitToBeKept) {
  folder_.write("kernel.cu", "#define FILE <inner.h>\n#include FILE\n" + small_kernel().program.text);
  EXPECT_FALSE(is_addressable(request(read())));
}

TEST_F(IncludedFiles, AreNoPartOfAKernelThatIncludesNothing) {
  const KernelSpec spec = small_kernel();
  EXPECT_EQ(spec.program.includes, nullptr) << "earlier results stay valid";
  EXPECT_TRUE(is_addressable(request(spec)));
}

TEST(ImageKey, HoldsAllThatDecidesTheImageButNotWhereOptionsAreWritten) {
  const CompileRequest plain{"source", "k.cu", {"k"}, {}, "sm_90"};
  std::vector<CompileRequest> all(8, plain);
  all[1].device_launches = true;
  all[2].options = {{"-G", {}}};
  all[3].options = {{"--maxrregcount=32", {}}};
  all[4].options = {{"-G", {}}, {"--maxrregcount=32", {}}};
  all[5].macros = {"B=1"};
  all[6].macros = {"B=2"};
  all[7].macros = {"B=1", "C=1"};
  std::set<std::string> keys;
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(keys.insert(image_key(all[i], "compiler 1")).second) << i;
  all[4].options.back().origin.line = 7;
  EXPECT_EQ(keys.count(image_key(all[4], "compiler 1")), 1u);
}

TEST(CompileRequests, OfEditedOptionsHaveOtherImagesAndResults) {
  const std::string text = small_kernel().program.text;
  const auto parsed = [&](const char* option) {
    return parse_kernel_file(text + "#pragma tuner compile " + option + "\n", "copy.cu");
  };
  const auto key = [](const KernelSpec& spec) {
    CompileRequest request =
        compile_request(spec, small_problem(), {}, "sm_90", Configuration::parse("block=64 unroll=2"));
    request.source = "the same";
    return image_key(request, "compiler 1");
  };
  const auto results = [](const KernelSpec& spec) { return to_record(spec, Objective{}).source_hash; };
  const KernelSpec before = parsed("--maxrregcount={block}"), after = parsed("--maxrregcount={block / 2}");
  EXPECT_NE(key(before), key(after));
  EXPECT_EQ(key(before), key(parsed("--maxrregcount={unroll * 32}"))) << "the values count, not how they are written";
  EXPECT_NE(results(before), results(after));
}

TEST(TuneKernel, RefusesAKernelWithoutAReference) {
  const TemporaryFolder folder;
  Wisdom wisdom({folder / "wisdom.db", false, {}});
  EXPECT_THAT(error_of([&] { tune_kernel(small_kernel(), small_problem(), some_device(), wisdom, {}, nullptr); }),
              HasSubstr("kernel 'copy' has no reference"));
}

}  // namespace
}  // namespace tuner
