// What the counters and the energy meter of a chip tell, on chips that are made up.

#include <tuner/backend/cuda/observe/chip_metrics.hpp>

#include <tuner/backend/cuda/observe/energy.hpp>
#include <tuner/core/device/metric.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/testing.hpp>

namespace tuner::cuda {
namespace {

/// A chip with given counters, for tests without CUPTI.
class SomeChip final : public ChipMetrics {
 public:
  const std::string& chip() const override { return chip_; }
  const std::string& source() const override { return chip_; }
  std::vector<ChipMetric> all() const override {
    return {{"dram__bytes_op_read", "counter", "byte", ""},
            {"smsp__average_inst_executed_per_warp", "ratio", "", ""},
            {"smsp__inst_executed", "counter", "", ""}};
  }
  std::vector<std::string> roll_ups(std::string_view kind) const override {
    return kind == "ratio" ? std::vector<std::string>{".pct", ".ratio"}
                           : std::vector<std::string>{".avg", ".sum", ".sum.per_second"};
  }
  bool has(const std::string& counter) const override {
    for (const ChipMetric& metric : all())
      for (const std::string& roll_up : roll_ups(metric.kind))
        if (metric.name + roll_up == counter) return true;
    return counter.find("_op_f") != std::string::npos;
  }
  std::size_t passes(const MetricPlan&) const override { return 1; }
  std::vector<std::uint8_t> config_image(const MetricPlan&) const override { return {}; }
  Metrics evaluate(const MetricPlan&, std::span<const std::uint8_t>) const override { return {}; }

 private:
  std::string chip_ = "SC100";
};

MetricPlan planned(const ChipMetrics& chip, const std::vector<std::string>& metrics) {
  auto plan = chip.plan(metrics);
  const auto* const why = std::get_if<Unavailable>(&plan);
  EXPECT_EQ(why, nullptr) << why->reason;
  return why != nullptr ? MetricPlan{} : std::get<MetricPlan>(std::move(plan));
}

std::string refusal(const ChipMetrics& chip, const std::string& metric) {
  const auto plan = chip.plan(std::vector<std::string>{metric});
  const auto* const why = std::get_if<Unavailable>(&plan);
  return why != nullptr ? why->reason : "it was planned";
}

TEST(MetricPlan, TakesTheNameThatThisChipHas) {
  EXPECT_THAT(planned(SomeChip(), {"dram_read_bytes"}).counters, ElementsAre("dram__bytes_op_read.sum"));
}

TEST(MetricPlan, CountsWhatTwoMetricsShareOnce) {
  const MetricPlan plan = planned(SomeChip(), {"inst_per_warp", "smsp__average_inst_executed_per_warp.ratio"});
  EXPECT_THAT(plan.counters, ElementsAre("smsp__average_inst_executed_per_warp.ratio"));
  ASSERT_EQ(plan.values.size(), 2u);
  EXPECT_EQ(plan.values[0].name, "inst_per_warp");
  EXPECT_THAT(plan.values[1].terms, ElementsAre(Pair(0, 1.0)));
}

TEST(MetricPlan, TakesAFusedMultiplyAddForTwoOperations) {
  const MetricPlan plan = planned(SomeChip(), {"flop_count_sp"});
  EXPECT_THAT(plan.values.at(0).terms, ElementsAre(Pair(0, 1.0), Pair(1, 1.0), Pair(2, 2.0)));
  EXPECT_THAT(plan.counters[2], HasSubstr("ffma"));
}

TEST(MetricPlan, SuggestsANameForAMisspeltOne) {
  EXPECT_THAT(refusal(SomeChip(), "inst_per_wrap"), HasSubstr("did you mean 'inst_per_warp'"));
  EXPECT_THAT(refusal(SomeChip(), "smsp__inst_exected.sum"), HasSubstr("did you mean 'smsp__inst_executed.sum'"));
  EXPECT_THAT(refusal(SomeChip(), "textbok"), HasSubstr("did you mean 'textbook'"));
}

TEST(MetricPlan, AsksForTheRollUpThatAChipsOwnNameLacks) {
  EXPECT_EQ(
      refusal(SomeChip(), "smsp__inst_executed"),
      "the counter smsp__inst_executed has no value by itself: add one of .avg, .sum to it (tune devices --metrics "
      "--all lists more)");
  EXPECT_THAT(refusal(SomeChip(), "smsp__inst_executed.pct"), HasSubstr("has no '.pct': add one of .avg, .sum"));
}

TEST(MetricPlan, SaysThatTheChipHasNoSuchCounter) {
  EXPECT_EQ(refusal(SomeChip(), "dram_write_bytes"), "SC100 has no counter for dram_write_bytes");
  EXPECT_THAT(refusal(SomeChip(), "energy"), HasSubstr("not a counter"));
}

/// The real CUPTI, if it is installed. Needs no GPU.
class CuptiHost : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef TUNER_ASAN
    GTEST_SKIP() << "libnvperf_host.so loads itself in a way that AddressSanitizer refuses";
#endif
    const auto chips = known_chips();
    if (const auto* const why = std::get_if<Unavailable>(&chips)) GTEST_SKIP() << why->reason;
  }
  static std::unique_ptr<ChipMetrics> chip(const char* name) {
    auto found = chip_metrics(name);
    if (const auto* const why = std::get_if<Unavailable>(&found)) throw Error(why->reason);
    return std::get<std::unique_ptr<ChipMetrics>>(std::move(found));
  }
  static std::size_t passes(const ChipMetrics& chip, const char* set) {
    return chip.passes(planned(chip, expand_metrics(std::vector<std::string>{set})));
  }
};

TEST_F(CuptiHost, KnowsChipsWithoutAGpu) {
  EXPECT_THAT(std::get<std::vector<std::string>>(known_chips()), IsSupersetOf({"TU102", "GA100", "AD102", "GH100"}));
  EXPECT_EQ(chip("gh100")->chip(), "GH100");
  const auto unknown = chip_metrics("GH1OO");
  EXPECT_THAT(std::get<Unavailable>(unknown).reason, HasSubstr("unknown chip 'GH1OO'; did you mean 'GH100'?"));
}

TEST_F(CuptiHost, CountsTheTextbooksNineInTwoPassesOnTheH100) {
  const auto gh100 = chip("GH100");
  EXPECT_EQ(passes(*gh100, "textbook"), 2u);
  EXPECT_EQ(passes(*gh100, "roofline"), 2u);
  EXPECT_EQ(gh100->passes({}), 0u);
}

TEST_F(CuptiHost, HasEveryNamedMetricOnDataCentreAndGamingChips) {
  for (const char* const name : {"TU102", "GA100", "GA102", "AD102", "GH100"}) {
    const auto one = chip(name);
    for (const NamedMetric& metric : named_metrics())
      for (const MetricTerm& term : metric.terms)
        EXPECT_NE(one->first_of(term.counters), "") << name << ": " << metric.name;
  }
}

TEST_F(CuptiHost, CountsWhatTheVerdictReadsOnEveryChip) {
  for (const char* const name : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100"})
    EXPECT_THAT(passes(*chip(name), "verdict"), AllOf(Ge(1u), Le(12u))) << name;
}

TEST_F(CuptiHost, ListsTheChipsOwnMetricsWithUnitsAndMeanings) {
  const auto gh100 = chip("GH100");
  const std::vector<ChipMetric> all = gh100->all();
  EXPECT_GT(all.size(), 3000u);
  const auto dram =
      std::find_if(all.begin(), all.end(), [](const ChipMetric& metric) { return metric.name == "dram__bytes_read"; });
  ASSERT_NE(dram, all.end());
  EXPECT_EQ(dram->kind, "counter");
  EXPECT_EQ(dram->unit, "byte");
  EXPECT_THAT(dram->meaning, HasSubstr("DRAM"));
  EXPECT_THAT(gh100->roll_ups("counter"), AllOf(Contains(".sum"), Contains(".avg.pct_of_peak_sustained_active")));
}

TEST_F(CuptiHost, TakesTheChipsOwnNamesWithTheirRollUp) {
  const auto gh100 = chip("GH100");
  EXPECT_TRUE(gh100->has("dram__bytes_read.sum.per_second"));
  EXPECT_FALSE(gh100->has("dram__bytes_read"));
  EXPECT_FALSE(gh100->has("dram__bytes_read.nonsense"));
  EXPECT_THAT(refusal(*gh100, "dram__bytes_raed.sum"), HasSubstr("did you mean 'dram__bytes_read.sum'"));
}

std::string reason(const std::variant<EnergySensor, Unavailable>& opened) {
  const auto* const why = std::get_if<Unavailable>(&opened);
  return why != nullptr ? why->reason : "it opened";
}

TEST(EnergySensor, SaysWhatIsMissingWithoutTheDriversLibrary) {
  EXPECT_THAT(reason(open_energy_sensor("0000:01:00.0", "libnvidia-ml-that-is-not-there.so.1")),
              HasSubstr("energy needs libnvidia-ml-that-is-not-there.so.1, a part of the NVIDIA driver"));
  EXPECT_THAT(reason(open_energy_sensor("0000:01:00.0", "libm.so.6")), HasSubstr("lacks nvmlInit_v2"));
}

TEST(EnergySensor, SaysWhenTheCardHasNone) {
  {
    const testing::EnvironmentVariable answer("TUNER_FAKE_NVML_RESULT", "3");
    EXPECT_THAT(reason(open_energy_sensor("0000:01:00.0", TUNER_FAKE_NVML)), HasSubstr("has no energy counter"));
  }
  EXPECT_THAT(reason(open_energy_sensor("nowhere", TUNER_FAKE_NVML)),
              HasSubstr("nvmlDeviceGetHandleByPciBusId_v2 failed: a made-up failure (NVML error 6)"));
}

TEST(EnergySensor, ReadsJoules) {
  const auto opened = open_energy_sensor("0000:01:00.0", TUNER_FAKE_NVML);
  ASSERT_EQ(reason(opened), "it opened");
  const EnergySensor& sensor = std::get<EnergySensor>(opened);
  const double first = sensor().value();
  EXPECT_DOUBLE_EQ(sensor().value(), first + 1);
}

TEST(EnergyWatch, KeepsEachStepOnceAndInOrder) {
  std::atomic<int> reads = 0;
  // Increases with each third reading; each fifth reading fails.
  const EnergySensor sensor = [&reads]() -> std::optional<double> {
    ++reads;
    if (reads % 5 == 0) return std::nullopt;
    return static_cast<double>(reads / 3);
  };
  EnergyWatch watch(sensor);
  while (reads < 40) std::this_thread::yield();
  const std::vector<EnergyStep> steps = watch.stop();
  ASSERT_GE(steps.size(), 10u);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_GT(steps[i].joules, steps[i - 1].joules);
    EXPECT_GE(steps[i].seconds, steps[i - 1].seconds);
  }
}

MeanPower power_of(const std::vector<EnergyStep>& steps) {
  const auto power = mean_power(steps);
  EXPECT_TRUE(std::holds_alternative<MeanPower>(power));
  return std::holds_alternative<MeanPower>(power) ? std::get<MeanPower>(power) : MeanPower{};
}

TEST(MeanPower, OfASteadyLoadHasNoWidth) {
  std::vector<EnergyStep> steps;
  for (int i = 0; i <= 20; ++i) steps.push_back({0.1 * i, 100 + 30.0 * i});
  const MeanPower power = power_of(steps);
  EXPECT_NEAR(power.watts, 300, 1e-9);
  EXPECT_NEAR(power.high - power.low, 0, 1e-6);
  EXPECT_NEAR(power.seconds, 2, 1e-9);
}

TEST(MeanPower, OfAChangingLoadLiesInsideItsInterval) {
  std::vector<EnergyStep> steps{{0, 0}};
  for (int i = 1; i <= 20; ++i) steps.push_back({0.1 * i, steps.back().joules + (i % 4 < 2 ? 28 : 32)});
  const MeanPower power = power_of(steps);
  EXPECT_NEAR(power.watts, 300, 1e-9);
  EXPECT_LT(power.low, 300);
  EXPECT_GT(power.high, 300);
  EXPECT_GT(power.low, 280);
}

TEST(MeanPower, IsRefusedWhenTheCounterHardlyMoved) {
  const auto power = mean_power(std::vector<EnergyStep>{{0, 1}, {0.1, 2}, {0.2, 3}});
  EXPECT_EQ(std::get<Unavailable>(power).reason,
            "the card's energy counter moved only 3 times while the kernel ran: measure for longer");
  EXPECT_TRUE(std::holds_alternative<Unavailable>(mean_power({})));
}

}  // namespace
}  // namespace tuner::cuda
