// Small buffers lie in a near and in a far part of L2.

#include <map>
#include <set>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

class Places : public RunnerTest {
 protected:
  /// The places of the input in the runs that are timed.
  std::set<const float*> places_of_input() {
    std::set<const float*> places;
    backend.kernels["scale<32>"] = scaled_after([&](const Launch& launch) {
      if (is_timing) places.insert(argument<float*>(launch, 0));
    });
    backend.next_sample = [&](const std::string&, std::size_t) {
      is_timing = true;
      return Sample{1000, 0};
    };
    const Trial trial = evaluate(block(32));
    EXPECT_TRUE(trial.verified) << message(trial.outcome);
    return places;
  }

  bool is_timing = false;
};

TEST_F(Places, AreOneWhereAllOfThemAreAlike) { EXPECT_EQ(places_of_input().size(), 1u); }

TEST_F(Places, OfASmallBufferAreANearAndAFarOne) {
  std::map<DevicePointer, double> asked;
  backend.cycles = [&](DevicePointer from) { return asked[from] = asked.size() % 2 == 0 ? 200 : 400; };
  std::set<double> cycles;
  for (const float* place : places_of_input()) cycles.insert(asked.at(reinterpret_cast<DevicePointer>(place)));
  EXPECT_EQ(cycles, (std::set<double>{200, 400}));
}

TEST_F(Places, OfALargeBufferIsTheOneThatItHas) {
  spec.sizes.front().default_value = std::int64_t{1} << 18;
  backend.cycles = [](DevicePointer) { return 200; };
  EXPECT_EQ(places_of_input().size(), 1u);
}

TEST_F(Places, AreOneIfThereIsNoRoomForMore) {
  int left = 4;
  backend.cycles = [&](DevicePointer) {
    if (--left == 0) backend.room = 0;
    return 200;
  };
  const auto shared = runner();
  const Image image = compile(launch_expressions(spec, size(), backend.device().limits, block(32)));
  const Trial trial = shared->evaluate(block(32), image, 0);
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
}

TEST_F(Places, AreBothVerified) {
  double cycles = 200;
  backend.cycles = [&](DevicePointer) { return ++cycles; };
  const float* first = nullptr;
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    const float* const place = argument<float*>(launch, 1);
    if (first == nullptr) first = place;
    return place == first ? scale_kernel<float>(launch) : std::nullopt;
  };
  EXPECT_THAT(failure(block(32)), ::testing::HasSubstr("in a timed run"));
}

TEST_F(Places, AreRestoredWithOtherInputs) {
  backend.cycles = [count = 0](DevicePointer) mutable { return ++count; };
  spec.buffers.front().fill.reset();  // random numbers, of which there is a second set
  const auto shared = runner();
  for (const int threads : {32, 64, 32}) {
    const Trial trial = evaluate(*shared, block(threads));
    EXPECT_TRUE(trial.verified) << message(trial.outcome);
  }
}

}  // namespace
}  // namespace tuner
