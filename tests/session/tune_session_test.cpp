#include <tuner/session/tune_session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <tuner/core/error.hpp>

#include "fakes.hpp"

namespace tuner {
namespace {

using namespace tuner::testing;
using ::testing::HasSubstr;

class TuneSession : public ::testing::Test {
 protected:
  SessionResult run(FakeEvaluator& evaluator, SessionOptions options = {}, Observer* observer = nullptr) {
    if (options.strategy == "auto") options.strategy = "exhaustive";
    return run_session(spec_, size_, device_, evaluator, &store_, options, observer);
  }

  SessionResult run_auto(FakeEvaluator& evaluator, const SessionOptions& options) {
    return run_session(spec_, size_, device_, evaluator, &store_, options, nullptr);
  }

  KernelSpec spec_ = small_kernel();
  const ProblemSize size_ = small_problem();
  Device device_ = some_device();
  const Configuration optimum_{{"block", 128}, {"unroll", 2}};
  MemoryStore store_;
};

TEST_F(TuneSession, FindsTheBestOfAnExhaustedSpace) {
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.stop_reason, StopReason::exhausted);
  EXPECT_EQ(result.trials.size(), result.valid);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->configuration, optimum_);
}

TEST_F(TuneSession, SubmitsEachConfigurationOnce) {
  FakeEvaluator evaluator;
  run(evaluator);
  const std::set<Configuration> distinct(evaluator.submitted.begin(), evaluator.submitted.end());
  EXPECT_EQ(distinct.size(), evaluator.submitted.size());
}

TEST_F(TuneSession, StoresEveryTrialAndTheWinner) {
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(store_.appended.size(), result.trials.size());
  ASSERT_TRUE(store_.best);
  EXPECT_EQ(store_.best->configuration, optimum_);
  EXPECT_TRUE(store_.done);
}

TEST_F(TuneSession, ResumesWithoutRepeatingFinishedTrials) {
  FakeEvaluator first;
  SessionOptions few;
  few.budget.trials = 5;
  const SessionResult begun = run(first, few);
  store_.earlier = begun.trials;
  store_.appended.clear();

  FakeEvaluator second;
  const SessionResult result = run(second);
  EXPECT_EQ(result.resumed, 5u);
  EXPECT_EQ(second.submitted.size(), result.valid - 5);
  for (const Trial& trial : begun.trials) {
    EXPECT_THAT(second.submitted, ::testing::Not(::testing::Contains(trial.configuration)));
  }
  EXPECT_EQ(result.best->configuration, optimum_);
}

TEST_F(TuneSession, CountsResumedTrialsInTheTrialBudget) {
  store_.earlier = {measured({{"block", 32}, {"unroll", 1}}, 5000)};
  FakeEvaluator evaluator;
  SessionOptions options;
  options.budget.trials = 4;
  EXPECT_EQ(run(evaluator, options).trials.size(), 4u);
  EXPECT_EQ(evaluator.submitted.size(), 3u);
}

TEST_F(TuneSession, IgnoresEarlierTrialsOfConfigurationsThatNoLongerExist) {
  store_.earlier = {measured({{"block", 48}, {"unroll", 1}}, 1)};
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.resumed, 0u);
  EXPECT_EQ(result.best->configuration, optimum_);
}

TEST_F(TuneSession, StopsAtTheTrialBudgetExactly) {
  FakeEvaluator evaluator;
  SessionOptions options;
  options.budget.trials = 4;
  const SessionResult result = run(evaluator, options);
  EXPECT_EQ(result.stop_reason, StopReason::trials);
  EXPECT_EQ(result.trials.size(), 4u);
}

TEST_F(TuneSession, StopsAtAFractionOfTheSpace) {
  FakeEvaluator evaluator;
  SessionOptions options;
  options.budget.fraction = 0.5;
  const SessionResult result = run(evaluator, options);
  EXPECT_EQ(result.stop_reason, StopReason::fraction);
  EXPECT_EQ(result.trials.size(), (result.valid + 1) / 2);
}

TEST_F(TuneSession, StopsOnceTheTargetIsReached) {
  FakeEvaluator evaluator({[](const Configuration& c) { return measured(c, cost(c)); }}, 1);
  SessionOptions options;
  options.budget.target = 1e9;  // the first trial reaches it
  const SessionResult result = run(evaluator, options);
  EXPECT_EQ(result.stop_reason, StopReason::target);
  EXPECT_EQ(result.trials.size(), 1u);
}

TEST_F(TuneSession, StartsNothingWithoutTimeAndSaysSo) {
  FakeEvaluator evaluator;
  SessionOptions options;
  options.budget.wall_time = std::chrono::seconds(0);
  const SessionResult result = run(evaluator, options);
  EXPECT_EQ(result.stop_reason, StopReason::wall_time);
  EXPECT_TRUE(evaluator.submitted.empty());
  EXPECT_FALSE(result.best);
}

TEST_F(TuneSession, FinishesTrialsInFlightWhenInterruptedAndLeavesTheSessionOpen) {
  std::atomic<bool> stop{false};
  FakeEvaluator evaluator([&](const Configuration& c) {
    stop = true;
    return measured(c, cost(c));
  });
  SessionOptions options;
  options.stop = &stop;
  const SessionResult result = run(evaluator, options);
  EXPECT_EQ(result.stop_reason, StopReason::interrupted);
  EXPECT_EQ(result.trials.size(), evaluator.capacity());
  EXPECT_EQ(store_.appended.size(), evaluator.capacity());
  EXPECT_TRUE(result.best);
  EXPECT_TRUE(store_.best);
  EXPECT_FALSE(store_.done);
}

TEST_F(TuneSession, TakesBackWhatOnlyWaitsForTheDeviceWhenInterrupted) {
  std::atomic<bool> stop = false;
  SessionOptions options;
  options.stop = &stop;
  FakeEvaluator evaluator(
      [&](const Configuration& c) {
        stop = true;
        return measured(c, cost(c));
      },
      6);
  evaluator.tells_of_compiling = true;
  const SessionResult result = run(evaluator, options);
  EXPECT_EQ(result.stop_reason, StopReason::interrupted);
  EXPECT_EQ(result.trials.size(), 1u);
  EXPECT_EQ(evaluator.withdrawn.size(), 5u);
  EXPECT_FALSE(store_.done);
}

TEST_F(TuneSession, LetsTheStrategyOrderWhatWaitsAndStillTriesEverythingOnce) {
  FakeEvaluator evaluator([](const Configuration& c) { return measured(c, cost(c)); }, 8);
  evaluator.tells_of_compiling = true;
  const SessionResult result = run_auto(evaluator, {});
  EXPECT_TRUE(evaluator.preferred);
  EXPECT_EQ(result.trials.size(), result.valid);
  std::set<Configuration> tried;
  for (const Trial& trial : result.trials) EXPECT_TRUE(tried.insert(trial.configuration).second);
}

TEST_F(TuneSession, RunsAllThatIsCompiledWhereCompilersTakeTheDevicesCores) {
  device_.key.backend = "host";
  FakeEvaluator evaluator([](const Configuration& c) { return measured(c, cost(c)); }, 8);
  evaluator.tells_of_compiling = true;
  const SessionResult result = run_auto(evaluator, {});
  EXPECT_FALSE(evaluator.preferred);
  EXPECT_TRUE(evaluator.withdrawn.empty());
  EXPECT_EQ(result.trials.size(), result.valid);
}

TEST_F(TuneSession, ProposesManyAtATimeWhereTheyShareACompile) {
  device_.key.backend = "host";
  std::set<std::size_t> submitted;
  FakeEvaluator* asked = nullptr;
  FakeEvaluator evaluator(
      [&](const Configuration& c) {
        submitted.insert(asked->submitted.size());
        return measured(c, cost(c));
      },
      8);
  asked = &evaluator;
  EXPECT_EQ(run(evaluator).valid, 11u);
  EXPECT_THAT(submitted, ::testing::ElementsAre(8u, 11u)) << "the last when four of the first eight were done";
}

TEST_F(TuneSession, StartsFromTheBestOfAPrior) {
  const Configuration good{{"block", 128}, {"unroll", 2}};
  SessionOptions options;
  options.budget.trials = 1;
  options.prior = Prior{{{Configuration{{"block", 32}, {"unroll", 1}}, 300.0},
                         {good, 100.0},
                         {Configuration{{"block", 999}, {"unroll", 1}}, 1.0},
                         {Configuration{{"block", 64}, {"unroll", 1}}, std::nullopt}},
                        1,
                        "n=500"};
  FakeEvaluator evaluator;
  const SessionResult result = run_auto(evaluator, options);
  ASSERT_EQ(result.trials.size(), 1u);
  EXPECT_EQ(result.trials.front().configuration, good);
}

TEST_F(TuneSession, NeverNamesAnUnverifiedConfigurationBest) {
  FakeEvaluator evaluator([&](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    trial.verified = c != optimum_;
    return trial;
  });
  const SessionResult result = run(evaluator);
  ASSERT_TRUE(result.best);
  EXPECT_NE(result.best->configuration, optimum_);
}

TEST_F(TuneSession, NamesTheBestOfWhatIsComparedWithNothingOnlyWhereItIsToldTo) {
  FakeEvaluator evaluator([&](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    trial.verified = false;
    return trial;
  });
  EXPECT_FALSE(run(evaluator).best);
  SessionOptions options;
  options.unverified = true;
  const SessionResult result = run(evaluator, options);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->configuration, optimum_);
  EXPECT_FALSE(result.best->verified);
}

TEST_F(TuneSession, NeverNamesAnAbandonedMeasurementBestHoweverLowItsFewSamplesAre) {
  const auto abandoned = [&](const Configuration& c) {
    Trial trial = measured(c, c == optimum_ ? 10 : cost(c));
    std::get<Measurement>(trial.outcome).abandoned = c == optimum_;
    return trial;
  };
  for (const bool is_default : {false, true}) {
    if (is_default) spec_.default_configuration = optimum_;
    FakeEvaluator lost_the_second_time(abandoned);
    lost_the_second_time.again = [](const Configuration& c) { return failed(c, LaunchError{"the worker went away"}); };
    const SessionResult result = run(lost_the_second_time);
    ASSERT_TRUE(result.best);
    EXPECT_NE(result.best->configuration, optimum_);
  }
}

TEST_F(TuneSession, MeasuresADefaultThatWasAbandonedEarlierAgainAmongTheFinalists) {
  const Configuration first{{"block", 256}, {"unroll", 1}};
  spec_.default_configuration = first;
  Trial earlier = measured(first, 5000);
  std::get<Measurement>(earlier.outcome).abandoned = true;
  store_.earlier = {earlier};
  FakeEvaluator evaluator;
  evaluator.again = [&](const Configuration& c) { return measured(c, c == first ? 900 : 1000); };
  EXPECT_EQ(run(evaluator).best->configuration, first);
}

TEST_F(TuneSession, KeepsFailuresAsTrialsAndStillFindsTheBest) {
  FakeEvaluator evaluator([&](const Configuration& c) {
    return c.find("unroll")->integer() == 4 ? failed(c, WrongResult{"c[3] is 1, expected 2"}) : measured(c, cost(c));
  });
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.trials.size(), result.valid);
  EXPECT_EQ(result.best->configuration, optimum_);
}

TEST_F(TuneSession, HasNoBestWhenEverythingFails) {
  FakeEvaluator evaluator([](const Configuration& c) { return failed(c, LaunchError{"illegal address"}); });
  const SessionResult result = run(evaluator);
  EXPECT_FALSE(result.best);
  EXPECT_FALSE(store_.best);
}

TEST_F(TuneSession, MeasuresCloseLeadersAgainAndBelievesTheSecondMeasurement) {
  const Configuration rival{{"block", 128}, {"unroll", 1}};
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) { return measured(c, c == rival ? 900 : 1000); };
  const SessionResult result = run(evaluator);
  EXPECT_THAT(evaluator.remeasured, ::testing::Contains(optimum_));
  EXPECT_EQ(result.best->configuration, rival);
  EXPECT_EQ(result.best->measurement()->median_ns, 900);
}

TEST_F(TuneSession, NamesATieAndPrefersFewerRegisters) {
  const Configuration rival{{"block", 128}, {"unroll", 1}};
  const auto answer = [&](const Configuration& c) {
    return measured(c, c == rival || c == optimum_ ? 1000 : 2000, c == rival ? 20 : 40);
  };
  FakeEvaluator evaluator(answer);
  evaluator.again = answer;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.best->configuration, rival);
  EXPECT_THAT(result.ties, ::testing::ElementsAre(optimum_));
}

TEST_F(TuneSession, TriesTheDefaultFirstAndOnce) {
  const Configuration first{{"block", 256}, {"unroll", 1}};
  spec_.default_configuration = first;
  for (const bool tells : {false, true}) {
    FakeEvaluator evaluator;
    evaluator.tells_of_compiling = tells;
    const SessionResult result = run(evaluator);
    EXPECT_EQ(evaluator.submitted.front(), first);
    EXPECT_EQ(std::count(evaluator.submitted.begin(), evaluator.submitted.end(), first), 1);
    EXPECT_EQ(result.trials.size(), result.valid);
  }
}

TEST_F(TuneSession, TriesNothingButTheDefaultWhenOneTrialIsAllowed) {
  spec_.default_configuration = Configuration{{"block", 256}, {"unroll", 1}};
  FakeEvaluator evaluator;
  SessionOptions options;
  options.budget.trials = 1;
  EXPECT_EQ(run(evaluator, options).best->configuration, *spec_.default_configuration);
}

TEST_F(TuneSession, DoesNotTryAResumedDefaultAgain) {
  const Configuration first{{"block", 256}, {"unroll", 1}};
  spec_.default_configuration = first;
  store_.earlier = {measured(first, cost(first))};
  FakeEvaluator evaluator;
  run(evaluator);
  EXPECT_THAT(evaluator.submitted, ::testing::Not(::testing::Contains(first)));
}

TEST_F(TuneSession, NamesTheDefaultWhenItTurnsOutToBeTheFastestAmongTheFinalists) {
  const Configuration first{{"block", 256}, {"unroll", 1}};  // 18% slower at first
  spec_.default_configuration = first;
  FakeEvaluator evaluator;
  evaluator.again = [&](const Configuration& c) { return measured(c, c == first ? 900 : 1000); };
  const SessionResult result = run(evaluator);
  EXPECT_THAT(evaluator.remeasured, ::testing::Contains(first));
  EXPECT_EQ(result.best->configuration, first);
}

TEST_F(TuneSession, NamesWhatIsNearTheDefaultOnlyWhenItIsAheadOnceMoreAloneWithIt) {
  const Configuration first{{"block", 256}, {"unroll", 1}};
  spec_.default_configuration = first;
  for (const bool holds : {true, false}) {
    FakeEvaluator evaluator;
    std::size_t asked = 0;  // the optimum is 10% ahead among the finalists, and then again or no more
    evaluator.again = [&](const Configuration& c) {
      const bool alone = evaluator.remeasured.size() == 2 && asked++ >= 2;
      return measured(c, c == optimum_ && (holds || !alone) ? 9000 : 10'000);
    };
    const SessionResult result = run(evaluator);
    EXPECT_THAT(evaluator.remeasured, ::testing::UnorderedElementsAre(optimum_, first));
    EXPECT_EQ(result.best->configuration, holds ? optimum_ : first);
  }
}

TEST_F(TuneSession, NamesTheDefaultWhereTheLeadIsOnlyAFewStepsOfTheClock) {
  const Configuration first{{"block", 256}, {"unroll", 1}};
  spec_.default_configuration = first;
  FakeEvaluator evaluator;
  evaluator.again = [&](const Configuration& c) { return measured(c, c == optimum_ ? 3900 : 4000); };
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.best->configuration, first);
  EXPECT_THAT(result.ties, ::testing::ElementsAre(optimum_));
}

TEST_F(TuneSession, DoesNotNameAFinalistThatWasWrongOrCrashedWhenItWasMeasuredAgain) {
  const Configuration rival{{"block", 128}, {"unroll", 1}};
  for (const bool crashed : {false, true}) {
    FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival ? 1010 : cost(c)); });
    evaluator.again = [&](const Configuration& c) {
      if (c != optimum_) return measured(c, 1010);
      Trial trial = failed(c, WrongResult{"right at first"});
      if (crashed) trial.outcome = LaunchError{"illegal address"};
      trial.crashed = crashed;
      return trial;
    };
    EXPECT_EQ(run(evaluator).best->configuration, rival);
    EXPECT_FALSE(store_.appended.back().verified && store_.appended.back().configuration == optimum_);
  }
}

TEST_F(TuneSession, NamesTheNextBestWhenAFinalistTookItsWorkerDownAfterItWasMeasuredAgain) {
  const Configuration rival{{"block", 128}, {"unroll", 1}};
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    Trial trial = measured(c, c == optimum_ ? 1000 : 1010);
    trial.crashed = c == optimum_;
    return trial;
  };
  EXPECT_EQ(run(evaluator).best->configuration, rival);
  EXPECT_EQ(store_.best->configuration, rival);
}

TEST_F(TuneSession, NamesTheNextBestWhenWinnerAndDefaultFailOnceTheyAreAlone) {
  const Configuration rival{{"block", 128}, {"unroll", 1}}, first{{"block", 256}, {"unroll", 1}};
  spec_.default_configuration = first;
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    if (evaluator.remeasured.size() > 2) return measured(c, c == optimum_ ? 900 : 1000);
    Trial trial = failed(c, LaunchError{"illegal address"});
    trial.crashed = true;
    return trial;
  };
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.best->configuration, rival);
  EXPECT_TRUE(result.best->measurement());
}

/// Finds everything wrong that unrolls more than once.
struct FussyCheck final : FinalistCheck {
  void expect(const Configuration& configuration) override {
    ++expectations;
    if (asked.empty()) expected = configuration;
  }
  std::optional<WrongResult> wrong(const Configuration& configuration) override {
    asked.push_back(configuration);
    if (configuration.find("unroll")->integer() == 1) return std::nullopt;
    return WrongResult{"on the host backend: a race"};
  }
  std::string why_not() const override { return reason; }

  std::optional<Configuration> expected;  // the last, before it was asked
  std::size_t expectations = 0;
  std::vector<Configuration> asked;
  std::string reason;
};

struct WarningsObserver final : Observer {
  void on_warning(std::string_view message) override { warnings.emplace_back(message); }
  std::vector<std::string> warnings;
};

TEST_F(TuneSession, NamesTheNextBestWhereTheBestIsWrongByAnotherCheck) {
  FakeEvaluator evaluator;
  FussyCheck check;
  WarningsObserver observer;
  SessionOptions options;
  options.check = &check;
  const SessionResult result = run(evaluator, options, &observer);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->configuration, (Configuration{{"block", 128}, {"unroll", 1}}));
  EXPECT_EQ(check.asked.front(), optimum_);
  EXPECT_EQ(check.asked.back(), result.best->configuration);
  EXPECT_EQ(observer.warnings.front(), "passed over: block=128 unroll=2: on the host backend: a race");
  EXPECT_EQ(observer.warnings.size(), check.asked.size() - 1);
  EXPECT_EQ(kind(store_.appended.back().outcome), "wrong");
  EXPECT_EQ(store_.best->configuration, result.best->configuration);
}

TEST_F(TuneSession, TellsTheCheckWhoLeadsBeforeItAsks) {
  for (const std::optional<std::size_t> trials : {std::optional<std::size_t>(), std::optional<std::size_t>(8)}) {
    FakeEvaluator evaluator;
    FussyCheck check;
    SessionOptions options;
    options.check = &check;
    options.budget.trials = trials;
    run(evaluator, options);
    EXPECT_EQ(check.expected, check.asked.front());
  }
}

TEST_F(TuneSession, TellsTheCheckOfNobodyWhileMuchIsStillToCome) {
  FussyCheck check;
  std::vector<std::size_t> expectations;  // before each answer
  const auto answer = [&](const Configuration& c) {
    expectations.push_back(check.expectations);
    return measured(c, cost(c));
  };
  FakeEvaluator evaluator(answer, 8);
  SessionOptions options;
  options.check = &check;
  options.budget.trials = 8;
  options.started = std::chrono::steady_clock::now() - std::chrono::hours(1);  // so a trial takes minutes
  run(evaluator, options);
  EXPECT_EQ(expectations, std::vector<std::size_t>(8, 0));
  EXPECT_GT(check.expectations, 0u);
}

TEST_F(TuneSession, SaysOnceWhyTheBestCouldNotBeCheckedAndNamesIt) {
  FakeEvaluator evaluator([](const Configuration& c) { return measured(c, c.find("unroll")->integer() * cost(c)); });
  FussyCheck check;
  check.reason = "there is no compiler";
  WarningsObserver observer;
  SessionOptions options;
  options.check = &check;
  EXPECT_TRUE(run(evaluator, options, &observer).best);
  EXPECT_THAT(observer.warnings,
              ::testing::ElementsAre("the best is not checked for races on the host: there is no compiler"));
}

TEST_F(TuneSession, LeavesOutTheFinalsWhenNoTimeIsLeft) {
  const Configuration rival{{"block", 128}, {"unroll", 1}};
  SessionOptions options;
  options.budget.wall_time = std::chrono::hours(1);
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival ? 1010 : cost(c)); });
  options.started = std::chrono::steady_clock::now() - std::chrono::hours(2);
  EXPECT_EQ(run(evaluator, options).stop_reason, StopReason::wall_time);
  EXPECT_TRUE(evaluator.submitted.empty()) << "the clock began before the session did";
  EXPECT_TRUE(evaluator.remeasured.empty());
}

TEST_F(TuneSession, WaitsNoLongerThanTheGraceForWhatNeverEnds) {
  class Endless final : public Evaluator {
   public:
    std::size_t capacity() const override { return 1; }
    void submit(const Configuration&, double) override { ++submitted; }
    std::size_t in_flight() const override { return submitted; }
    std::optional<Event> next_event(std::chrono::duration<double>) override { return std::nullopt; }
    std::size_t submitted = 0;
  } endless;
  SessionOptions options;
  options.budget.wall_time = std::chrono::milliseconds(100);
  options.grace = std::chrono::milliseconds(1);
  const SessionResult result = run_session(spec_, size_, device_, endless, nullptr, options, nullptr);
  EXPECT_EQ(result.stop_reason, StopReason::wall_time);
  EXPECT_EQ(endless.submitted, 1u);
  EXPECT_FALSE(result.best);
}

TEST_F(TuneSession, KeepsTimeForTheFinalists) {
  SessionOptions options;
  options.budget.wall_time = std::chrono::hours(1);
  options.started = std::chrono::steady_clock::now() - std::chrono::minutes(50);
  const auto slow = [&](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    trial.times.measure = 60;  // 20 s a sample
    return trial;
  };
  FakeEvaluator evaluator(slow);
  const SessionResult result = run(evaluator, options);
  EXPECT_EQ(result.stop_reason, StopReason::wall_time);
  EXPECT_EQ(result.trials.size(), evaluator.capacity()) << "ten minutes are left, and twelve are wanted";
}

TEST_F(TuneSession, TakesBackWhatIsStillCompilingWhenInterrupted) {
  std::atomic<bool> stop = false;
  SessionOptions options;
  options.stop = &stop;
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, cost(c)); }, 6);
  evaluator.tells_of_compiling = true;
  struct Stopping : Observer {
    explicit Stopping(std::atomic<bool>& flag) : stop(flag) {}
    void on_start(const SessionPlan&) override { stop = true; }
    std::atomic<bool>& stop;
  } observer(stop);
  const SessionResult result = run(evaluator, options, &observer);
  EXPECT_EQ(result.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(result.trials.empty());
}

TEST_F(TuneSession, NeverNamesAQuarantinedConfigurationOfAnEarlierSessionBest) {
  store_.earlier = {measured(optimum_, 500)};
  store_.crashed = {optimum_};
  FakeEvaluator evaluator;
  EXPECT_NE(run(evaluator).best->configuration, optimum_);
}

TEST_F(TuneSession, CountsQuarantinedConfigurationsInTheTrialBudget) {
  for (const int block : {32, 64, 128})
    for (const int unroll : {1, 2, 4}) store_.crashed.insert(Configuration{{"block", block}, {"unroll", unroll}});
  FakeEvaluator evaluator;
  SessionOptions options;
  options.budget.trials = 4;
  EXPECT_EQ(run(evaluator, options).trials.size(), 4u);
}

TEST_F(TuneSession, NeverRunsAQuarantinedConfiguration) {
  store_.crashed = {optimum_};
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  EXPECT_THAT(evaluator.submitted, ::testing::Not(::testing::Contains(optimum_)));
  EXPECT_NE(result.best->configuration, optimum_);
}

TEST_F(TuneSession, StopsWhenTheDeviceIsLostAndDoesNotBelieveTrialsBehindTheFault) {
  FakeEvaluator evaluator;
  evaluator.lost_after = 2;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.stop_reason, StopReason::device_lost);
  EXPECT_EQ(store_.appended.size(), 2u);
  EXPECT_FALSE(store_.done);
}

TEST_F(TuneSession, MinimisesTheNamedMetric) {
  FakeEvaluator evaluator([](const Configuration& c) {
    Trial trial = measured(c, 1000);
    std::get<Measurement>(trial.outcome).metrics["energy_j"] = static_cast<double>(c.find("block")->integer());
    return trial;
  });
  SessionOptions options;
  options.objective.name = "energy_j";
  EXPECT_EQ(run(evaluator, options).best->configuration.find("block")->integer(), 32);
}

TEST_F(TuneSession, MaximisesTheNamedMetricWhereItsLargestWins) {
  FakeEvaluator evaluator([](const Configuration& c) {
    Trial trial = measured(c, 1000);
    std::get<Measurement>(trial.outcome).metrics["ipc"] = static_cast<double>(c.find("block")->integer());
    return trial;
  });
  SessionOptions options;
  options.objective.name = "max:ipc";
  const SessionResult result = run(evaluator, options);
  double most = 0;
  for (const Trial& trial : result.trials) most = std::max(most, trial.measurement()->metrics.at("ipc"));
  EXPECT_EQ(result.best->measurement()->metrics.at("ipc"), most);
  EXPECT_GT(most, 32);
}

TEST_F(TuneSession, MeasuresALoneBestAgainWhereItsMetricsAreWanted) {
  SessionOptions options;
  options.finalist_factor = 1.0;
  spec_.default_configuration = optimum_;
  FakeEvaluator without, with;
  run(without, options);
  EXPECT_TRUE(without.remeasured.empty());
  options.remeasure_one = true;
  with.again = [](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    std::get<Measurement>(trial.outcome).metrics["ipc"] = 2;
    return trial;
  };
  const SessionResult result = run(with, options);
  EXPECT_THAT(with.remeasured, ::testing::ElementsAre(optimum_));
  EXPECT_EQ(result.best->measurement()->metrics.at("ipc"), 2);
}

TEST_F(TuneSession, SaysOnceWhyMetricsAreMissing) {
  struct Listener : Observer {
    std::vector<std::string> warnings;
    void on_warning(std::string_view message) override { warnings.emplace_back(message); }
  } listener;
  FakeEvaluator evaluator([](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    std::get<Measurement>(trial.outcome).no_metrics = "not permitted";
    return trial;
  });
  run(evaluator, {}, &listener);
  EXPECT_THAT(listener.warnings, ::testing::ElementsAre("metrics are missing: not permitted"));
}

TEST_F(TuneSession, WarnsOfAParameterThatChangesNothing) {
  struct Listener : Observer {
    std::vector<std::string> warnings;
    void on_warning(std::string_view message) override { warnings.emplace_back(message); }
  } listener;
  spec_.launches.front().instantiate = "copy<T, block, 1>";
  spec_.launches.front().grid[0] = Expression::parse("ceil_div(n, block)", {"copy.cu", 1, 1});
  FakeEvaluator evaluator;
  run(evaluator, {}, &listener);
  EXPECT_THAT(listener.warnings,
              ::testing::ElementsAre(HasSubstr("parameter 'unroll' of kernel 'copy' changes nothing: its 3 values")));
}

TEST_F(TuneSession, TellsTheObserverOfEveryTrialWithTheBestSoFar) {
  struct Listener : Observer {
    void on_start(const SessionPlan& plan) override { valid = plan.valid; }
    void on_trial(const Trial&, const Progress& progress) override {
      ++trials;
      EXPECT_EQ(progress.finished, trials);
      ASSERT_NE(progress.best, nullptr);
      EXPECT_LE(progress.best->measurement()->median_ns, last_best);
      last_best = progress.best->measurement()->median_ns;
    }
    std::size_t valid = 0, trials = 0;
    double last_best = 1e300;
  } listener;
  FakeEvaluator evaluator;
  run(evaluator, {}, &listener);
  EXPECT_EQ(listener.trials, listener.valid);
}

TEST_F(TuneSession, ExplainsASpaceWithoutValidConfigurations) {
  const KernelSpec spec =
      parse_kernel_file(spec_.source + "#pragma tuner constraint never: block < unroll\n", "copy.cu");
  FakeEvaluator evaluator;
  try {
    run_session(spec, size_, device_, evaluator, nullptr, {}, nullptr);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no valid configuration"));
    EXPECT_THAT(error.what(), HasSubstr("never"));
  }
}

TEST_F(TuneSession, RefusesAnUnknownStrategy) {
  FakeEvaluator evaluator;
  SessionOptions options;
  options.strategy = "exhaustiv";
  EXPECT_THROW(run(evaluator, options), std::invalid_argument);
}

}  // namespace
}  // namespace tuner
