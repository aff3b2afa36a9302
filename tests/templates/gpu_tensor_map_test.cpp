// Kernels that copy through tensor maps on a GPU.

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>

#include <tests/support/gpu_fixture.hpp>
#include <tests/support/tile_kernel.hpp>

#include "sample.hpp"

namespace tuner {
namespace {

class GpuTiles : public cuda::GpuTest {
 protected:
  void SetUp() override {
    cuda::GpuTest::SetUp();
    if (!IsSkipped() && limits().compute_capability < 90) GTEST_SKIP() << "no tensor maps before 9.0";
  }
  static const DeviceLimits& limits() { return backend().device().limits; }

  static KernelSpec tiles() {
    std::string text = testing::kCopyTiles;
    text.replace(text.find("NAME"), 4, "tiles");
    return parse_kernel_file(text, "tiles.cu");
  }
};

TEST_F(GpuTiles, GiveEachConfigurationTheRightBoxes) {
  const KernelSpec spec = tiles();
  const ProblemSize size = complete(spec, {});
  const std::vector<Configuration> all = testing::all_valid(spec, size, limits());
  EXPECT_EQ(all.size(), 2u * (4 + 3));
  testing::expect_right(backend(), spec, size, all);
}

}  // namespace
}  // namespace tuner
