// Launches that prepare or are not timed, finalists, and metrics.

#include <chrono>
#include <set>

#include <tests/support/wait_until.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

class RunnerTiming : public RunnerTest {};

TEST_F(RunnerTiming, DoesNotBelieveAFinalistThatStopsWritingWhileItIsMeasuredAgain) {
  const auto shared = runner();
  bool writes = true;
  backend.kernels["scale<64>"] = scaled_while([&] { return writes; });
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    if (expression == "scale<64>") writes = false;
    return Sample{1000, 0};
  };
  const auto trials = remeasure(*shared);
  EXPECT_TRUE(trials[0].verified);
  EXPECT_EQ(kind(trials[1].outcome), "wrong");
  EXPECT_FALSE(trials[1].verified);
}

TEST_F(RunnerTiming, RunsASlowDefaultInHasteOnceToCompareItAndOnceToTimeIt) {
  spec.default_configuration = block(32);
  std::size_t runs = 0;
  backend.kernels["scale<32>"] = scaled_after([&](const Launch&) {
    ++runs;
    (void)testing::wait_until([] { return false; }, std::chrono::milliseconds(130));  // so long it runs
  });
  const auto shared = runner();
  shared->hurry();
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  EXPECT_EQ(runs, 2u);
}

TEST_F(RunnerTiming, TakesAllSamplesOfFinalistsAfterAHurriedEvaluationWasGivenUp) {
  struct GivenUp {};
  bool gives_up = false;
  listener = [&](Phase, double, bool) {
    if (gives_up) throw GivenUp{};
  };
  const auto shared = runner();
  shared->hurry();
  gives_up = true;
  EXPECT_THROW(evaluate(*shared, block(32)), GivenUp);
  gives_up = false;
  for (const Trial& trial : remeasure(*shared))
    EXPECT_EQ(trial.measurement()->samples_ns.size(), options.finalist_rounds * options.finalist_samples);
}

TEST_F(RunnerTiming, MeasuresFinalistsInBuffersThatLieElsewhereAtAnotherPlacement) {
  const auto shared = runner();
  std::set<const float*> places;
  backend.kernels["scale<32>"] =
      scaled_after([&](const Launch& launch) { places.insert(argument<float*>(launch, 0)); });
  std::set<std::uintptr_t> offsets;
  for (const std::uint32_t placement : {0u, 0u, 1u, 2u}) {
    places.clear();
    for (const Trial& trial : remeasure(*shared, placement)) EXPECT_TRUE(trial.verified) << message(trial.outcome);
    EXPECT_EQ(places.size(), 1u);
    offsets.insert(reinterpret_cast<std::uintptr_t>(*places.begin()));
  }
  EXPECT_EQ(offsets.size(), 3u);
}

TEST_F(RunnerTiming, RepairsAnInputThatAFinalistWroteToBeforeItFailed) {
  int runs = 0;
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    if (++runs < 3) return scale_kernel<float>(launch);
    argument<float*>(launch, 0)[3] = 42;
    return LaunchError{"illegal memory access"};
  };
  const auto shared = runner();
  bool saw_damage = false;
  backend.kernels["scale<64>"] =
      scaled_after([&](const Launch& launch) { saw_damage |= argument<float*>(launch, 0)[3] == 42; });
  const auto trials = remeasure(*shared);
  EXPECT_EQ(kind(trials[0].outcome), "launch");
  EXPECT_TRUE(trials[1].verified);
  EXPECT_FALSE(saw_damage);
}

TEST_F(RunnerTiming, BlamesOneFinalistForALostDeviceAndGivesTheOthersBack) {
  const auto shared = runner();
  for (const int loses : {1, 3, 8}) {  // while it warms up, in its first sample, in a later one
    backend.usable_ = true;
    int runs = 0;
    backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
      if (++runs < loses) return scale_kernel<float>(launch);
      backend.usable_ = false;
      return LaunchError{"an illegal address"};
    };
    int later = 0;
    backend.kernels["scale<64>"] = scaled_after([&](const Launch&) { later += !backend.usable_; });
    const auto trials = remeasure(*shared);
    EXPECT_TRUE(trials[0].crashed);
    EXPECT_EQ(message(trials[0].outcome), "an illegal address");
    EXPECT_FALSE(trials[1].crashed);
    EXPECT_FALSE(trials[1].verified);
    EXPECT_TRUE(is_machine_fault(trials[1].outcome));
    EXPECT_EQ(later, 0);
  }
}

TEST_F(RunnerTiming, DoesNotMeasureAFinalistAgainThatHungInItsFirstHotSample) {
  options.use = Use::hot;
  const auto shared = runner();
  bool is_sampled = false;
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    is_sampled |= expression == "scale<32>";
    return Sample{1000, 0};
  };
  int hangs = 0;
  backend.kernels["scale<32>"] = [&](const Launch& launch) -> std::optional<Outcome> {
    if (!is_sampled || hangs++ > 0) return scale_kernel<float>(launch);
    return Timeout{"hangs"};
  };
  const auto trials = remeasure(*shared);
  EXPECT_EQ(kind(trials[0].outcome), "timeout");
  EXPECT_TRUE(trials[0].crashed);
  EXPECT_FALSE(trials[0].verified);
  EXPECT_TRUE(trials[1].verified);
}

TEST_F(RunnerTiming, GivesCountersAndEnergyTheTimeOfTheirRuns) {
  options.metrics = {"ipc", "energy"};
  options.metrics_for_all = true;
  backend.next_sample = [](const std::string&, std::size_t) { return Sample{30e9, 0}; };
  std::vector<double> limits;
  listener = [&](Phase phase, double limit, bool runs_kernel) {
    if (phase == Phase::measure && runs_kernel) limits.push_back(limit);
  };
  EXPECT_NE(evaluate(block(32)).measurement(), nullptr);
  EXPECT_EQ(backend.counted.size(), 1u);
  EXPECT_GT(*std::ranges::max_element(limits), 20 * 30) << "energy takes several runs of half a minute";
}

TEST_F(RunnerTiming, AnnouncesThePhasesWithTheirLimits) {
  std::vector<Phase> phases;
  listener = [&](Phase phase, double limit, bool) {
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
    EXPECT_GE(limit, 2);
  };
  evaluate(block(32));
  EXPECT_THAT(phases,
              ElementsAre(Phase::fill, Phase::prepare, Phase::load, Phase::verify, Phase::measure, Phase::verify));
}

TEST_F(RunnerTiming, TellsABackendHowManyLaunchesFromTheDeviceMayWaitAndGivesThemTime) {
  spec.device_launches = parsed("block * 1000");
  backend.device_.limits.compute_capability = 90;
  std::set<std::int64_t> pending;
  for (const char* name : {"scale<32>", "scale<64>"})
    backend.kernels[name] = scaled_after([&](const Launch& launch) { pending.insert(launch.device_launches); });
  double longest = 0;
  listener = [&](Phase phase, double limit, bool) {
    if (phase == Phase::measure) longest = std::max(longest, limit);
  };
  const auto shared = runner();
  EXPECT_TRUE(evaluate(*shared, block(64)).verified);
  EXPECT_GE(longest, 64) << "a millisecond each";
  EXPECT_TRUE(evaluate(*shared, block(32)).verified);
  EXPECT_THAT(pending, ElementsAre(32000, 64000));
}

TEST_F(RunnerTiming, MakesAnUntimedLaunchForTheResultAndNeverInTheTime) {
  LaunchSpec finish = spec.launches.front();
  finish.instantiate = "finish";
  finish.untimed = parsed("block == 64");
  spec.launches.push_back(finish);
  std::string kernels;
  for (const std::string name : {"scale<32>", "scale<64>", "finish"}) {
    backend.kernels[name] = [&, name](const Launch& launch) {
      kernels += name.front();
      if (name != "finish") return std::optional<Outcome>();
      return scale_kernel<float>(launch);
    };
  }
  backend.next_sample = [&](const std::string& expression, std::size_t) {
    kernels += '[' + expression + ']';
    return Sample{1000, 0};
  };
  EXPECT_TRUE(evaluate(block(32)).verified);
  EXPECT_THAT(kernels, HasSubstr("sf[")) << "timed whole";
  kernels.clear();
  EXPECT_TRUE(evaluate(block(64)).verified) << "what the second launch writes is compared";
  EXPECT_THAT(kernels, StartsWith("sfs[scale<64>]")) << "warmed up and timed by itself";
  EXPECT_THAT(kernels, EndsWith("sf")) << "verified again after its timed runs";
}

/// A kernel that adds to its output, which is cleared before every run.
class PreparedRunner : public RunnerTest {
 protected:
  PreparedRunner() {
    spec.buffers[1].role = BufferRole::inout;
    LaunchSpec prepare;
    prepare.instantiate = "zero";
    prepare.grid[0] = parsed("ceil_div(n, 256)");
    prepare.block[0] = parsed("256");
    prepare.arguments = {"c", "n"};
    spec.prepare = {prepare};
    backend.kernels["zero"] = [this](const Launch& launch) {
      order += 'z';
      std::fill_n(argument<float*>(launch, 0), argument<int>(launch, 1), 0.0f);
      return std::optional<Outcome>();
    };
    for (const std::string name : {"scale<32>", "scale<64>", "reference"}) {
      backend.kernels[name] = [this, name](const Launch& launch) {
        order += name.front();
        for (int i = 0; i < argument<int>(launch, 2); ++i)
          argument<float*>(launch, 1)[i] += 2 * argument<float*>(launch, 0)[i];
        return std::optional<Outcome>();
      };
    }
    backend.next_sample = [this](const std::string& expression, std::size_t) {
      order += '[' + expression + ']';
      return Sample{1000, 0};
    };
  }
  std::string order;  // of launches and samples
};

TEST_F(PreparedRunner, LaunchesWhatPreparesBeforeEveryRunAndNeverInItsTime) {
  const Trial trial = evaluate(block(32));
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
  EXPECT_THAT(order, StartsWith("zrzr")) << "for both sets of inputs";
  EXPECT_THAT(order, HasSubstr("zszsz[scale<32>]sz[scale<32>]s"));
  EXPECT_THAT(order, EndsWith("]szs")) << "verified again";
}

/// Its kernels find the output by an address that the launch that prepares stores.
class OutputByAddress : public PreparedRunner {
 protected:
  OutputByAddress() {
    spec.buffers[1].role = BufferRole::out;
    spec.buffers.push_back(testing::buffer("views", BufferRole::consumed, "uint64", "1"));
    spec.prepare[0].arguments = {"c", "n", "views"};
    for (auto* const launch : {&spec.launches[0], &spec.verification.reference[0]})
      launch->arguments = {"a", "views", "n"};
    backend.kernels["zero"] = [](const Launch& launch) {
      float* const c = argument<float*>(launch, 0);
      std::fill_n(c, argument<int>(launch, 1), 0.0f);
      argument<float**>(launch, 2)[0] = c;
      return std::optional<Outcome>();
    };
    for (const std::string name : {"scale<32>", "scale<64>", "reference"}) backend.kernels[name] = but_for(-1, false);
  }
  /// Writes all elements except \p left_out, or adds to them.
  static testing::FakeKernel but_for(int left_out, bool adds) {
    return [=](const Launch& launch) {
      float* const c = argument<float**>(launch, 1)[0];
      for (int i = 0; i < argument<int>(launch, 2); ++i)
        if (i != left_out) c[i] = 2 * argument<float*>(launch, 0)[i] + (adds ? c[i] : 0);
      return std::optional<Outcome>();
    };
  }
};

TEST_F(OutputByAddress, HasNoContentsAfterTheLaunchThatStoresItsAddress) {
  EXPECT_TRUE(evaluate(block(32)).verified);
  backend.kernels["scale<32>"] = but_for(7, false);
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[7] was not written"));
  backend.kernels["scale<32>"] = but_for(-1, true);
  EXPECT_THAT(failure(block(32)), HasSubstr("wrong: c[0] was not written"));
  backend.kernels["reference"] = but_for(-1, true);
  EXPECT_THAT(refusal(), HasSubstr("the reference does not write c[0]"));
}

TEST_F(PreparedRunner, TakesSingleRunsAsSamplesOfHotCaches) {
  options.use = Use::hot;
  const auto shared = runner();
  const Image image = compile({"scale<32>", "scale<64>", "zero"});
  EXPECT_NE(shared->evaluate(block(32), image, 0).measurement(), nullptr);
  for (const Trial& trial : remeasure(*shared)) EXPECT_TRUE(trial.verified) << message(trial.outcome);
  for (const SampleRequest& request : backend.requests) EXPECT_EQ(request.batch, 1u);
  EXPECT_THAT(order, HasSubstr("z[scale<64>]sz[scale<64>]s"));
}

TEST_F(PreparedRunner, PreparesEachPassThatIsCountedAndMeasuresNoEnergy) {
  options.metrics = {"ipc", "energy"};
  options.metrics_for_all = true;
  const Trial trial = evaluate(block(32));
  ASSERT_NE(trial.measurement(), nullptr) << message(trial.outcome);
  EXPECT_THAT(order, EndsWith("zszs")) << "two passes";
  EXPECT_EQ(trial.measurement()->metrics.at("ipc"), 3);
  EXPECT_EQ(trial.measurement()->no_metrics,
            "energy is measured over runs without a gap, and here a 'prepare' launch comes before each run");
}

TEST_F(PreparedRunner, StartsTheDefaultConfigurationLikewiseWhereItIsTheReference) {
  spec.verification.reference.clear();
  spec.verification.default_is_reference = true;
  const Trial trial = evaluate(block(64));
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
}

TEST_F(PreparedRunner, SaysThatWhatPreparesFailed) {
  const auto shared = runner();
  backend.kernels["zero"] = [](const Launch&) { return LaunchError{"no zeros left"}; };
  EXPECT_EQ(message(evaluate(*shared, block(32)).outcome), "no zeros left");
}

TEST_F(RunnerTiming, InterleavesFinalistsAndPairsTheirSamplesByRound) {
  std::vector<std::string> order;
  backend.next_sample = [&](const std::string& expression, std::size_t i) {
    order.push_back(expression);
    return Sample{1000 + double(i), 0};
  };
  const auto shared = runner();
  const auto trials = remeasure(*shared);
  ASSERT_EQ(trials.size(), 2u);
  for (const Trial& trial : trials) {
    ASSERT_NE(trial.measurement(), nullptr);
    EXPECT_TRUE(trial.verified);
    EXPECT_EQ(trial.measurement()->samples_ns.size(), options.finalist_rounds * 2);
  }
  EXPECT_NEAR(trials[0].measurement()->median_ns, trials[1].measurement()->median_ns, 4)
      << "drift must meet both alike";
  EXPECT_NE(order[1], order[2]);
}

TEST_F(RunnerTiming, CollectsMetricsOfEveryConfigurationOnlyWhenAsked) {
  options.metrics = {"ipc", "energy", "edp"};
  EXPECT_EQ(evaluate(block(32)).measurement()->metrics.count("ipc"), 0u);
  EXPECT_TRUE(backend.counted.empty());
  options.metrics_for_all = true;
  const Trial trial = evaluate(block(32));
  EXPECT_EQ(trial.measurement()->metrics.at("ipc"), 3);
  EXPECT_EQ(trial.measurement()->metrics.at("energy"), 0.5);
  EXPECT_DOUBLE_EQ(trial.measurement()->metrics.at("edp"), 0.5 * trial.measurement()->median_ns * 1e-9);
  EXPECT_EQ(trial.measurement()->metrics.count("power"), 0u) << "nobody asked for it";
  EXPECT_EQ(backend.energy_windows, std::vector<double>{1});
}

TEST_F(RunnerTiming, CollectsMetricsOfFinalistsBehindEverythingThatIsTimed) {
  options.metrics = {"ipc"};
  const auto shared = runner();
  for (const Trial& trial : remeasure(*shared)) EXPECT_EQ(trial.measurement()->metrics.at("ipc"), 3);
  ASSERT_EQ(backend.counted.size(), 2u);
  EXPECT_EQ(backend.counted[1].expression, "scale<64>");
  for (const auto& counted : backend.counted) {
    EXPECT_EQ(counted.samples_before, backend.taken) << "something was timed after it";
    EXPECT_TRUE(counted.cold);
  }
}

TEST_F(RunnerTiming, TellsHowFarAConfigurationIsFromTheReference) {
  backend.kernels["scale<64>"] = [](const Launch& launch) {
    auto failure = scale_kernel<float>(launch);
    argument<float*>(launch, 1)[0] *= 1 + 1e-6F;
    return failure;
  };
  options.metrics = {"error"};
  options.metrics_for_all = true;
  const auto shared = runner();
  EXPECT_EQ(evaluate(*shared, block(32)).measurement()->metrics.at("error"), 0);
  const double error = evaluate(*shared, block(64)).measurement()->metrics.at("error");
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 2e-6) << "relative to the largest of all elements";

  spec.verification.reference.clear();
  const Trial trial = evaluate(block(32));
  EXPECT_EQ(trial.measurement()->metrics.count("error"), 0u);
  EXPECT_EQ(trial.measurement()->no_metrics, "without a reference, no error can be computed");
}

TEST_F(RunnerTiming, GoesOnWithoutCountersAndAsksForThemOnce) {
  backend.why_no_counters = "not permitted";
  options.metrics = {"ipc", "energy"};
  options.metrics_for_all = true;
  const auto shared = runner();
  for (const int size : {32, 64}) {
    const Trial trial = evaluate(*shared, block(size));
    ASSERT_NE(trial.measurement(), nullptr);
    EXPECT_EQ(trial.measurement()->no_metrics, "not permitted");
    EXPECT_EQ(trial.measurement()->metrics.at("energy"), 0.5) << "that one is there";
  }
  EXPECT_EQ(backend.counted.size(), 1u);
}

}  // namespace
}  // namespace tuner
