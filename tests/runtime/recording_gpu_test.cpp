// Recordings of launches on a GPU: in the order of their stream, and not in graphs. All else: recording_test.cpp.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <tuner/recording/recording.hpp>
#include <tuner/core/data_file.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/tuner.hpp>

#include <tests/cuda/captured_graph.hpp>
#include <tests/matchers.hpp>

#include "current_gpu.hpp"
#include "serving_environment.hpp"

namespace tuner {
namespace {

namespace fs = std::filesystem;
using testing::make_current;
using testing::wait_for;

/// Before anything of the process asks; no other test has kernels of such a name.
const int recording_is_asked_for = ::setenv("TUNER_RECORD", "addRecorded", 1);

constexpr const char* kAdd = R"(#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter block = 128 256
#pragma tuner inout x[n] : int
#pragma tuner scalar shift : int = 1
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, shift, n
#pragma tuner instantiate add
#pragma tuner reference add
#pragma tuner default block=128
__global__ void add(int* x, int shift, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += shift;
}
)";

class GpuRecording : public testing::ServingEnvironment {
 protected:
  GpuRecording() : ServingEnvironment("auto", "never") { ::setenv("TUNER_RECORD_DIR", folder_.path().c_str(), 1); }
  void SetUp() override {
    EXPECT_EQ(recording_is_asked_for, 0);
    const std::string none = why_no_gpu();
    if (!none.empty()) GTEST_SKIP() << "needs a GPU: " << none;
  }
  std::vector<fs::path> recordings() const {
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
  const testing::CollectedWarnings warnings_;
};

TEST_F(GpuRecording, HoldsWhatIsThereWhenTheLaunchesTurnComesOnItsStream) {
  constexpr int n = 5'000'000;  // copied in several pieces
  Array<int> x(std::vector<int>(n, 1));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  const Kernel first = testing::kernel_named("add", kAdd);
  const Kernel second = testing::kernel_named("addRecorded", kAdd);
  for (int i = 0; i < 50; ++i) first.launch(stream.get(), {n}, x.data(), 2);
  second.launch(stream.get(), {n}, x.data(), 5);
  for (int i = 0; i < 50; ++i) first.launch(stream.get(), {n}, x.data(), 2);
  wait_for(stream);
  EXPECT_EQ(x.to_vector(), std::vector<int>(n, 206));

  ASSERT_EQ(recordings().size(), 1u) << ::testing::PrintToString(warnings_.texts);
  const Recording held = read_recording(recordings()[0]);
  EXPECT_EQ(held.backend, "cuda");
  EXPECT_EQ(held.data.scalars.at("shift"), "5");
  EXPECT_EQ(integers(held.data.inputs.at("x"), n), std::vector<int>(n, 101));
  EXPECT_EQ(integers(held.data.outputs.at("x"), n), std::vector<int>(n, 106));
}

TEST_F(GpuRecording, IsNotMadeOfALaunchInAGraphWhichStaysAsItIs) {
  constexpr int n = 1000;
  Array<int> x(std::vector<int>(n, 1));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  if (!cuda::driver().cuStreamBeginCapture || !cuda::driver().cuGraphInstantiateWithFlags)
    GTEST_SKIP() << "this driver has no graph capture";
  const Kernel kernel = testing::kernel_named("addRecorded", kAdd);
  kernel.prepare(stream.get(), {n}, x.data(), 5);
  EXPECT_TRUE(recordings().empty()) << "nothing was launched";
  int own = 0;
  testing::CapturedGraph graph(stream.get(), [&] {
    kernel.launch(stream.get(), {n}, x.data(), 5);
    record(
        kernel, stream.get(), {n}, [&] { ++own; }, x.data(), 5);
  });
  EXPECT_EQ(own, 1);
  EXPECT_TRUE(recordings().empty());
  EXPECT_THAT(warnings_.texts, Contains(HasSubstr("its stream is captured into a graph")));
  graph.launch(stream.get());
  wait_for(stream);
  EXPECT_EQ(x.to_vector(), std::vector<int>(n, 6));

  kernel.launch(stream.get(), {n}, x.data(), 5);
  EXPECT_EQ(recordings().size(), 1u) << "outside of the graph it is made";
}

TEST_F(GpuRecording, HoldsWhatAProgramsOwnLaunchDid) {
  constexpr int n = 1000;
  Array<int> x(std::vector<int>(n, 1));
  const cuda::ContextGuard guard = make_current();
  const cuda::UniqueStream stream = cuda::make_stream();
  const Kernel kernel = testing::kernel_named("addRecorded", kAdd);
  const auto own = [&] {
    cuda::check(
        cuda::driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(x.data()), 2, n * sizeof(int), stream.get()),
        "cuMemsetD8Async");
  };
  record(kernel, stream.get(), {n}, own, x.data(), 5);
  ASSERT_EQ(recordings().size(), 1u) << ::testing::PrintToString(warnings_.texts);
  const Recording held = read_recording(recordings()[0]);
  EXPECT_EQ(integers(held.data.inputs.at("x"), n), std::vector<int>(n, 1));
  EXPECT_EQ(integers(held.data.outputs.at("x"), n), std::vector<int>(n, 0x02020202));
}

}  // namespace
}  // namespace tuner
