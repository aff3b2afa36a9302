/// Kernels that launch kernels, compiled and linked for an H200 where there is none; and kernels whose grid meets.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tuner/backend/cuda/device_linker.hpp>
#include <tuner/backend/host/host_backend.hpp>
#include <tuner/measure/single_run.hpp>

#include "compiled.hpp"
#include "sample.hpp"

namespace tuner {
namespace {

class NestedTemplates : public ::testing::TestWithParam<const char*> {};

TEST_P(NestedTemplates, CompileAndLinkInEveryConfiguration) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  const auto linker =
      cuda::load_device_linker(cuda::nvrtc().version / 1000, cuda::device_linker_folders(cuda::nvrtc()));
  if (const auto* const missing = std::get_if<std::string>(&linker)) GTEST_SKIP() << *missing;
  const KernelSpec spec = testing::built_in(GetParam());
  const ProblemSize size = complete(spec, {});
  const CompileRequest request =
      testing::request_of_all(spec, size, "sm_90", testing::all_configurations(spec, size, "sm_90"));
  EXPECT_TRUE(request.device_launches);
  const Image image = testing::compiled(request);
  EXPECT_EQ(image.functions.size(), request.expressions.size());
  EXPECT_EQ(image.log, "");
}

TEST_P(NestedTemplates, HaveAReferenceThatRunsOnTheCpu) {
  const auto host = make_host_backend();
  const KernelSpec spec = testing::built_in(GetParam());
  const ReferenceRun run = run_reference(*host, spec, complete(spec, {}));
  EXPECT_TRUE(std::holds_alternative<Measurement>(run.outcome)) << message(run.outcome);
}

INSTANTIATE_TEST_SUITE_P(Each, NestedTemplates, ::testing::Values("nestedHello", "nestedReduce"),
                         [](const auto& name) { return std::string(name.param); });

TEST(BlockReduceTemplate, CompilesForAnH200WithEveryTailOfAGridThatMeets) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  if (cuda::nvrtc().includes.empty()) GTEST_SKIP() << "no cooperative_groups.h on this machine";
  const KernelSpec spec = testing::built_in("blockReduce");
  const ProblemSize size = complete(spec, {});
  const DeviceLimits limits = cuda::limits_of_architecture("sm_90");
  std::vector<std::string> expressions;
  for (const char* const tail : {"barrier", "syncwarp", "shuffle_down", "shuffle_xor", "tile", "thread_group"}) {
    const auto launches = resolve_launches(
        spec, size, limits, testing::default_with(spec, std::string("finish=grid_sync grid_blocks=256 tail=") + tail));
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_TRUE(launches[0].shape.cooperative);
    expressions.push_back(launches[0].expression);
  }
  const CompileRequest request = compile_request(spec, size, limits, "sm_90", expressions, *spec.default_configuration);
  EXPECT_EQ(testing::compiled(request).log, "");
}

}  // namespace
}  // namespace tuner
