// `tune db export` to what other programs read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "program.hpp"

namespace tuner::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ExportProgram : public ProgramTest {};

TEST_F(ExportProgram, WritesAHeaderThatAProgramWithoutTunerCompiles) {
  for (const char* n : {"n=500", "n=2000"}) ASSERT_EQ(tune_small({"--trials", "2", "--size", n}).code, 0);
  const Finished written =
      tune({"db", "export", "--as", "header", "tuned.hpp", "--kernel", small_kernel(), "--portfolio", "2"});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.err,
              AllOf(HasSubstr("of each size's best"), HasSubstr("tuned.hpp written, with 2 sizes on 1 device")));
  file("main.cpp",
       "#include \"tuned.hpp\"\nint main() { return tuned::scale::dispatch({0, 1}, {1000}, [](auto chosen) {\n"
       "  return decltype(chosen)::block > 0 ? 0 : 1; }); }\n");
  const Finished ran = shell("c++ -std=c++17 -Wall -Wextra -Werror main.cpp -o main && ./main");
  EXPECT_EQ(ran.code, 0) << ran.err << contents(folder() / "tuned.hpp");

  const Finished again = tune({"db", "export", "--as", "header", "-", "--kernel", "scale", "--portfolio", "2"});
  EXPECT_THAT(again.out, StartsWith("// Tuned configurations of kernel scale"));
}

TEST_F(ExportProgram, WritesOneTuningForOtherTunersAndSaysHowToChooseIt) {
  ASSERT_EQ(tune_small({"--trials", "2", "--size", "n=500"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "--as", "t4", "t4.json"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "--as", "kernel-tuner", "cache.json"}).code, 0);
  ASSERT_EQ(tune_small({"--trials", "2", "--size", "n=600"}).code, 0);
  const Finished several = tune({"db", "export", "--as", "t4", "t4.json"});
  EXPECT_EQ(several.code, 2);
  EXPECT_THAT(several.err, AllOf(HasSubstr("2 match"), HasSubstr("scale T=float n=500"), HasSubstr("--size")));
  EXPECT_EQ(tune({"db", "export", "--as", "t4", "t4.json", "--size", "n=600", "--choice", "T=float"}).code, 0);
  EXPECT_THAT(contents(folder() / "t4.json"), HasSubstr("\"n\":600"));
  EXPECT_THAT(contents(folder() / "cache.json"), HasSubstr("\"problem_size\": 500"));
  file("notes.txt", "mine\n");
  EXPECT_EQ(tune({"db", "export", "--as", "t4", "notes.txt"}).code, 1);
}

TEST_F(ExportProgram, WritesNoConfigurationThatServingRejects) {
  ASSERT_EQ(tune_small({"--trials", "2", "--size", "n=500"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "--all", "all.wisdom"}).code, 0);
  std::string text = contents(folder() / "all.wisdom");
  for (std::size_t at = 0; (at = text.find("block=", at)) != std::string::npos; at += 12) {
    text.replace(at, text.find(' ', at) - at, "block=777777");
  }
  file("all.wisdom", text);
  ASSERT_EQ(tune({"db", "import", "--db", "theirs.db", "all.wisdom"}).code, 0);
  const Finished none =
      tune({"db", "export", "--db", "theirs.db", "--as", "header", "out.hpp", "--kernel", small_kernel()});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("may be served"));
  EXPECT_EQ(contents(folder() / "out.hpp"), "");
}

TEST_F(ExportProgram, RefusesAHeaderOverAnotherFileOrOfNoKernel) {
  file("notes.txt", "mine\n");
  EXPECT_EQ(tune({"db", "export", "--as", "header", "notes.txt", "--kernel", small_kernel()}).code, 1);
  EXPECT_EQ(contents(folder() / "notes.txt"), "mine\n");
  EXPECT_EQ(tune({"db", "export", "--as", "header", "a.hpp"}).code, 2);
  EXPECT_EQ(tune({"db", "export", "--portfolio", "2", "a.wisdom"}).code, 2);
  EXPECT_EQ(tune({"db", "export", "--as", "header", "a.hpp", "--kernel", small_kernel(), "b.wisdom"}).code, 2);
  EXPECT_EQ(tune({"db", "export", "--as", "haeder", "a.hpp", "--kernel", small_kernel()}).code, 2);
  EXPECT_EQ(tune({"db", "export", "--as", "header", "a.hpp", "--kernel", "nothing"}).code, 2);
  const Finished none = tune({"db", "export", "--as", "header", "a.hpp", "--kernel", "serialSum"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("no best configuration of kernel serialSum is stored"));
}

TEST_F(ExportProgram, CompilesTheImagesThatCallsAreServedWithAndLeavesThoseThatAreThere) {
  if (!has_nvrtc()) GTEST_SKIP() << "compiles with NVRTC";
  ASSERT_EQ(tune_small({"--trials", "2", "--size", "n=500"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "host.wisdom"}).code, 0);
  EXPECT_THAT(tune({"db", "export", "--as", "images", "wisdom", "--kernel", small_kernel()}).err,
              HasSubstr("there are no results of GPUs for the kernels that are known here"));
  const std::string text = contents(folder() / "host.wisdom");
  file("gpu.wisdom", R"({"tuner_wisdom":1,"device":{"key":"cuda cc=9.0 sm=132","name":"GPU","backend":"cuda",)"
                     R"("compute_capability":90,"sm_count":132,"l2_bytes":1,"memory_bus_bits":1,"max_shared_bytes":)"
                     R"(232448,"registers_per_sm":65536},"environment":{"driver":"13.0","compiler":"nvrtc 13.0",)"
                     R"("tuner":"0.1.0","os":"Linux"}})" +
                         text.substr(text.find('\n')));
  ASSERT_EQ(tune({"db", "import", "gpu.wisdom"}).code, 0);
  const std::vector<std::string> command{"db", "export", "--as", "images", "wisdom", "--kernel", small_kernel()};
  const Finished made = tune(command);
  ASSERT_EQ(made.code, 0) << made.err;
  const auto images = [&](const char* architecture) {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator(folder() / "wisdom/images" / architecture), fs::directory_iterator());
  };
  EXPECT_GE(images("sm_90"), 2) << "the best for float, the default for int";
  EXPECT_EQ(images("compute_90"), images("sm_90"));
  EXPECT_THAT(made.err, HasSubstr("0 of them were there"));
  EXPECT_THAT(tune(command).err, HasSubstr(std::to_string(2 * images("sm_90")) + " of them were there"));
  EXPECT_EQ(tune({"db", "export", "--as", "images", "wisdom", "--arch", "90", "--kernel", small_kernel()}).code, 2);
  EXPECT_EQ(tune({"db", "export", "--arch", "sm_90", "-"}).code, 2);
}

TEST_F(ExportProgram, ConvertsToAKernelFileAndListsWhatIsLeft) {
  file("scale.json",
       R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "b", "Type": "int", "Values": "[32, 64]"}],
    "Conditions": [{"Expression": "b ^ 1"}]}, "KernelSpecification": {"Language": "CUDA", "KernelName": "scale",
    "KernelFile": "kernel.cu", "GlobalSize": {"X": "8"}, "LocalSize": {"X": "b"}}})");
  file("kernel.cu", "__global__ void scale() {}\n");
  const Finished made = tune({"convert", "scale.json", "-o", "made.cu"});
  EXPECT_EQ(made.code, 0);
  EXPECT_THAT(made.err, AllOf(HasSubstr("left: the condition 'b ^ 1' is not translated"),
                              HasSubstr("made.cu written, 3 things left")));
  EXPECT_THAT(contents(folder() / "made.cu"),
              AllOf(StartsWith("// Made from"), HasSubstr("source      \"kernel.cu\"")));
  EXPECT_EQ(tune({"convert", "scale.json", "-o", "made.cu"}).code, 1) << "what may have been edited is not replaced";
  EXPECT_EQ(tune({"convert", "scale.json", "-o", "made.cu", "--force"}).code, 0);
  EXPECT_THAT(tune({"convert", "scale.json"}).out, StartsWith("// Made from"));
  const Finished onto_source = tune({"convert", "scale.json", "-o", "kernel.cu", "--force"});
  EXPECT_EQ(onto_source.code, 1);
  EXPECT_THAT(onto_source.err, HasSubstr("the kernel's source"));
  EXPECT_EQ(contents(folder() / "kernel.cu"), "__global__ void scale() {}\n");
  EXPECT_EQ(tune({"convert", "scale.json", "-o", "scale.json", "--force"}).code, 1);
  EXPECT_EQ(tune({"convert", "kernel.cu"}).code, 1);
  EXPECT_EQ(tune({"convert"}).code, 2);
}

}  // namespace
}  // namespace tuner::cli
