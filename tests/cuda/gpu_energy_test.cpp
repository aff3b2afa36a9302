#include <iostream>

#include "gpu_fixture.hpp"

namespace tuner::cuda {
namespace {

class GpuEnergy : public GpuTest {};

constexpr const char* kBusy = R"(
__global__ void busy(float* to, float x, int rounds) {
  float sum = x;
  for (int i = 0; i < rounds; ++i) sum = fmaf(sum, x, x);
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
)";

TEST_F(GpuEnergy, RefusesAWindowThatTheSensorCannotResolve) {
  const auto module = load(kBusy, {"busy"});
  const auto data = backend().allocate(1 << 20);
  const Launch work =
      launch(*module, 0, 1024, 256, {Argument::of(data->address()), Argument::of(0.5f), Argument::of(1)});
  EXPECT_EQ(run(work), "ok");
  const EnergyResult result = backend().energy({&work, 1}, 0.5);
  const auto* const why = std::get_if<Unavailable>(&result);
  ASSERT_NE(why, nullptr);
  if (why->reason.find("too short") == std::string::npos) GTEST_SKIP() << why->reason;  // no sensor at all
  EXPECT_EQ(why->reason, "0.5 s are too short for a card's energy sensor: measure for at least 1 s");
}

TEST_F(GpuEnergy, OfTwiceTheWorkIsAboutTwiceAsMuch) {
  const auto module = load(kBusy, {"busy"});
  const auto data = backend().allocate(1 << 20);
  double joules[2] = {};
  for (const int i : {0, 1}) {
    const Launch work = launch(*module, 0, 1024, 256,
                               {Argument::of(data->address()), Argument::of(0.5f), Argument::of((i + 1) * 20'000)});
    EXPECT_EQ(run(work), "ok");
    const EnergyResult result = backend().energy({&work, 1}, 1.5);
    if (const auto* const why = std::get_if<Unavailable>(&result)) GTEST_SKIP() << why->reason;
    const Energy& energy = std::get<Energy>(result);
    EXPECT_GE(energy.joules, energy.low_joules);
    EXPECT_LE(energy.joules, energy.high_joules);
    EXPECT_GT(energy.watts, 0);
    joules[i] = energy.joules;
    std::cout << "[ measured ] " << energy.joules << " J [" << energy.low_joules << ", " << energy.high_joules << "], "
              << energy.watts << " W over " << energy.window_s << " s\n";
  }
  EXPECT_NEAR(joules[1] / joules[0], 2, 0.2);
}

}  // namespace
}  // namespace tuner::cuda
