/// Kernels with options for the compiler, on a GPU.

#include <memory>
#include <string>

#include <tests/matchers.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/single_run.hpp>

#include "sample.hpp"

namespace tuner {
namespace {

class GpuKernelsWithOptions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::driver_status().available) GTEST_SKIP() << "no usable GPU: " << cuda::driver_status().reason;
    backend_ = make_cuda_backend();
  }

  std::unique_ptr<Backend> backend_;
};

TEST_F(GpuKernelsWithOptions, AreRightWithAnyRegistersBlocksAndArithmetic) {
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/examples/gallery/coulomb.cu");
  testing::Picker picker(11);
  for (const char* type : {"float", "double"}) {
    const ProblemSize size = complete(spec, {{{"n", 20011}, {"m", 257}}, {{"T", type}}});
    const EnumeratedSpace space = enumerate(spec, size, backend_->device().limits);
    testing::expect_right(*backend_, spec, size, picker.pick(space, 48));
  }
  EXPECT_THAT(picker.never_used(spec.space), IsEmpty());
}

TEST_F(GpuKernelsWithOptions, ShowTheBranchesOfTheSourceWithoutOptimisation) {
  const KernelSpec spec = testing::built_in("warpDivergence");
  MeasureOptions options = testing::verify_only();
  options.metrics = {"branch_efficiency"};
  options.metrics_for_all = true;
  const auto efficiency = [&](const char* variant) {
    const Configuration configuration = testing::default_with(spec, std::string("unroll=1 variant=") + variant);
    SingleRun one(*backend_, spec, {{{"n", 1 << 16}, {"work", 1}}, {{"optimised", "no"}}}, configuration, options);
    const Trial trial = one.measure();
    const Measurement* const measured = trial.measurement();
    if (measured == nullptr) throw Error(std::string(message(trial.outcome)));
    EXPECT_TRUE(trial.verified) << variant;
    const auto at = measured->metrics.find("branch_efficiency");
    return at == measured->metrics.end() ? -1 : at->second;
  };
  const double by_warp = efficiency("by_warp");
  if (by_warp < 0) GTEST_SKIP() << "nothing can count here";
  const double by_thread = efficiency("by_thread"), two_conditions = efficiency("two_conditions");
  EXPECT_GT(by_warp, by_thread);
  EXPECT_GT(by_thread, two_conditions);
}

}  // namespace
}  // namespace tuner
