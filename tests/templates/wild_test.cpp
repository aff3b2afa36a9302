/// Files written as the kernels of other people's repositories are: headers of the C and C++ libraries, parameters as
/// macros, `extern "C"`, `main()`. Each compiles with NVRTC for two architectures and is right on the host backend.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <tests/temporary_folder.hpp>
#include <tuner/backend/host/host_backend.hpp>
#include <tuner/core/kernel_file.hpp>

#include "compiled.hpp"
#include "sample.hpp"
#include "wild.hpp"

namespace tuner {
namespace {

class WildKernel : public ::testing::TestWithParam<const char*> {
 protected:
  const KernelSpec spec_ = read_kernel_file(TUNER_SOURCE_DIR "/" + std::string(GetParam()) + ".cu");
  const ProblemSize size_ = complete(spec_, {});

  /// A few that have every value between them, few enough to compile each by itself.
  std::vector<Configuration> some(const DeviceLimits& limits, std::size_t count = 3) const {
    testing::Picker picker(11);
    return picker.pick(enumerate(spec_, size_, limits), count);
  }
};

TEST_P(WildKernel, CompilesWithNvrtc) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  if (cuda::nvrtc().includes.empty()) GTEST_SKIP() << "no headers of a CUDA toolkit on this machine";
  for (const auto& [architecture, count] : {std::pair<const char*, std::size_t>{"sm_80", 1}, {"sm_90", 3}}) {
    const DeviceLimits limits = cuda::limits_of_architecture(architecture);
    std::vector<CompileRequest> requests{reference_request(spec_, size_, limits, architecture)};
    for (const Configuration& configuration : some(limits, count))
      requests.push_back(compile_request(spec_, size_, limits, architecture, configuration));
    for (const CompileRequest& request : requests) EXPECT_NO_THROW(testing::compiled(request)) << architecture;
  }
}

TEST_P(WildKernel, IsRightOnTheHost) {
  static const testing::TemporaryFolder objects;
  HostOptions options;
  options.cache_directory = objects.path();
  options.threads = 2;
  const auto backend = make_host_backend(options);
  testing::expect_right(*backend, spec_, size_, some(backend->device().limits));
}

INSTANTIATE_TEST_SUITE_P(Each, WildKernel, ::testing::ValuesIn(testing::kWildKernels),
                         [](const auto& path) { return testing::file_name(path.param); });

}  // namespace
}  // namespace tuner
