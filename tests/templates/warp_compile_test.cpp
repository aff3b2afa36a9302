/// The kernels for the functions of a warp, compiled for the oldest architecture that NVRTC knows and for an H200's,
/// where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/cuda/nvrtc_compiler.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/expressions.hpp>

#include "sample.hpp"

namespace tuner {
namespace {

/// What NVRTC has against \p configurations, which it compiles in one program; empty for nothing.
std::string why_not_compiled(const KernelSpec& spec, const ProblemSize& size, const char* architecture,
                             const std::vector<Configuration>& configurations) {
  const DeviceLimits limits = cuda::limits_of_architecture(architecture);
  std::vector<std::string> expressions = reference_expressions(spec, size, limits);
  for (const Configuration& configuration : configurations)
    for (std::string& expression : launch_expressions(spec, size, limits, configuration))
      if (std::find(expressions.begin(), expressions.end(), expression) == expressions.end())
        expressions.push_back(std::move(expression));
  const CompileResult result =
      cuda::make_nvrtc_compiler(cuda::nvrtc())
          ->compile(compile_request(spec, size, limits, architecture, std::move(expressions), configurations.at(0)));
  if (const auto* const error = std::get_if<CompileError>(&result)) return error->message + '\n' + error->log;
  return std::get<Image>(result).log;
}

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
  EXPECT_EQ(why_not_compiled(spec, size, architecture, picker.pick(space, 24)), "");
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
  const EnumeratedSpace space = enumerate(spec, size, cuda::limits_of_architecture("sm_90"));
  std::vector<Configuration> all;
  for (EnumeratedSpace::Index i = 0; i < space.size(); ++i) all.push_back(space.configuration(i));
  EXPECT_EQ(why_not_compiled(spec, size, "sm_90", all), "");
}

}  // namespace
}  // namespace tuner
