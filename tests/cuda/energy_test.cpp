#include <tests/environment_variable.hpp>
#include <tests/matchers.hpp>
#include <tuner/backend/cuda/energy.hpp>

namespace tuner::cuda {
namespace {

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
            "the card's energy counter moved only 3 times while the kernel ran: ask for a longer window");
  EXPECT_TRUE(std::holds_alternative<Unavailable>(mean_power({})));
}

}  // namespace
}  // namespace tuner::cuda
