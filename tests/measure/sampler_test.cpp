#include <tuner/measure/sampler.hpp>

#include <random>
#include <set>

#include <tests/support/testing.hpp>

#include <tests/support/fake_backend.hpp>

namespace tuner {
namespace {

using testing::FakeBackend;

class SamplerTest : public ::testing::Test {
 protected:
  SamplerTest() : module(Image{{}, {{"k", "k", {}}}, {}}), launches{{&module, 0, {}, {}}} {}

  Measurement measure(double best_ns = 0, double run_s = 1e-6) {
    Sampler sampler(backend, options, [this](double s) { slept += s; });
    auto result = sampler.measure({launches}, best_ns, run_s, [this](double limit) { limits.push_back(limit); });
    return std::get<Measurement>(std::move(result));
  }

  FakeBackend backend;
  testing::FakeModule module;
  std::vector<Launch> launches;
  MeasureOptions options;
  double slept = 0;
  std::vector<double> limits;
};

TEST_F(SamplerTest, StopsAtTheMinimumWhenTheKernelIsQuiet) {
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{1e6 + double(i % 7), 1500}; };
  const Measurement result = measure();
  EXPECT_EQ(result.samples_ns.size(), options.min_samples);
  EXPECT_TRUE(result.converged);
  EXPECT_FALSE(result.abandoned);
  EXPECT_FALSE(result.throttled);
  EXPECT_EQ(result.clock_mhz, 1500);
  EXPECT_TRUE(result.cold);
  EXPECT_LE(result.low_ns, result.median_ns);
  EXPECT_GE(result.high_ns, result.median_ns);
}

TEST_F(SamplerTest, TakesMoreSamplesOfANoisyKernelUntilTheIntervalIsNarrow) {
  backend.next_sample = [](const std::string&, std::size_t i) {
    return Sample{1e6 + 3e4 * (double((i * 37) % 101) / 101 - 0.5), 0};
  };
  const Measurement result = measure();
  EXPECT_GT(result.samples_ns.size(), options.min_samples);
  EXPECT_LT(result.samples_ns.size(), options.max_samples);
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.high_ns - result.low_ns, options.target_width * result.median_ns);
}

TEST_F(SamplerTest, GivesUpAtTheMaximumAndSaysThatItDidNotConverge) {
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{i % 2 == 0 ? 1e6 : 2e6 + double(i), 0}; };
  options.max_samples = 50;
  const Measurement result = measure();
  EXPECT_EQ(result.samples_ns.size(), 50u);
  EXPECT_FALSE(result.converged);
}

TEST_F(SamplerTest, AbandonsWhatIsClearlyWorseButNeverBeforeTheDocumentedMinimum) {
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{2e6 + double(i), 0}; };
  const Measurement result = measure(1e6);
  EXPECT_TRUE(result.abandoned);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.samples_ns.size(), options.abandon_samples);
}

TEST_F(SamplerTest, AbandonsWithFewerSamplesOnSharedCoresWhereTheRunBeforeThemWasFarBehind) {
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{4e6 + double(i), 0}; };
  EXPECT_EQ(measure(1e6, 4e-3).samples_ns.size(), options.abandon_samples);
  backend.device_.key.backend = "host";
  const Measurement result = measure(1e6, 4e-3);
  EXPECT_EQ(result.samples_ns.size(), 3u);
  EXPECT_TRUE(result.abandoned);
  EXPECT_EQ(measure(1e6, 2e-3).samples_ns.size(), options.abandon_samples);
}

TEST_F(SamplerTest, TakesFewSamplesOfANoisyKernelInASearchOnSharedCores) {
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{i % 2 == 0 ? 1e6 : 2e6 + double(i), 0}; };
  options.max_samples = 50;
  backend.device_.key.backend = "host";
  EXPECT_EQ(measure(1.5e6).samples_ns.size(), 10u);
  EXPECT_EQ(measure(0).samples_ns.size(), 50u) << "nothing is searched for";
  options.min_samples = 30;
  EXPECT_EQ(measure(1.5e6).samples_ns.size(), 30u) << "as many as are asked for";
}

TEST_F(SamplerTest, DoesNotAbandonWhatMayStillBeTheBest) {
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{1.04e6 + double(i), 0}; };
  EXPECT_FALSE(measure(1e6).abandoned);
}

TEST_F(SamplerTest, RepeatsATinyKernelInsideAHotSample) {
  options.use = Use::hot;
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{2000 + double(i) / 1000, 0}; };
  const Measurement result = measure();
  EXPECT_FALSE(result.cold);
  EXPECT_EQ(backend.requests.front().batch, 1u);
  EXPECT_EQ(backend.requests.back().batch, 100u) << "200 us of 2 us runs";
}

TEST_F(SamplerTest, NeverRepeatsRunsInsideAColdSample) {
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{2000 + double(i), 0}; };
  measure();
  EXPECT_TRUE(std::all_of(backend.requests.begin(), backend.requests.end(),
                          [](const SampleRequest& request) { return request.batch == 1 && request.cold(); }));
}

TEST_F(SamplerTest, WidensTheIntervalByTheStepOfACoarseClock) {
  options.max_samples = 40;
  backend.next_sample = [](const std::string&, std::size_t) { return Sample{4000, 0}; };
  const Measurement result = measure();
  EXPECT_EQ(result.samples_ns.size(), 40u) << "equal samples of a coarse clock are no proof";
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.low_ns, 3750);
  EXPECT_EQ(result.high_ns, 4250);
  EXPECT_EQ(result.metrics.at("clock_step_ns"), 500);
}

TEST_F(SamplerTest, RetakesSamplesWhoseClockDropped) {
  // The card throttles for a moment during the third group of samples.
  Sampler sampler(backend, options, [this](double s) { slept += s; });
  double pauses = 1;
  backend.next_sample = [](const std::string&, std::size_t) { return Sample{1000, 1500}; };
  ASSERT_TRUE(std::holds_alternative<Sampler::Group>(sampler.take({launches}, 5, {}, 1e-6, pauses, [](double) {})));
  backend.taken = 0;
  backend.next_sample = [](const std::string&, std::size_t i) {
    return i < 7 ? Sample{2000, 900} : Sample{1000, 1450};
  };
  const auto taken = sampler.take({launches}, 5, {}, 1e-6, pauses, [](double) {});
  const auto& group = std::get<Sampler::Group>(taken);
  EXPECT_TRUE(group.throttled);
  ASSERT_EQ(group.samples.size(), 5u);
  for (const Sample& sample : group.samples) EXPECT_EQ(sample.ns, 1000);
  EXPECT_GT(slept, 0);
  EXPECT_LT(pauses, 1);
}

TEST_F(SamplerTest, KeepsSlowSamplesWhenTheCardStaysSlow) {
  Sampler sampler(backend, options, [this](double s) { slept += s; });
  double pauses = 0.3;
  backend.next_sample = [](const std::string&, std::size_t) { return Sample{1000, 1500}; };
  sampler.take({launches}, 5, {}, 1e-6, pauses, [](double) {});
  backend.next_sample = [](const std::string&, std::size_t) { return Sample{2000, 700}; };
  const auto taken = sampler.take({launches}, 5, {}, 1e-6, pauses, [](double) {});
  EXPECT_TRUE(std::get<Sampler::Group>(taken).throttled);
  EXPECT_EQ(std::get<Sampler::Group>(taken).samples.size(), 5u);
  EXPECT_LE(slept, 0.3);
}

TEST_F(SamplerTest, ChecksSamplesAtRandomPlacesAndTheLastOne) {
  std::set<std::size_t> checked;  // numbers of samples
  TimedWork work{launches};
  work.check = [&] {
    checked.insert(backend.taken);
    return std::nullopt;
  };
  backend.next_sample = [](const std::string&, std::size_t) { return Sample{1000, 0}; };
  Sampler sampler(backend, options);
  double pauses = 0;
  for (std::size_t group = 1; group <= 20; ++group) {
    sampler.take(work, 10, {}, 1e-6, pauses, [](double) {});
    EXPECT_TRUE(checked.contains(10 * group)) << "the last one";
  }
  for (std::size_t period = 2; period <= 5; ++period) {
    std::set<std::size_t> places;
    for (const std::size_t number : checked) places.insert(number % period);
    EXPECT_EQ(places.size(), period) << "a kernel that works in every " << period << "th run only is found";
  }
}

TEST_F(SamplerTest, MeasuresSingleHotRunsOfAKernelThatTakesLessTimeAfterAnEarlierRun) {
  options.use = Use::hot;
  int written = 0;
  const Refill refill{reinterpret_cast<DevicePointer>(&written), sizeof written};
  TimedWork work{launches};
  work.refills = {&refill, 1};
  double repeated_ns = 2000;
  backend.next_sample = [&](const std::string&, std::size_t) {
    const SampleRequest& request = backend.requests.back();
    return Sample{request.batch == 1 || request.refills_each_run ? 6000 : repeated_ns, 0};
  };
  Sampler sampler(backend, options);
  const Outcome fast = sampler.measure(work, 0, 1e-6, [](double) {});
  EXPECT_EQ(std::get<Measurement>(fast).median_ns, 6000);
  EXPECT_EQ(backend.requests.back().batch, 1u);
  repeated_ns = 5500;  // the gap before a launch is shorter in a row
  const Outcome honest = sampler.measure(work, 0, 1e-6, [](double) {});
  EXPECT_EQ(std::get<Measurement>(honest).median_ns, 5500);
  EXPECT_GT(backend.requests.back().batch, 1u);
}

TEST_F(SamplerTest, MakesAGraphOfRunsThatIsReplayedForAboutTheSameTime) {
  options.use = Use::graph;
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{2500 + double(i) / 1000, 0}; };
  const Measurement result = measure();
  EXPECT_FALSE(result.cold);
  EXPECT_TRUE(std::ranges::all_of(backend.requests, [](const SampleRequest& one) { return one.use == Use::graph; }));
  EXPECT_EQ(backend.requests.back().batch, 80u) << "200 us of 2.5 us runs";
  backend.next_sample = [](const std::string&, std::size_t) { return Sample{100, 0}; };
  launches.resize(4, launches.front());
  measure();
  EXPECT_EQ(backend.requests.back().batch, 250u) << "1000 nodes at most";
}

TEST_F(SamplerTest, RepeatsLongerRunsInAStreamToo) {
  options.use = Use::stream;
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{50e3 + double(i), 0}; };
  measure();
  EXPECT_EQ(backend.requests.back().use, Use::stream);
  EXPECT_EQ(backend.requests.back().batch, 4u);
  backend.next_sample = [](const std::string&, std::size_t i) { return Sample{1e3 + double(i), 0}; };
  measure();
  EXPECT_EQ(backend.requests.back().batch, 20u) << "a longer queue changes the time";
}

TEST_F(SamplerTest, TakesOneRunAtATimeWhereEachMustBePreparedOrRestored) {
  for (const Use use : {Use::stream, Use::graph}) {
    options.use = use;
    backend.kernels["k"] = [](const Launch&) { return std::nullopt; };
    backend.next_sample = [](const std::string&, std::size_t i) { return Sample{2500 + double(i), 0}; };
    TimedWork work{launches, launches};
    Sampler sampler(backend, options);
    sampler.measure(work, 0, 1e-6, [](double) {});
    EXPECT_EQ(backend.requests.back().batch, 1u);
    int restored = 0;
    work.prepare = {};
    work.restore = [&] { ++restored; };
    sampler.measure(work, 0, 1e-6, [](double) {});
    EXPECT_EQ(backend.requests.back().batch, 1u);
    EXPECT_GT(restored, 0);
  }
}

TEST_F(SamplerTest, TakesOffTheTimeOfRefillsInAGraphOfRunsThatWouldFindTheirWorkDone) {
  options.use = Use::graph;
  int written = 0;
  const Refill refill{reinterpret_cast<DevicePointer>(&written), sizeof written};
  TimedWork work{launches};
  work.refills = {&refill, 1};
  backend.refills_ns = 1500;
  backend.next_sample = [&](const std::string&, std::size_t i) {
    const SampleRequest& request = backend.requests.back();
    const bool finds_it_done = request.batch > 1 && !request.refills_each_run;
    return Sample{(finds_it_done ? 2000 : 6000) + double(i % 7) + (request.refills_each_run ? 1500 : 0), 0};
  };
  Sampler sampler(backend, options);
  const auto result = std::get<Measurement>(sampler.measure(work, 0, 1e-6, [](double) {}));
  EXPECT_GT(backend.requests.back().batch, 1u);
  EXPECT_TRUE(backend.requests.back().refills_each_run);
  EXPECT_NEAR(result.median_ns, 6003, 3);

  backend.refills_ns = 9000;  // by chance
  const auto least = std::get<Measurement>(sampler.measure(work, 0, 1e-6, [](double) {}));
  EXPECT_GT(least.median_ns, 0);
}

TEST_F(SamplerTest, StatesIntervalsThatContainTheMedianAlthoughItStopsWhenTheyAreNarrow) {
  // Stopping depends on the width of the interval, but the interval must keep its confidence.
  std::mt19937_64 random(3);
  for (const double noise : {0.002, 0.01, 0.03}) {
    std::lognormal_distribution<double> factor(0, noise);
    backend.next_sample = [&](const std::string&, std::size_t) { return Sample{1e6 * factor(random), 0}; };
    int contains = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      const Measurement result = measure();
      contains += result.low_ns <= 1e6 && 1e6 <= result.high_ns ? 1 : 0;
    }
    EXPECT_GE(contains, 920) << noise;
  }
}

TEST_F(SamplerTest, AnnouncesALimitBeforeEachGroup) {
  measure();
  ASSERT_FALSE(limits.empty());
  for (const double limit : limits) EXPECT_GE(limit, options.hang_floor_s);
}

}  // namespace
}  // namespace tuner
