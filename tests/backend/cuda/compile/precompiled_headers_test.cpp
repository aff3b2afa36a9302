#include <tuner/backend/cuda/compile/precompiled_headers.hpp>

#include <tests/support/temporary_folder.hpp>

#include <tests/backend/cuda/nvrtc_fixture.hpp>

namespace tuner::cuda {
namespace {

/// Stands for NVRTC: remembers the options, and writes the file that one of them names.
class PrecompiledHeadersTest : public ::testing::Test {
 protected:
  nvrtcResult compile(const std::string& head) {
    return headers_.compile(Nvrtc{}, head, {"--std=c++17"}, {}, files_, [this](const std::string& option) {
      options_.push_back(option.substr(0, option.find('=')));
      if (option.starts_with("--create-pch=") && can_create_) testing::write_file(option.substr(13), "headers");
      const bool fails = is_wrong_ || (option.starts_with("--create-pch=") && !can_create_);
      return fails ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
    });
  }

  const testing::TemporaryFolder folder_;
  PrecompiledHeaders headers_{[this] { return folder_.path(); }, 0, [] { return true; }};
  std::vector<IncludedFile> files_{{"a.cuh", "int a;"}};
  std::vector<std::string> options_;
  bool can_create_ = true, is_wrong_ = false;
};

TEST_F(PrecompiledHeadersTest, AreMadeByTheSecondCompileAndUsedByLaterOnes) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(compile("#include <a>\n"), NVRTC_SUCCESS);
  EXPECT_THAT(options_, ElementsAre("", "--create-pch", "--use-pch", "--use-pch"));
}

TEST_F(PrecompiledHeadersTest, BelongToOneText) {
  for (const char* head : {"#include <a>\n", "#include <b>\n", "#include <a>\n", "#include <b>\n"}) compile(head);
  EXPECT_THAT(options_, ElementsAre("", "", "--create-pch", "--create-pch"));
  options_.clear();
  for (int i = 0; i < 2; ++i) compile("#include <c>\n");
  EXPECT_THAT(options_, ElementsAre("", "")) << "a process has room for two";
}

TEST_F(PrecompiledHeadersTest, AreTwoHoweverManyTextsAreSlow) {
  for (int round = 0; round < 2; ++round)
    for (const char* head : {"#include <a>\n", "#include <b>\n", "#include <c>\n"}) compile(head);
  EXPECT_THAT(options_, ElementsAre("", "", "", "--create-pch", "--create-pch", ""));
}

TEST_F(PrecompiledHeadersTest, AreMadeAnewIfAFileChanges) {
  for (int i = 0; i < 3; ++i) compile("#include <a>\n");
  files_[0].text = "int b;";
  for (int i = 0; i < 2; ++i) compile("#include <a>\n");
  EXPECT_THAT(options_, ElementsAre("", "--create-pch", "--use-pch", "", "--create-pch"));
}

TEST_F(PrecompiledHeadersTest, AreNotNeededForAResult) {
  can_create_ = false;  // the disk is full
  for (int i = 0; i < 3; ++i) EXPECT_EQ(compile("#include <a>\n"), NVRTC_SUCCESS);
  EXPECT_THAT(options_, ElementsAre("", "--create-pch", "", ""));
}

TEST_F(PrecompiledHeadersTest, AreMadeLaterIfATextIsWrong) {
  compile("#include <a>\n");
  is_wrong_ = true;
  EXPECT_EQ(compile("#include <a>\n"), NVRTC_ERROR_COMPILATION);
  is_wrong_ = false;
  options_.clear();
  for (int i = 0; i < 2; ++i) compile("#include <a>\n");
  EXPECT_THAT(options_, ElementsAre("--create-pch", "--use-pch"));
}

class PrecompiledHeadersCompile : public NvrtcTest {};

TEST_F(PrecompiledHeadersCompile, ChangeNothingInAnImage) {
  if (nvrtc().version < PrecompiledHeaders::kFirstVersion) GTEST_SKIP() << "needs NVRTC 12.8";
  const testing::TemporaryFolder folder;
  const auto with = make_nvrtc_compiler(nvrtc(), {.folder_of_headers = [&] { return folder.path(); }, .long_s = 0});
  const auto request = [](int tile) {
    CompileRequest one{
        "#include <cuda/std/limits>\n"
        "__global__ void f(int* p) { *p = tile + cuda::std::numeric_limits<int>::max() % 7 + __LINE__; }\n",
        "mine.cu",
        {"f"},
        {},
        "sm_90"};
    one.macros = {"tile=" + std::to_string(tile)};
    return one;
  };
  for (int tile = 1; tile <= 3; ++tile) {
    const Image image = NvrtcTest::image(with->compile(request(tile)));
    EXPECT_EQ(image.code, NvrtcTest::image(compiler_->compile(request(tile))).code) << tile;
    EXPECT_EQ(image.log, "");
  }
}

}  // namespace
}  // namespace tuner::cuda
