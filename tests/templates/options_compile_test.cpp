/// Kernels with options for the compiler, compiled with NVRTC for a GPU that need not be here.

#include <string>

#include <tests/matchers.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/core/kernel_file.hpp>

#include "compiled.hpp"
#include "sample.hpp"

namespace tuner {
namespace {

class KernelsWithOptions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  }

  static CompileRequest request(const KernelSpec& spec, const std::string& changed, const ProblemSize& size = {}) {
    const DeviceLimits limits = cuda::limits_of_architecture("sm_90");
    return compile_request(spec, complete(spec, size), limits, "sm_90", testing::default_with(spec, changed), "sm_90");
  }
  int registers(const std::string& changed) const {
    return testing::compiled(request(coulomb_, changed)).functions.at(0).resources.registers;
  }
  static std::string ptx(const CompileRequest& request) {
    return std::get<std::string>(cuda::compile_to_ptx(cuda::nvrtc(), request));
  }

  const KernelSpec coulomb_ = read_kernel_file(TUNER_SOURCE_DIR "/examples/gallery/coulomb.cu");
};

TEST_F(KernelsWithOptions, GetNoMoreRegistersThanTheyAskFor) {
  EXPECT_GT(registers("points=16 threads=128"), 64);
  for (const int most : {32, 48, 64})
    EXPECT_LE(registers("points=16 threads=128 registers=" + std::to_string(most)), most);
  for (const int blocks : {4, 8})
    EXPECT_LE(registers("points=16 threads=256 min_blocks=" + std::to_string(blocks)), 65536 / 256 / blocks);
}

TEST_F(KernelsWithOptions, DivideFastOnlyWhereTheyAskForIt) {
  EXPECT_THAT(ptx(request(coulomb_, "fast=false")), HasSubstr("sqrt.rn.f32"));
  EXPECT_THAT(ptx(request(coulomb_, "fast=true")), Not(HasSubstr("sqrt.rn.f32")));
}

TEST_F(KernelsWithOptions, KeepTheirBranchesWithoutOptimisation) {
  const KernelSpec spec = testing::built_in("warpDivergence");
  const auto branches = [&](const char* variant, const char* optimised) {
    const std::string code =
        ptx(request(spec, std::string("unroll=1 variant=") + variant, {{}, {{"optimised", optimised}}}));
    std::size_t count = 0;
    for (std::size_t at = code.find("bra"); at != std::string::npos; at = code.find("bra", at + 1)) ++count;
    return count;
  };
  for (const char* variant : {"by_thread", "by_warp", "predicated", "two_conditions"})
    EXPECT_GT(branches(variant, "no"), branches(variant, "yes")) << variant;
}

}  // namespace
}  // namespace tuner
