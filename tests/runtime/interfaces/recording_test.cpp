// What a program's launches leave where $TUNER_RECORD asks for recordings. The program of these tests is one that runs
// with TUNER_RECORD='scale*,own,reduce'.

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>

#include <tuner/core/values/input_file.hpp>
#include <tuner/error.hpp>
#include <tuner/recording/launch_recording.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/wisdom.hpp>
#include <tuner/tuner.hpp>

#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;
using testing::kernel_named;

/// Multiplies x by a number, and then adds one to x.
constexpr const char* kScale = R"(#pragma tuner kernel NAME
#pragma tuner type T = float double
#pragma tuner size n
#pragma tuner parameter block = 32 64
#pragma tuner inout x[n]
#pragma tuner out y[n]
#pragma tuner scalar factor : T = 2
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
#pragma tuner arguments x, factor, y, n
#pragma tuner instantiate scale<T>
#pragma tuner reference scale<T>
#pragma tuner default block=32
template <typename T> __global__ void scale(T* x, T factor, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = factor * x[i];
  x[i] += 1;
}
)";

class HostRecording : public testing::ServingEnvironment {
 protected:
  HostRecording() : ServingEnvironment("host", "never") {
    ::setenv("TUNER_RECORD", "scale*,own,reduce", 1);  // before the first kernel of the process is made
    use_folder(folder_.path());
  }

  static void use_folder(const fs::path& folder) { ::setenv("TUNER_RECORD_DIR", folder.c_str(), 1); }
  std::vector<fs::path> recordings() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_.path())) paths.push_back(entry.path());
    return paths;
  }
  /// The only one.
  Recording recording() const {
    EXPECT_EQ(recordings().size(), 1u);
    return read_recording(recordings().at(0));
  }
  static std::vector<float> floats(const std::string& file, std::size_t count) {
    const std::vector<std::byte> bytes = read_data_file(file, ElementType::float32, count);
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  const testing::TemporaryFolder folder_;
  const testing::CollectedWarnings warnings_;
  std::vector<float> x_ = std::vector<float>(100, 1.5f), y_ = std::vector<float>(100);
};

TEST_F(HostRecording, HoldsWhatTheLaunchWasGivenAndWhatItLeft) {
  const Kernel kernel = kernel_named("scale", kScale);
  std::iota(x_.begin(), x_.end(), 0.0f);
  const std::vector<float> before = x_;
  kernel.launch(nullptr, {100}, x_.data(), 0.1, y_.data());
  const Recording held = recording();
  EXPECT_EQ(held.size, (ProblemSize{{{"n", 100}}, {{"T", "float"}}}));
  EXPECT_EQ(held.configuration, (Configuration{{"block", 32}}));
  EXPECT_EQ(held.backend, "host");
  EXPECT_EQ(held.data.scalars.at("factor"), "0.1");
  EXPECT_THAT(held.data.inputs, SizeIs(1)) << "y is not read";
  EXPECT_EQ(floats(held.data.inputs.at("x"), 100), before);
  EXPECT_EQ(floats(held.data.outputs.at("x"), 100), x_);
  EXPECT_EQ(floats(held.data.outputs.at("y"), 100), y_);
  EXPECT_EQ(y_[10], 1.0f) << "and the launch was made";
}

TEST_F(HostRecording, IsMadeOnceForEachProblem) {
  const Kernel kernel = kernel_named("scale", kScale);
  for (int i = 0; i < 3; ++i) {
    kernel.launch(nullptr, {100}, x_.data(), 2, y_.data());
    kernel.launch(nullptr, {99}, x_.data(), 2, y_.data());
  }
  EXPECT_EQ(recordings().size(), 2u);
  std::vector<double> x(100), y(100);
  kernel.launch(nullptr, {100}, x.data(), 2, y.data());
  EXPECT_EQ(recordings().size(), 3u);
}

TEST_F(HostRecording, StaysAsItIsWhenTheNextProcessLaunchesTheSame) {
  kernel_named("scale", kScale).launch(nullptr, {100}, x_.data(), 2, y_.data());
  kernel_named("scale", kScale).launch(nullptr, {100}, x_.data(), 3, y_.data());
  EXPECT_EQ(recording().data.scalars.at("factor"), "2");
}

TEST_F(HostRecording, IsMadeOfMatchingKernelsOnly) {
  kernel_named("rescale", kScale).launch(nullptr, {100}, x_.data(), 2, y_.data());
  EXPECT_THAT(recordings(), IsEmpty());
  kernel_named("scale_more", kScale).launch(nullptr, {100}, x_.data(), 2, y_.data());
  EXPECT_EQ(recordings().size(), 1u);
}

TEST_F(HostRecording, IsMadeOfTheKernelsThatComeWithTuner) {
  const std::vector<int> values(1000, 3);
  EXPECT_EQ(reduce(values.data(), values.size()), 3000);
  const Recording held = recording();
  EXPECT_EQ(held.spec.name, "reduce");
  EXPECT_EQ(held.data.inputs.size(), 1u);
  EXPECT_EQ(held.data.outputs.size(), 1u);
}

TEST_F(HostRecording, OnlyWarnsWhereNothingCanBeWritten) {
  use_folder(folder_.write("file", "") / "folder");
  const Kernel kernel = kernel_named("scale", kScale);
  for (int i = 0; i < 2; ++i) kernel.launch(nullptr, {100}, x_.data(), 2, y_.data());
  EXPECT_EQ(y_[0], 5.0f);
  EXPECT_THAT(warnings_.texts, ElementsAre(HasSubstr("kernel 'scale' was not recorded: "))) << "once";
}

TEST_F(HostRecording, OnlyWarnsOfAKernelThatNoFileDescribes) {
  KernelSpec spec = kernel_named("scale", kScale).spec();
  spec.program.text.erase(0, spec.program.text.find("template"));
  Kernel(spec).launch(nullptr, {100}, x_.data(), 2, y_.data());
  EXPECT_EQ(y_[0], 3.0f);
  EXPECT_THAT(recordings(), IsEmpty());
  EXPECT_THAT(warnings_.texts, ElementsAre(HasSubstr("described in code alone")));
}

TEST_F(HostRecording, IsMadeOfAKernelThatWasBuiltInCodeOrReadFromAnUnnamedText) {
  Kernel::from_source(testing::replaced(kScale, "NAME", "scale"), "").launch(nullptr, {100}, x_.data(), 2, y_.data());
  EXPECT_EQ(recording().spec.name, "scale");
}

TEST_F(HostRecording, OfALaunchThatIsRefusedIsNotMade) {
  const Kernel kernel = kernel_named("scale", kScale);
  EXPECT_THAT(error_of([&] { kernel.launch(nullptr, {100}, x_.data(), y_.data()); }), HasSubstr("takes the arguments"));
  EXPECT_THAT(recordings(), IsEmpty());
}

class HostRecordingOfOwnLaunch : public HostRecording {
 protected:
  HostRecordingOfOwnLaunch() {
    own_ = [this] {
      for (std::size_t i = 0; i < x_.size(); ++i) y_[i] = 2 * x_[i], x_[i] += 1;
    };
  }
  const Kernel kernel_ = kernel_named("own", kScale);
  std::function<void()> own_;
};

TEST_F(HostRecordingOfOwnLaunch, HoldsWhatTheProgramsOwnLaunchDid) {
  tuner::record(kernel_, nullptr, {100}, own_, x_.data(), 2.0f, y_.data());
  const Recording held = recording();
  EXPECT_FALSE(held.configuration);
  EXPECT_EQ(floats(held.data.inputs.at("x"), 100), std::vector<float>(100, 1.5f));
  EXPECT_EQ(floats(held.data.outputs.at("x"), 100), std::vector<float>(100, 2.5f));
  EXPECT_EQ(floats(held.data.outputs.at("y"), 100), std::vector<float>(100, 3.0f));
}

TEST_F(HostRecordingOfOwnLaunch, ReadsTheKernelsFileItself) {
  const std::string file = folder_.write("own.cu", testing::replaced(kScale, "NAME", "own")).string();
  use_folder(folder_ / "recordings");
  for (int i = 0; i < 2; ++i) tuner::record(file.c_str(), {}, nullptr, {100}, own_, x_.data(), 2.0f, y_.data());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "recordings"), {}), 1);
  EXPECT_EQ(x_[0], 3.5f) << "both launches were made";
}

TEST_F(HostRecordingOfOwnLaunch, MakesTheLaunchWhateverIsWrongWithTheRecording) {
  tuner::record(kernel_, nullptr, {100}, own_, x_.data(), y_.data());
  EXPECT_EQ(x_[0], 2.5f) << "once";
  EXPECT_THAT(warnings_.texts, ElementsAre(HasSubstr("takes the arguments")));
  tuner::record(kernel_named("other", kScale), nullptr, {100}, own_, x_.data());
  EXPECT_EQ(x_[0], 3.5f);
  EXPECT_THAT(recordings(), IsEmpty());
}

TEST_F(HostRecordingOfOwnLaunch, IsNotMadeOfALaunchThatThrows) {
  const auto fail = [] { throw Error("the launch failed"); };
  const auto attempt = [&] { tuner::record(kernel_, nullptr, {100}, fail, x_.data(), 2.0f, y_.data()); };
  EXPECT_THAT(error_of(attempt), HasSubstr("the launch failed"));
  EXPECT_THAT(recordings(), IsEmpty());
}

}  // namespace
}  // namespace tuner
