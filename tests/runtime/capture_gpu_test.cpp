// Captures of launches on a GPU: in the order of their stream, and not in graphs. All else: capture_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <tuner/backend/cuda/context.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/backend/gpu.hpp>
#include <tuner/capture/capture.hpp>
#include <tuner/core/data_file.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/tuner.hpp>

#include "serving_environment.hpp"

namespace tuner {
namespace {

namespace fs = std::filesystem;

/// Before anything of the process asks; no other test has kernels of such a name.
const int capture_is_asked_for = ::setenv("TUNER_CAPTURE", "addCaptured", 1);

std::string add_text(const std::string& name) {
  return "#pragma tuner kernel " + name + R"(
#pragma tuner size n
#pragma tuner parameter block = 128 256
#pragma tuner inout x[n] : int
#pragma tuner scalar shift : int = 1
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, shift, n
#pragma tuner instantiate add<block>
#pragma tuner reference add<128>
#pragma tuner grid ceil_div(n, 128)
#pragma tuner block 128
#pragma tuner default block=128
template <int block> __global__ void add(int* x, int shift, int n) {
  const int i = blockIdx.x * block + threadIdx.x;
  if (i < n) x[i] += shift;
}
)";
}

class GpuCapture : public testing::ServingEnvironment {
 protected:
  GpuCapture() : ServingEnvironment("auto", "never") {
    ::setenv("TUNER_CAPTURE_DIR", folder_.path().c_str(), 1);
    Settings settings;
    settings.on_warning = [this](std::string_view message) { warnings_ += message; };
    configure(settings);
  }
  ~GpuCapture() override { configure({}); }
  void SetUp() override {
    EXPECT_EQ(capture_is_asked_for, 0);
    const std::string none = why_no_gpu();
    if (!none.empty()) GTEST_SKIP() << "needs a GPU: " << none;
  }
  std::vector<fs::path> captures() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_.path())) paths.push_back(entry.path());
    return paths;
  }
  static std::vector<int> integers(const std::string& file, std::size_t count) {
    const std::vector<std::byte> bytes = read_data_file(file, ElementType::int32, count);
    std::vector<int> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  const testing::TemporaryFolder folder_;
  std::string warnings_;
};

TEST_F(GpuCapture, HoldsWhatIsThereWhenTheLaunchesTurnComesOnItsStream) {
  constexpr int n = 5'000'000;  // copied in several pieces
  Array<int> x(std::vector<int>(n, 1));
  const cuda::ContextGuard guard(reinterpret_cast<CUcontext>(primary_gpu_context(0).handle));
  const cuda::UniqueStream stream = cuda::make_stream();
  const Kernel first = Kernel::from_source(add_text("add"), "add.cu");
  const Kernel second = Kernel::from_source(add_text("addCaptured"), "add.cu");
  for (int i = 0; i < 50; ++i) first.launch(stream.get(), {n}, x.data(), 2);
  second.launch(stream.get(), {n}, x.data(), 5);
  for (int i = 0; i < 50; ++i) first.launch(stream.get(), {n}, x.data(), 2);
  cuda::check(cuda::driver().cuStreamSynchronize(stream.get()), "cuStreamSynchronize");
  EXPECT_EQ(x.to_vector(), std::vector<int>(n, 206));

  ASSERT_EQ(captures().size(), 1u) << warnings_;
  const Capture held = read_capture(captures()[0]);
  EXPECT_EQ(held.backend, "cuda");
  EXPECT_EQ(held.data.scalars.at("shift"), "5");
  EXPECT_EQ(integers(held.data.inputs.at("x"), n), std::vector<int>(n, 101));
  EXPECT_EQ(integers(held.data.outputs.at("x"), n), std::vector<int>(n, 106));
}

TEST_F(GpuCapture, IsNotMadeOfALaunchInAGraphWhichStaysAsItIs) {
  constexpr int n = 1000;
  Array<int> x(std::vector<int>(n, 1));
  const cuda::ContextGuard guard(reinterpret_cast<CUcontext>(primary_gpu_context(0).handle));
  const cuda::UniqueStream stream = cuda::make_stream();
  const cuda::Driver& driver = cuda::driver();
  if (!driver.cuStreamBeginCapture || !driver.cuGraphInstantiateWithFlags)
    GTEST_SKIP() << "this driver has no graph capture";
  const Kernel kernel = Kernel::from_source(add_text("addCaptured"), "add.cu");
  kernel.prepare(stream.get(), {n}, x.data(), 5);
  EXPECT_TRUE(captures().empty()) << "nothing was launched";
  cuda::check(driver.cuStreamBeginCapture(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  kernel.launch(stream.get(), {n}, x.data(), 5);
  int own = 0;
  capture(
      kernel, stream.get(), {n}, [&] { ++own; }, x.data(), 5);
  CUgraph graph = nullptr;
  cuda::check(driver.cuStreamEndCapture(stream.get(), &graph), "cuStreamEndCapture");
  EXPECT_EQ(own, 1);
  EXPECT_TRUE(captures().empty());
  EXPECT_THAT(warnings_, ::testing::HasSubstr("its stream is captured into a graph"));
  CUgraphExec executable = nullptr;
  cuda::check(driver.cuGraphInstantiateWithFlags(&executable, graph, 0), "cuGraphInstantiateWithFlags");
  cuda::check(driver.cuGraphLaunch(executable, stream.get()), "cuGraphLaunch");
  cuda::check(driver.cuStreamSynchronize(stream.get()), "cuStreamSynchronize");
  EXPECT_EQ(x.to_vector(), std::vector<int>(n, 6));
  driver.cuGraphExecDestroy(executable);
  driver.cuGraphDestroy(graph);

  kernel.launch(stream.get(), {n}, x.data(), 5);
  EXPECT_EQ(captures().size(), 1u) << "outside of the graph it is made";
}

TEST_F(GpuCapture, HoldsWhatAProgramsOwnLaunchDid) {
  constexpr int n = 1000;
  Array<int> x(std::vector<int>(n, 1));
  const cuda::ContextGuard guard(reinterpret_cast<CUcontext>(primary_gpu_context(0).handle));
  const cuda::UniqueStream stream = cuda::make_stream();
  const Kernel kernel = Kernel::from_source(add_text("addCaptured"), "add.cu");
  const auto own = [&] {
    cuda::check(
        cuda::driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(x.data()), 2, n * sizeof(int), stream.get()),
        "cuMemsetD8Async");
  };
  capture(kernel, stream.get(), {n}, own, x.data(), 5);
  ASSERT_EQ(captures().size(), 1u) << warnings_;
  const Capture held = read_capture(captures()[0]);
  EXPECT_EQ(integers(held.data.inputs.at("x"), n), std::vector<int>(n, 1));
  EXPECT_EQ(integers(held.data.outputs.at("x"), n), std::vector<int>(n, 0x02020202));
}

}  // namespace
}  // namespace tuner
