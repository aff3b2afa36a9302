/// Kernels as they are found, on a GPU.
#include <gtest/gtest.h>

#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_file.hpp>

#include "sample.hpp"
#include "wild.hpp"

namespace tuner {
namespace {

class WildKernelOnAGpu : public ::testing::TestWithParam<const char*> {};

TEST_P(WildKernelOnAGpu, IsRight) {
  const testing::Subject on = testing::subject();
  if (!on.backend) GTEST_SKIP() << on.why_not;
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/" + std::string(GetParam()) + ".cu");
  const ProblemSize size = complete(spec, {});
  testing::Picker picker(11);
  testing::expect_right(*on.backend, spec, size, picker.pick(enumerate(spec, size, on.backend->device().limits), 4));
}

INSTANTIATE_TEST_SUITE_P(Each, WildKernelOnAGpu, ::testing::ValuesIn(testing::kWildKernels),
                         [](const auto& path) { return testing::file_name(path.param); });

}  // namespace
}  // namespace tuner
