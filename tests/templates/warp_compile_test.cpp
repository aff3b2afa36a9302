/// The kernels for the functions of a warp, compiled for the oldest architecture that NVRTC knows and for an H200's,
/// where there is no GPU.
#include <gtest/gtest.h>

#include <string>

#include <tuner/core/kernel_file.hpp>

#include "compiled.hpp"
#include "sample.hpp"

namespace tuner {
namespace {

struct Which {
  const char* kernel;
  const char* architecture;
};

void PrintTo(const Which& which, std::ostream* out) { *out << which.kernel << ' ' << which.architecture; }

class WarpTemplates : public ::testing::TestWithParam<Which> {};

TEST_P(WarpTemplates, CompileInASampleOfConfigurations) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  const char* const architecture = GetParam().architecture;
  const KernelSpec spec = testing::built_in(GetParam().kernel);
  const ProblemSize size = complete(spec, {});
  testing::Picker picker(14);
  const EnumeratedSpace space = enumerate(spec, size, cuda::limits_of_architecture(architecture));
  EXPECT_EQ(testing::compiled(testing::request_of_all(spec, size, architecture, picker.pick(space, 24))).log, "");
}

INSTANTIATE_TEST_SUITE_P(Each, WarpTemplates,
                         ::testing::Values(Which{"prefixSum", "sm_75"}, Which{"prefixSum", "sm_90"},
                                           Which{"compact", "sm_75"}, Which{"compact", "sm_90"},
                                           Which{"histogram", "sm_75"}, Which{"histogram", "sm_90"}),
                         [](const auto& which) {
                           return std::string(which.param.kernel) + "_" + which.param.architecture;
                         });

TEST(RacesExample, CompilesInEveryConfiguration) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/examples/races.cu");
  const ProblemSize size = complete(spec, {});
  const auto all = testing::all_configurations(spec, size, "sm_90");
  EXPECT_EQ(testing::compiled(testing::request_of_all(spec, size, "sm_90", all)).log, "");
}

}  // namespace
}  // namespace tuner
