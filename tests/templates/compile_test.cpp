// Kernels that the host backend runs in part or not at all, compiled with NVRTC for GPUs that need not be here: those
// that launch kernels, those whose grid meets, those with options for the compiler, those for the functions of a warp,
// and those of other people.

#include <tuner/backend/cuda/compile/device_linker.hpp>
#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/backend/host/host_backend.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/single_run.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

#include "sample.hpp"
#include "wild.hpp"

namespace tuner {
namespace {

/// What NVRTC makes of \p request. Throws Error with its log if that is nothing.
Image compiled(const CompileRequest& request) {
  CompileResult result = cuda::make_nvrtc_compiler(cuda::nvrtc())->compile(request);
  if (const auto* const error = std::get_if<CompileError>(&result)) throw Error(error->message + '\n' + error->log);
  return std::get<Image>(std::move(result));
}

/// Compiles \p configurations, and the reference, in one program.
CompileRequest request_of_all(const KernelSpec& spec, const ProblemSize& size, const char* architecture,
                              const std::vector<Configuration>& configurations) {
  const DeviceLimits limits = cuda::limits_of_architecture(architecture);
  std::vector<std::string> expressions = reference_expressions(spec, size, limits);
  for (const Configuration& configuration : configurations)
    for (std::string& expression : launch_expressions(spec, size, limits, configuration))
      if (std::find(expressions.begin(), expressions.end(), expression) == expressions.end())
        expressions.push_back(std::move(expression));
  return compile_request(spec, size, limits, architecture, std::move(expressions), configurations.at(0));
}

class NestedTemplates : public ::testing::TestWithParam<const char*> {};

TEST_P(NestedTemplates, CompileAndLinkInEveryConfiguration) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  const auto linker =
      cuda::load_device_linker(cuda::nvrtc().version / 1000, cuda::device_linker_folders(cuda::nvrtc()));
  if (const auto* const missing = std::get_if<std::string>(&linker)) GTEST_SKIP() << *missing;
  const KernelSpec spec = testing::built_in(GetParam());
  const ProblemSize size = complete(spec, {});
  const CompileRequest request =
      request_of_all(spec, size, "sm_90", testing::all_valid(spec, size, cuda::limits_of_architecture("sm_90")));
  EXPECT_TRUE(request.device_launches);
  const Image image = compiled(request);
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
  EXPECT_EQ(compiled(request).log, "");
}

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
    return compiled(request(coulomb_, changed)).functions.at(0).resources.registers;
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

class GalleryOfHopper : public ::testing::TestWithParam<const char*> {};

TEST_P(GalleryOfHopper, CompilesWithItsInstructions) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR "/examples/gallery/") + GetParam() + ".cu");
  const ProblemSize size = complete(spec, {});
  testing::Picker picker(15);
  const auto some = picker.pick(spec, size, cuda::limits_of_architecture("sm_90"), 4);
  EXPECT_EQ(compiled(request_of_all(spec, size, "sm_90", some)).log, "");
}

INSTANTIATE_TEST_SUITE_P(Each, GalleryOfHopper, ::testing::Values("tensorGemm", "attention", "longRowSoftmax"),
                         [](const auto& kernel) { return std::string(kernel.param); });

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
  const auto some = picker.pick(spec, size, cuda::limits_of_architecture(architecture), 24);
  EXPECT_EQ(compiled(request_of_all(spec, size, architecture, some)).log, "");
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
  const auto all = testing::all_valid(spec, size, cuda::limits_of_architecture("sm_90"));
  EXPECT_EQ(compiled(request_of_all(spec, size, "sm_90", all)).log, "");
}

TEST(ClusterExample, CompilesForDevicesWithClusters) {
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  if (cuda::nvrtc().includes.empty()) GTEST_SKIP() << "no headers of a CUDA toolkit on this machine";
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/examples/cluster_sum.cu");
  const ProblemSize size = complete(spec, {});
  EXPECT_EQ(testing::all_valid(spec, size, cuda::limits_of_architecture("sm_90")).size(), 5u * 3 * 2);
  EXPECT_EQ(testing::all_valid(spec, size, cuda::limits_of_architecture("sm_80")).size(), 3u)
      << "one block, no overlap";
  EXPECT_NO_THROW(compiled(
      compile_request(spec, size, cuda::limits_of_architecture("sm_90"), "sm_90", *spec.default_configuration)));
}

class WildKernel : public ::testing::TestWithParam<const char*> {
 protected:
  const KernelSpec spec_ = testing::wild_kernel(GetParam());
  const ProblemSize size_ = complete(spec_, {});

  /// A few that have every value between them, few enough to compile each by itself.
  std::vector<Configuration> some(const DeviceLimits& limits, std::size_t count = 3) const {
    testing::Picker picker(11);
    return picker.pick(spec_, size_, limits, count);
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
    for (const CompileRequest& request : requests) EXPECT_NO_THROW(compiled(request)) << architecture;
  }
}

std::unique_ptr<Backend> host_of_two_threads() {
  static const testing::TemporaryFolder objects;
  HostOptions options;
  options.cache_directory = objects.path();
  options.threads = 2;
  return make_host_backend(options);
}

TEST_P(WildKernel, IsRightOnTheHost) {
  const auto backend = host_of_two_threads();
  testing::expect_right(*backend, spec_, size_, some(backend->device().limits));
}

TEST(ClusterExample, IsRightOnTheHost) {
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/examples/cluster_sum.cu");
  const auto backend = host_of_two_threads();
  for (const std::int64_t n : {0, 1, 100'003})
    testing::expect_right(*backend, spec, complete(spec, {{{"n", n}}, {}}),
                          {testing::default_with(spec, "width=1"), *spec.default_configuration});
}

INSTANTIATE_TEST_SUITE_P(Each, WildKernel, ::testing::ValuesIn(testing::kWildKernels),
                         [](const auto& path) { return std::string(path.param); });

}  // namespace
}  // namespace tuner
