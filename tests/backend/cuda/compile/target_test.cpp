#include <tuner/backend/cuda/compile/target.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tuner/backend/traits.hpp>

#include <tests/backend/cuda/nvrtc_fixture.hpp>

namespace tuner::cuda {
namespace {

TEST(Target, OfAChipItselfIsKnownFromHopperOn) {
  EXPECT_EQ(own_target("sm_90", 13000), "sm_90a");
  EXPECT_EQ(own_target("sm_103", 13000), "sm_103a");
  EXPECT_EQ(own_target("compute_90", 13000), "compute_90a");
  EXPECT_EQ(own_target("sm_90", 11080), "") << "an NVRTC before sm_90a";
  for (const char* none : {"sm_89", "sm_90a", "sm_100f", "compute_80", "host", ""})
    EXPECT_EQ(own_target(none, 13000), "") << none;
}

TEST(Target, IsNamedByCodeAndNotByComments) {
  const auto names = [](const char* text) { return names_own_instructions({{"a.cu", "int a;"}, {"b.cuh", text}}); };
  EXPECT_TRUE(names(R"(asm volatile("wgmma.fence.sync.aligned;" ::: "memory");)"));
  EXPECT_TRUE(names("#if defined(__CUDA_ARCH_FEAT_SM90_ALL)\n#endif\n"));
  EXPECT_TRUE(names("cuda::ptx::tcgen05_fence_before_thread_sync();"));
  EXPECT_FALSE(names("// wgmma would be faster\n/* tcgen05 too */ float multicast = 1;"));
}

TEST(Target, OfAChipItselfFitsNoOtherChip) {
  EXPECT_FALSE(is_for_another_chip("sm_90a", 90));
  EXPECT_TRUE(is_for_another_chip("compute_90a", 100));
  EXPECT_TRUE(is_for_another_chip("compute_103a", 3));
  for (const char* portable : {"sm_90", "compute_90", ""}) EXPECT_FALSE(is_for_another_chip(portable, 100)) << portable;
}

class TargetCompile : public NvrtcTest {
 protected:
  static std::string with_asm(const std::string& instruction) {
    return "__global__ void f() { asm volatile(\"" + instruction + "\" ::: \"memory\"); }";
  }
  CompileResult compile(const std::string& source, const std::string& architecture) {
    return compiler_->compile({source, "dir/mine.cu", {"f"}, {}, architecture});
  }
  bool knows(int capability) {
    const auto& known = nvrtc().architectures;
    return std::find(known.begin(), known.end(), capability) != known.end();
  }
  std::string target(const std::string& source, const std::string& architecture) {
    return image(compile(source, architecture)).functions.at(0).resources.target;
  }
};

constexpr const char* kPlain = "__global__ void f(int* p) { *p = 1; }";

TEST_F(TargetCompile, IsPortableUnlessATextNeedsMore) {
  EXPECT_EQ(target(kPlain, "sm_90"), "sm_90");
  EXPECT_EQ(target(kPlain, "compute_90"), "compute_90");
  EXPECT_EQ(target(with_asm("wgmma.fence.sync.aligned;"), "sm_90"), "sm_90a");
  EXPECT_EQ(target(with_asm("setmaxnreg.inc.sync.aligned.u32 32;"), "sm_90"), "sm_90a");
  EXPECT_EQ(target(kPlain, "sm_90a"), "sm_90a") << "as the user says";
}

TEST_F(TargetCompile, IsThatOfTheChipForEachBlackwell) {
  for (const int capability : {100, 103, 120}) {
    if (!knows(capability)) continue;
    const std::string architecture = "sm_" + std::to_string(capability);
    EXPECT_EQ(target(with_asm("setmaxnreg.inc.sync.aligned.u32 32;"), architecture), architecture + 'a');
    EXPECT_EQ(target(kPlain, architecture), architecture);
  }
}

TEST_F(TargetCompile, IsThatOfTheChipIfTheAssemblerRefusesAnotherOne) {
  if (!knows(100)) GTEST_SKIP() << "this NVRTC does not compile for sm_100";
  const std::string source = with_asm("{ .reg .f32 r; redux.sync.max.f32 r, 0f3F800000, 0xffffffff; }");
  ASSERT_FALSE(names_own_instructions({{"a.cu", source}}));
  EXPECT_EQ(target(source, "sm_100"), "sm_100a");
  EXPECT_THAT(error(compile(source, "sm_90")), AllOf(HasSubstr("redux"), HasSubstr("'sm_90'")))
      << "no target of this chip has it";
}

TEST_F(TargetCompile, FollowsFunctionsOfTheToolkitThatOnlyOneChipHas) {
  if (!knows(100)) GTEST_SKIP() << "this NVRTC does not compile for sm_100";
  constexpr const char* kWrapped = R"(#include <cuda/ptx>
#define BEFORE(family) cuda::ptx::family##_fence_before_thread_sync()
__global__ void f() { BEFORE(tcgen05); }
)";
  EXPECT_EQ(target(kWrapped, "sm_100"), "sm_100a");
  EXPECT_THAT(std::string(kWrapped), Not(HasSubstr("tcgen05_")));
}

TEST_F(TargetCompile, FollowsTheIncludedFilesOfTheAuthor) {
  const testing::TemporaryFolder folder;
  folder.write("fast.cuh", "__device__ void fence() { asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\"); }");
  const CompileRequest request{
      "#include \"fast.cuh\"\n__global__ void f() { fence(); }", folder / "mine.cu", {"f"}, {}, "sm_90"};
  EXPECT_EQ(image(compiler_->compile(request)).functions.at(0).resources.target, "sm_90a");
}

TEST_F(TargetCompile, MakesOneCompileOfATextThatNamesItsInstructions) {
  const auto counting = counting_compiler();
  calls_ = 0;
  image(counting->compile({with_asm("wgmma.fence.sync.aligned;"), "mine.cu", {"f"}, {}, "sm_90"}));
  EXPECT_EQ(calls_, 1);
}

TEST_F(TargetCompile, IsWrittenIntoPtx) {
  const Image made = image(compile(with_asm("wgmma.fence.sync.aligned;"), "compute_90"));
  EXPECT_THAT(text(made), HasSubstr(".target sm_90a"));
  EXPECT_EQ(made.functions.at(0).resources.target, "compute_90a");
}

TEST_F(TargetCompile, DefinesTheMacrosOfTheChip) {
  constexpr const char* kGuarded = R"(
    #ifdef __CUDA_ARCH_FEAT_SM90_ALL
    __global__ void f(int* p) { *p = 1; }
    #endif
  )";
  EXPECT_EQ(target(kGuarded, "sm_90"), "sm_90a");
}

}  // namespace
}  // namespace tuner::cuda
