#include <tuner/core/values/pulse.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(PulseTest, CountsTheTimeBetweenLooks) {
  const Clock::time_point start{};
  Pulse pulse(start);
  EXPECT_DOUBLE_EQ(pulse.beat(start + milliseconds(100)), 0.1);
  EXPECT_DOUBLE_EQ(pulse.beat(start + milliseconds(400)), 0.3);
  EXPECT_DOUBLE_EQ(pulse.beat(start + milliseconds(400)), 0);
}

TEST(PulseTest, CountsAPauseOfAnyLengthAsOneStep) {
  const Clock::time_point start{};
  Pulse pulse(start);
  EXPECT_DOUBLE_EQ(pulse.beat(start + seconds(3600)), 0.5);
  EXPECT_DOUBLE_EQ(pulse.beat(start + seconds(3600) + milliseconds(100)), 0.1) << "nothing is made up for";
}

TEST(PulseTest, CountsThePartForWhichAProcessThatComputesGotAProcessor) {
  const Clock::time_point start{};
  Pulse pulse(start, 7);
  EXPECT_NEAR(pulse.beat(start + milliseconds(100), 7.025), 0.025, 1e-9) << "three others share its processor";
  EXPECT_NEAR(pulse.beat(start + milliseconds(200), 7.225), 0.1, 1e-9) << "two threads of it ran";
  EXPECT_NEAR(pulse.beat(start + milliseconds(300), 7.226), 0.1, 1e-9) << "it waited for something else";
  EXPECT_NEAR(pulse.beat(start + seconds(10), 7.226 + 0.97), 0.05, 1e-9) << "a pause, and a tenth of the rest";
}

}  // namespace
}  // namespace tuner
