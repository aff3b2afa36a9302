#include <tuner/recording/kernel_copy.hpp>

#include <filesystem>

#include <tuner/core/kernel_file.hpp>
#include <tuner/session/records.hpp>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tests/temporary_folder.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDirectives = R"(
#pragma tuner kernel copy
#pragma tuner size n = 100
#pragma tuner parameter block = 32 64
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, y, n
#pragma tuner instantiate copy<block>
)";

class KernelCopyTest : public ::testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text) { folder_.write(name, text); }
  std::string hash(const fs::path& kernel) { return to_record(read_kernel_file(kernel), {}).source_hash; }
  /// app/kernels/copy.cu with \p directives.
  KernelSpec kernel(const std::string& directives) {
    write("app/kernels/copy.cu", kDirectives + directives);
    return read_kernel_file(folder_ / "app/kernels/copy.cu");
  }
  /// The place of the copy.
  fs::path copied(const KernelSpec& spec) { return folder_ / "copy" / copy_kernel(spec, folder_ / "copy"); }
  fs::path copied(const std::string& directives) { return copied(kernel(directives)); }
  std::string original() { return hash(folder_ / "app/kernels/copy.cu"); }

  const testing::TemporaryFolder folder_;
};

TEST_F(KernelCopyTest, StaysTheSameKernelWithoutTheOriginal) {
  write("app/kernels/near.h", "#include \"../common/far.h\"\n");
  write("app/common/far.h", "#include <named.h>\n");
  write("app/include/named.h", "#define NAMED 1\n");
  write("app/text/copy_kernel.cu", "#include \"near.h\"\n");
  write("app/kernels/x.raw", std::string(400, 'x'));
  const fs::path copy = copied(
      "#pragma tuner include_path \"../include\"\n#pragma tuner source \"../text/copy_kernel.cu\"\n"
      "#pragma tuner fill x = file \"x.raw\"\n#include \"near.h\"\n");
  const std::string wanted = original();
  fs::remove_all(folder_ / "app");
  EXPECT_EQ(hash(copy), wanted);
  EXPECT_EQ(copy, folder_ / "copy/kernels/copy.cu");
  EXPECT_TRUE(fs::exists(folder_ / "copy/include/named.h"));
}

TEST_F(KernelCopyTest, TakesTheFilesThatFieldsAreFilledFrom) {
  write("app/kernels/mass.raw", std::string(400, 'x'));
  const fs::path copy = copied(
      "#pragma tuner in stars[n] : { float mass; int id; }\n#pragma tuner fill stars.mass = file \"mass.raw\"\n");
  const std::string wanted = original();
  fs::remove_all(folder_ / "app");
  EXPECT_EQ(hash(copy), wanted);
}

TEST_F(KernelCopyTest, LeavesWhatIsNamedByAnAbsolutePathWhereItIs) {
  write("library/big.h", "#define BIG 1\n");
  const fs::path copy =
      copied("#pragma tuner include_path \"" + (folder_ / "library").string() + "\"\n#include <big.h>\n");
  EXPECT_EQ(copy, folder_ / "copy/copy.cu");
  EXPECT_EQ(hash(copy), original());
  EXPECT_FALSE(fs::exists(folder_ / "copy/library"));
}

TEST_F(KernelCopyTest, LeavesAHeaderThatAnotherHeaderNamesByAnAbsolutePathWhereItIs) {
  write("library/big.h", "#define BIG 1\n");
  write("app/kernels/near.h", "#include \"" + (folder_ / "library/big.h").string() + "\"\n");
  copied("#include \"near.h\"\n");
  EXPECT_TRUE(fs::exists(folder_ / "copy/near.h"));
  EXPECT_FALSE(fs::exists(folder_ / "copy/library"));
}

TEST_F(KernelCopyTest, WritesTheTextThatTheProgramHasNotWhatTheFileHoldsNow) {
  write("app/kernels/near.h", "// first\n");
  const KernelSpec spec = kernel("#include \"near.h\"\n");
  write("app/kernels/near.h", "// second\n");
  const fs::path copy = copied(spec);
  EXPECT_EQ(hash(copy), to_record(spec, {}).source_hash);
}

TEST_F(KernelCopyTest, CopiesAKernelThatNoFileHolds) {
  const KernelSpec spec = parse_kernel_file(kDirectives, "copy (built in code)");
  const fs::path copy = copied(spec);
  EXPECT_EQ(hash(copy), to_record(spec, {}).source_hash);
}

TEST_F(KernelCopyTest, SaysWhichFileOfNumbersIsGone) {
  const KernelSpec spec = kernel("#pragma tuner fill x = file \"x.raw\"\n");
  EXPECT_THAT(error_of([&] { copied(spec); }), HasSubstr("x.raw"));
}

}  // namespace
}  // namespace tuner
