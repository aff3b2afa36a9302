// Where the answer that results are compared with comes from, end to end: said with every result, and kept.

#include <cstring>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/recording/recording_writer.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/cli/commands/program.hpp>

namespace tuner::cli {
namespace {

class Answers : public ProgramTest {
 protected:
  Answers() {
    file("scale.cu",
         "#ifndef wrong\n#define wrong 0\n#endif\n"
         "extern \"C\" __global__ void scale(float* y, const float* x, int n) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) y[i] = 2 * x[i] + wrong;\n"
         "}\n");
  }

  /// Directives beside that kernel, which nobody has written a reference for.
  std::string directives(const std::string& rest) {
    return file("scale_tuner.cu",
                "#pragma tuner kernel      scale\n"
                "#pragma tuner source      \"scale.cu\"\n"
                "#pragma tuner size        n = 1000\n"
                "#pragma tuner parameter   block = 32 64\n"
                "#pragma tuner parameter   wrong = 0 1\n"
                "#pragma tuner define      wrong\n"
                "#pragma tuner in          x[n] : float\n"
                "#pragma tuner out         y[n] : float\n"
                "#pragma tuner grid        ceil_div(n, block)\n"
                "#pragma tuner block       block\n"
                "#pragma tuner arguments   y, x, n\n"
                "#pragma tuner instantiate scale\n" +
                    rest);
  }
};

TEST_F(Answers, OfTheDefaultConfigurationAreSaidWithEveryResult) {
  const std::string kernel = directives(
      "#pragma tuner default     block=32 wrong=0\n"
      "#pragma tuner reference   default\n"
      "#pragma tuner verify      n=77 offset=1\n");
  EXPECT_THAT(out_of(kernel), Holds("      verified against the default configuration\n", "wrong=0", "2 wrong"));
  EXPECT_THAT(call(kernel).out, HasSubstr("      verified against the default configuration\n"));
  EXPECT_THAT(call("show").out, HasSubstr("default configuration"));
  EXPECT_THAT(call("show " + kernel + " --why").out, HasSubstr("against the default configuration"));
  EXPECT_THAT(call("run --kernel " + kernel).out, HasSubstr("against the default configuration"));

  const json known = document(kernel + " --json");
  EXPECT_EQ(known["results"][0]["best"]["reference"], "default configuration");
  const json again = document(kernel + " --json --force --isolation none");
  EXPECT_EQ(again["results"][0]["best"]["reference"], "default configuration");
  EXPECT_EQ(again["results"][0]["outcomes"]["wrong"], 2);
  EXPECT_EQ(document("show --json")["best"][0]["reference"], "default configuration");
}

TEST_F(Answers, InFilesBelongToTheKernelAndAreSaidWithEveryResult) {
  std::vector<float> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(float(2 * i));
  const auto write = [&] {
    return file("y.bin", std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)));
  };
  write();
  const std::string kernel = directives(
      "#pragma tuner fill        x = iota\n"
      "#pragma tuner reference   file y = \"y.bin\"\n");
  EXPECT_THAT(out_of(kernel), Holds("      verified against the answer in a file\n", "2 wrong"));
  EXPECT_THAT(call("run --kernel " + kernel + " --config 'block=32 wrong=0'").out,
              HasSubstr("against the answer in a file"));
  numbers.back() = -1;
  write();
  const Finished edited = call(kernel);
  EXPECT_EQ(edited.code, 1) << "another kernel, of which no configuration is right";
  EXPECT_THAT(edited.out, HasSubstr("4 wrong"));
  EXPECT_THAT(edited.err, HasSubstr("none of 4 configurations worked"));
}

TEST_F(Answers, OfAReferenceOfItsOwnNeedNoWord) {
  small_kernel();
  EXPECT_THAT(out_of("scale.cu"), Not(HasSubstr("verified against")));
  EXPECT_THAT(call("show").out, Not(HasSubstr("verified against")));
}

TEST_F(Answers, AreAskedForWhereThereAreNone) {
  EXPECT_THAT(err_of(directives(""), 1),
              Holds("has no reference", "'#pragma tuner reference default'", "--unverified"));
}

TEST_F(Answers, ThatNobodyAsksForAreNeverServedNorExported) {
  const std::string kernel = directives("");
  EXPECT_THAT(out_of(kernel + " --unverified"), Holds("\nbest  block=", "      not verified: it is never served"));
  const json again = document(kernel + " --unverified --json")["results"][0];
  EXPECT_EQ(again["resumed"], 4) << "measured, and no answer";
  EXPECT_EQ(again["best"]["verified"], false);

  EXPECT_THAT(call("show").out, HasSubstr("Compared with nothing"));
  const json shown = document("show --kernel scale --json");
  EXPECT_EQ(shown["best"].size(), 0u);
  ASSERT_EQ(shown["unverified"].size(), 1u);
  EXPECT_EQ(shown["unverified"][0]["reference"], "nothing");
  EXPECT_THAT(call("show " + kernel + " --why").out, ContainsRegex("served +block="))
      << "as a call: any valid configuration";
  EXPECT_THAT(call("db export - --kernel scale").out, Not(HasSubstr("block=")));
  EXPECT_NE(call("db export --as t4 t4.json --kernel " + kernel).code, 0);
  EXPECT_NE(call("db export --as header best.hpp --kernel " + kernel).code, 0);
  ASSERT_EQ(call("db merge other.db cache/wisdom.db").code, 0);
  EXPECT_EQ(document("show --db other.db --json")["best"].size(), 0u);
  EXPECT_EQ(call(kernel).code, 1) << "what was not verified is no answer";
}

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
  EXPECT_THAT(run.err, Holds("launched with block=64 on ", "the outputs of the recorded launch count as right"));
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

TEST_F(RecordingProgram, RefusesWhatTheRecordingSaysItself) {
  const std::string recording = recorded();
  const Finished run = tune({"--recording", recording, "--size", "n=7"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("--recording and --size do not go together: the recording says what is tuned"));
  EXPECT_EQ(call("--recording none").code, 1);
}

}  // namespace
}  // namespace tuner::cli
