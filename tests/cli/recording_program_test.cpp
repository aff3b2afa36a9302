// `tune --recording`: from what a launch left to a stored result. The launch itself: tests/runtime/recording_test.cpp
// and examples/recording.sh.
#include <cstring>
#include <vector>

#include <tuner/recording/recording_writer.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/records.hpp>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

/// Right where x holds what indices hold; without a reference.
constexpr const char* kGather = R"(
#pragma tuner kernel gather
#pragma tuner size n = 4096
#pragma tuner parameter block = 32 64
#pragma tuner in x[n] : int
#pragma tuner out y[n] : int
#pragma tuner scalar shift : int = 0
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, y, shift, n
#pragma tuner instantiate gather<block>
template <int block> __global__ void gather(const int* x, int* y, int shift, int n) {
  const int i = blockIdx.x * block + threadIdx.x;
  if (i < n) y[i] = x[x[i]] + shift;
}
)";

class RecordingProgram : public ProgramTest {
 protected:
  /// A launch of gather for n=100 that turns around, adds 5 and, where \p right, does so for all elements.
  std::string recorded(bool right = true) {
    constexpr int n = 100;
    const KernelSpec spec = read_kernel_file(file("gather.cu", kGather));
    std::vector<int> x(n), y(n);
    for (int i = 0; i < n; ++i) x[i] = n - 1 - i, y[i] = i + 5;
    if (!right) y[7] = 0;
    RecordingWriter writer(folder(), right ? "right" : "wrong", spec, complete(spec, {{{"n", n}}, {}}),
                           choose_device("host").device, to_record(spec, {}).source_hash);
    writer.set_configuration(Configuration{{"block", 64}});
    writer.add_scalar("shift", "5");
    const auto add = [&writer](const char* name, RecordingWriter::When when, const std::vector<int>& values) {
      writer.add_buffer(name, when, ElementType::int32, values.size(),
                        [&](void* to, std::size_t offset, std::size_t bytes) {
                          std::memcpy(to, reinterpret_cast<const char*>(values.data()) + offset, bytes);
                        });
    };
    add("x", RecordingWriter::When::before, x);
    add("y", RecordingWriter::When::after, y);
    EXPECT_TRUE(writer.publish());
    return writer.path().string();
  }
};

TEST_F(RecordingProgram, TunesForTheLaunchAndStoresWhatTheProgramIsServedWith) {
  const Finished run = tune({"--recording", recorded()});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, Holds("launched with block=64 on ", "right is what the recorded launch left"));
  EXPECT_THAT(run.out, Holds("gather  n=100", "      verified against the recorded launch\n"));
  EXPECT_EQ(document("show --kernel gather --json")["best"][0]["reference"], "recorded launch");
  const std::string program_kernel = (folder() / "gather.cu").string();
  EXPECT_THAT(tune({"show", program_kernel, "--why", "--size", "n=100"}).out, HasSubstr("for exactly this problem"));
}

TEST_F(RecordingProgram, NamesNothingBestThatDoesNotGiveWhatTheLaunchLeft) {
  const Finished run = tune({"--recording", recorded(false)});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("y[7] is 12, expected 0"));
}

TEST_F(RecordingProgram, MeasuresAgainAlthoughAnAnswerIsKnown) {
  const std::string recording = recorded();
  ASSERT_EQ(tune({"--recording", recording, "--quiet"}).code, 0);
  const json again = json::parse(tune({"--recording", recording + "/recording.json", "--json"}).out);
  EXPECT_EQ(again["results"][0]["trials"].size(), 2u);
}

TEST_F(RecordingProgram, RefusesWhatTheRecordingSaysItself) {
  const std::string recording = recorded();
  const Finished run = tune({"--recording", recording, "--size", "n=7"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("--recording and --size do not go together: the recording says what is tuned"));
  EXPECT_EQ(call("--recording none").code, 1);
}

}  // namespace
}  // namespace tuner::cli
