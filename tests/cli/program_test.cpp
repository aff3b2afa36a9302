// The commands besides tuning, and how the program is asked for help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tests/cli/program.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/nvrtc.hpp>
#endif

namespace tuner::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Program : public ProgramTest {};

TEST_F(Program, SaysItsVersionAndWhatItCanDo) {
  EXPECT_THAT(tune({"--version"}).out, StartsWith("tuner 0."));
  const Finished help = tune({"help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command :
       {"list", "devices", "occupancy", "show", "explain", "export", "import", "merge", "cache"}) {
    EXPECT_THAT(help.out, HasSubstr(command));
    const Finished detail = tune({command, "--help"});
    EXPECT_EQ(detail.code, 0) << command;
    EXPECT_THAT(detail.out, HasSubstr("Usage: tune")) << command;
  }
  EXPECT_THAT(tune({"--help"}).out, HasSubstr("--until-unlikely"));
  EXPECT_EQ(tune({}).code, 2);
}

TEST_F(Program, ListsEveryBuiltInKernel) {
  const Finished run = tune({"list"});
  EXPECT_EQ(run.code, 0);
  for (const char* kernel : {"sumMatrix2D", "reduce", "reduceClassic", "warpReduce", "warpDivergence"})
    EXPECT_THAT(run.out, HasSubstr(kernel));
  EXPECT_GE(json::parse(tune({"list", "--json"}).out)["kernels"].size(), 5u);
}

TEST_F(Program, ListsKernelsOfAGivenFolderFirst) {
  small_kernel();
  EXPECT_THAT(tune({"list", "--template-path", folder().string()}).out, HasSubstr("scale"));
}

TEST_F(Program, DescribesTheHostAndWhyThereIsNoGpu) {
  const json devices = json::parse(tune({"devices", "--json"}).out);
  ASSERT_GE(devices["devices"].size(), 1u);
  EXPECT_EQ(devices["devices"].back()["backend"], "host");
  const bool has_gpu = devices["devices"].size() > 1;
  EXPECT_EQ(devices["why_no_gpu"] == "", has_gpu);
  EXPECT_THAT(tune({"devices"}).out, HasSubstr("cores"));
}

TEST_F(Program, ShowsAndExplainsWhatItKnows) {
  const std::string kernel = small_kernel();
  EXPECT_EQ(tune({"show"}).code, 1) << "there is no database yet";
  EXPECT_THAT(tune({"explain", "--kernel", kernel}).out, HasSubstr("default"));
  ASSERT_EQ(tune({"--kernel", kernel, "--quiet"}).code, 0);
  EXPECT_THAT(tune({"show", "--stats"}).out, HasSubstr("n=1000"));
  EXPECT_THAT(tune({"explain", "--kernel", kernel}).out, HasSubstr("exact"));
  const json near = json::parse(tune({"explain", "--kernel", kernel, "--size", "n=1500", "--json"}).out);
  EXPECT_EQ(near["answers"][0]["tier"], "nearest size");
  EXPECT_THAT(tune({"cache"}).out, HasSubstr("1 best configuration"));
  EXPECT_THAT(tune({"cache", "doctor"}).out, HasSubstr("sound"));
}

TEST_F(Program, ExportsImportsAndMerges) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  ASSERT_EQ(tune({"export", "best.wisdom"}).code, 0);
  ASSERT_EQ(tune({"export", "--all", "all.gz"}).code, 0);
  EXPECT_THAT(tune({"export", "-"}).out, HasSubstr("scale"));

  ASSERT_EQ(tune({"import", "--db", "other.db", "best.wisdom"}).code, 0);
  EXPECT_EQ(json::parse(tune({"show", "--db", "other.db", "--json"}).out)["best"].size(), 1u);
  const Finished all = tune({"import", "--db", "all.db", "all.gz"});
  EXPECT_THAT(all.out, HasSubstr("1 session"));

  const Finished merged = tune({"merge", "merged.db", "other.db", (cache() / "wisdom.db").string()});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(json::parse(tune({"show", "--db", "merged.db", "--json"}).out)["best"].size(), 1u);
}

TEST_F(Program, ImportsNothingOfAFileWithOneBadLine) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  ASSERT_EQ(shell("\"$TUNE\" export - > bad.wisdom; echo '{\"what\": 1}' >> bad.wisdom").code, 0);
  const Finished run = tune({"import", "--db", "fresh.db", "bad.wisdom"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("bad.wisdom:"));
  EXPECT_EQ(json::parse(tune({"show", "--db", "fresh.db", "--json"}).out)["best"].size(), 0u);
}

TEST_F(Program, ClearsResultsOnlyWhenAskedTo) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  EXPECT_EQ(tune({"cache", "clear"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(cache() / "wisdom.db"));
  EXPECT_EQ(tune({"cache", "clear", "--results"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(cache() / "wisdom.db"));
}

TEST_F(Program, ComputesOccupancyWithoutAGpu) {
  const Finished run = tune({"occupancy", "--kernel", "reduce", "--arch", "sm_90", "--config", "threads=256"});
#ifndef TUNER_HAS_CUDA
  GTEST_SKIP() << "built without the CUDA headers";
#else
  if (cuda::find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
#endif
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part : {"registers", "spills", "occupancy", "limited by", "<- this configuration"})
    EXPECT_THAT(run.out, HasSubstr(part));
  EXPECT_EQ(tune({"occupancy", "--kernel", "reduce", "--arch", "sm_1"}).code, 1);
  EXPECT_EQ(tune({"occupancy", "--kernel", "reduce", "--config", "thraeds=256"}).code, 2);
}

}  // namespace
}  // namespace tuner::cli
