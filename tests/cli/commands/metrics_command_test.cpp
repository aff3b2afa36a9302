#include "program.hpp"

namespace tuner::cli {
namespace {

/// Where CUPTI is installed; a GPU is not needed.
class MetricsCommand : public ProgramTest {
 protected:
  void SetUp() override {
    const Finished known = call("devices --metrics --chip GH100");
    for (const char* const missing : {"install the CUDA toolkit", "built without"})
      if (known.code == 1 && known.err.find(missing) != std::string::npos) GTEST_SKIP() << known.err;
    ASSERT_EQ(known.code, 0) << known.err;
  }
};

TEST_F(MetricsCommand, ListsTheTextBooksNamesWithTodaysFirst) {
  const Finished run = call("devices --metrics --chip gh100");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, Holds("GH100", "achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active",
                             "dram_read_throughput", "textbook", "roofline"));
  EXPECT_LT(run.out.find("gld_efficiency"), run.out.find("\nSets\n"));
}

TEST_F(MetricsCommand, SaysWhatAChipLacks) {
  EXPECT_THAT(call("devices --metrics --chip GA10B").out, HasSubstr("(not on this chip)"));
}

TEST_F(MetricsCommand, ListsTheChipsOwnWhenAsked) {
  EXPECT_THAT(call("devices --metrics --chip GH100 --all").out,
              Holds("dram__bytes_read ", ".avg.pct_of_peak_sustained_active"));
}

TEST_F(MetricsCommand, PrintsOneJsonDocument) {
  const nlohmann::json chip = document("devices --metrics --chip GH100 --json");
  EXPECT_EQ(chip["chip"], "GH100");
  EXPECT_EQ(chip["sets"][0]["name"], "textbook");
  EXPECT_EQ(chip["sets"][0]["passes"], 2);
  EXPECT_EQ(chip["metrics"][0]["counters"][0]["counter"], "sm__warps_active.avg.pct_of_peak_sustained_active");
  EXPECT_FALSE(chip.contains("own"));
  const auto& verdict = chip["sets"].back();
  EXPECT_EQ(verdict["name"], "verdict");
  EXPECT_EQ(verdict["metrics"][0], "dram__throughput.avg.pct_of_peak_sustained_elapsed");
  EXPECT_GT(verdict["passes"], 1);
}

TEST_F(MetricsCommand, NamesTheNearestChipForAMisspeltOne) {
  expect_failures(1, "unknown chip 'GH10O'; did you mean 'GH100'?", {"devices --metrics --chip GH10O"});
  EXPECT_EQ(call("devices --metrics --chip GH100 --device 0").code, 2);
}

TEST_F(MetricsCommand, AsksForAChipWhereThereIsNoGpu) {
  EXPECT_THAT(err_of("devices --metrics --device host", 1), Holds("on a GPU only", "Name a chip with --chip, one of "));
}

TEST_F(ProgramTest, SaysHowToGetCountersWhereCuptiIsMissing) {
  set("TUNER_CUPTI", folder().string());
  const Finished run = call("devices --metrics --chip GH100");
  EXPECT_EQ(run.code, 1);
  if (run.err.find("built without") != std::string::npos) GTEST_SKIP() << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("install the CUDA toolkit (12.6 or newer)"), HasSubstr("TUNER_CUPTI"),
                             HasSubstr(folder().string())));
}

TEST_F(ProgramTest, RefusesAnObjectiveThatNothingHereMeasures) {
  for (const char* const objective : {"energy", "edp", "achieved_occupancy"}) {
    EXPECT_THAT(err_of(std::string("scale.cu --device host --objective ") + objective, 1),
                AllOf(HasSubstr("the objective " + std::string(objective) + " cannot be measured: there "),
                      HasSubstr("on a GPU only")));
  }
}

TEST_F(ProgramTest, TunesWithoutMetricsThatCannotBeHadAndSaysSo) {
  const Finished run = call("scale.cu --device host --metrics textbook,energy");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, Holds("not collected: there are hardware counters on a GPU only",
                             "not collected: there is an energy sensor on a GPU only"));
  EXPECT_THAT(run.out, HasSubstr("best  block="));
  EXPECT_EQ(call("scale.cu --metrics textbok").code, 2);
  EXPECT_EQ(call("scale.cu --metrics ipc --metrics-for some").code, 2);
}

}  // namespace
}  // namespace tuner::cli
