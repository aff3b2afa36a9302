// The course of a session: what it tries, resumes and reports, and when it ends.

#include <tuple>

#include <tests/session/session_fixture.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;

TEST_F(TuneSession, TriesEachConfigurationOnceAndStoresEveryTrialAndTheBest) {
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  const std::set<Configuration> distinct(evaluator.submitted.begin(), evaluator.submitted.end());
  EXPECT_EQ(distinct.size(), evaluator.submitted.size());
  EXPECT_EQ(result.stop_reason, StopReason::exhausted);
  EXPECT_EQ(result.trials.size(), result.valid);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->configuration, optimum_);
  EXPECT_EQ(stored().size(), result.trials.size());
  EXPECT_EQ(stored_best(), optimum_.text());
  EXPECT_TRUE(is_done());
}

TEST_F(TuneSession, ResumesWithoutRepeatingFinishedTrials) {
  FakeEvaluator first;
  options_.budget.trials = 5;
  const SessionResult begun = run(first);
  earlier_ = begun.trials;

  options_.budget = {};
  FakeEvaluator second;
  const SessionResult result = run(second);
  EXPECT_EQ(result.resumed, 5u);
  EXPECT_EQ(second.submitted.size(), result.valid - 5);
  for (const Trial& trial : begun.trials) EXPECT_THAT(second.submitted, Not(Contains(trial.configuration)));
  EXPECT_EQ(result.best->configuration, optimum_);
}

TEST_F(TuneSession, CountsResumedTrialsInTheTrialBudget) {
  earlier_ = {measured({{"block", 32}, {"unroll", 1}}, 5000)};
  FakeEvaluator evaluator;
  options_.budget.trials = 4;
  EXPECT_EQ(run(evaluator).trials.size(), 4u);
  EXPECT_EQ(evaluator.submitted.size(), 3u);
}

TEST_F(TuneSession, IgnoresEarlierTrialsOfConfigurationsThatNoLongerExist) {
  earlier_ = {measured({{"block", 48}, {"unroll", 1}}, 1)};
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.resumed, 0u);
  EXPECT_EQ(result.best->configuration, optimum_);
}

TEST_F(TuneSession, MeasuresTheStoredBestFirstWhereAllIsMeasuredAgain) {
  FakeEvaluator evaluator, second;
  run(evaluator);
  TrialStore again(*database_, spec_, size_, device_, {.objective = options_.objective, .resume = false});
  options_.budget.trials = 3;
  const SessionResult result = run_session(spec_, size_, device_, second, &again, options_, &warnings_);
  EXPECT_EQ(second.submitted.front(), optimum_);
  EXPECT_EQ(result.best->configuration, optimum_);
}

TEST_F(TuneSession, TriesTheSeedsAfterTheDefaultInTheirOrderWhereTheyAreValidAndNotKnown) {
  const auto at = [](int block, int unroll) { return Configuration{{"block", block}, {"unroll", unroll}}; };
  spec_.default_configuration = at(64, 1);
  spec_.seeds = {at(256, 2), at(256, 4), at(32, 4), at(64, 1), at(128, 4)};  // the second is not valid
  FakeEvaluator evaluator(cost_of, 1), again(cost_of, 1);
  options_.budget.trials = 5;
  run(evaluator);
  ASSERT_EQ(evaluator.submitted.size(), 5u);
  evaluator.submitted.pop_back();
  EXPECT_THAT(evaluator.submitted, ElementsAre(at(64, 1), at(256, 2), at(32, 4), at(128, 4)));

  earlier_ = {measured(at(64, 1), 1000), measured(at(32, 4), 1000)};
  run(again);
  ASSERT_EQ(again.submitted.size(), 3u);
  again.submitted.pop_back();
  EXPECT_THAT(again.submitted, ElementsAre(at(256, 2), at(128, 4)));
}

TEST_F(TuneSession, StartsAfterTheDefaultWhereTheEstimateIsSmallUnlessThereIsAPriorOrItIsTurnedOff) {
  const auto at = [](int block, int unroll) { return Configuration{{"block", block}, {"unroll", unroll}}; };
  const auto second = [&] {
    FakeEvaluator evaluator(cost_of, 1);
    run_auto(evaluator);
    return evaluator.submitted.at(1);
  };
  spec_.default_configuration = at(32, 1);
  spec_.work.estimate = Expression::parse("block == 64 and unroll == 4 ? 1 : 2", {});
  options_.budget.trials = 2;
  EXPECT_EQ(second(), at(64, 4));
  spec_.seeds = {at(128, 1)};
  EXPECT_EQ(second(), at(128, 1));
  spec_.seeds.clear();
  options_.prior = Prior{{{at(256, 2), 1}}, 1, "elsewhere"};
  EXPECT_EQ(second(), at(256, 2));
  options_.prior = Prior{{{at(48, 2), 1}}, 1, "elsewhere"};  // not valid here
  EXPECT_EQ(second(), at(64, 4));
  options_.prior.reset();
  options_.estimate = false;
  EXPECT_NE(second(), at(64, 4));
}

TEST_F(TuneSession, RunsFirstWhatTheCompilerReportsTheBestOfUntilTheStrategyHasAnOpinion) {
  device_.limits.compute_capability = 90;
  device_.limits.sm_count = 132;
  spec_.work.bytes = Expression::parse("67108864", {});
  FakeEvaluator evaluator(cost_of, 8), unordered(cost_of, 8);
  evaluator.tells_of_compiling = unordered.tells_of_compiling = true;
  options_.budget.trials = 8;
  run_auto(evaluator);
  EXPECT_TRUE(evaluator.preferred);
  options_.estimate = false;
  options_.strategy_options["start"] = 8;
  run_auto(unordered);
  EXPECT_FALSE(unordered.preferred);
  options_.estimate = true;
  options_.strategy_options.clear();
  options_.strategy = "genetic_algorithm";  // has no use for expected times
  run_auto(unordered);
  EXPECT_FALSE(unordered.preferred);
}

TEST_F(TuneSession, StopsAtItsLimitAndSaysWhich) {
  Budget trials, fraction, target, time;
  trials.trials = 4;
  fraction.fraction = 0.5;
  target.target = 1e9;  // the first trial reaches it
  time.wall_time = std::chrono::seconds(0);
  for (const auto& [budget, reason, count] : {std::tuple{trials, StopReason::trials, 4u},
                                              {fraction, StopReason::fraction, 6u},
                                              {target, StopReason::target, 1u},
                                              {time, StopReason::wall_time, 1u}}) {
    SCOPED_TRACE(text(reason));
    FakeEvaluator evaluator(cost_of, 1);
    options_.budget = budget;
    const SessionResult result = run(evaluator);
    EXPECT_EQ(result.stop_reason, reason);
    EXPECT_EQ(result.trials.size(), count);
    EXPECT_EQ(evaluator.submitted.size(), count);
    EXPECT_TRUE(result.best);
  }
}

TEST_F(TuneSession, StopsAtATargetOfWhichMoreIsBetter) {
  options_.objective.name = "max:ipc";
  const auto ipc = [](const Configuration& c) {
    Trial trial = measured(c, 1);
    std::get<Measurement>(trial.outcome).metrics["ipc"] = 2;
    return trial;
  };
  for (const auto& [target, reason] : {std::pair{1.5, StopReason::target}, {2.5, StopReason::exhausted}}) {
    FakeEvaluator evaluator(ipc, 1);
    options_.budget.target = target;
    EXPECT_EQ(run(evaluator).stop_reason, reason) << target;
  }
}

TEST_F(TuneSession, FinishesTrialsInFlightWhenInterruptedAndLeavesTheSessionOpen) {
  std::atomic<bool> stop{false};
  FakeEvaluator evaluator([&](const Configuration& c) {
    stop = true;
    return measured(c, cost(c));
  });
  options_.stop = &stop;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.stop_reason, StopReason::interrupted);
  EXPECT_EQ(result.trials.size(), evaluator.capacity());
  EXPECT_EQ(stored().size(), evaluator.capacity());
  EXPECT_TRUE(result.best);
  EXPECT_NE(stored_best(), "none");
  EXPECT_FALSE(is_done());
}

TEST_F(TuneSession, GivesUpTheFinalsWhenInterruptedAndKeepsWhatItHas) {
  std::atomic<bool> stop{false};
  options_.stop = &stop;
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) { return measured(c, c == rival_ ? 900 : 1000); };
  evaluator.at_finals = [&] { stop = true; };
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.stop_reason, StopReason::interrupted);
  EXPECT_EQ(result.best->configuration, optimum_);
  EXPECT_EQ(stored_best(), optimum_.text());
  EXPECT_TRUE(evaluator.remeasured.empty());
  EXPECT_FALSE(is_done());
}

TEST_F(TuneSession, LeavesWhatNeverEndsSoonAfterItsEnd) {
  class EndlessFromTheSecond final : public Evaluator {
   public:
    std::size_t capacity() const override { return 2; }
    void submit(const Configuration& configuration, double) override {
      if (running++ == 0) first = cost_of(configuration);
    }
    std::size_t in_flight() const override { return running; }
    std::optional<Event> next_event(std::chrono::duration<double>) override {
      if (!first) return std::nullopt;
      if (stop) *stop = true;
      --running;
      return *std::exchange(first, std::nullopt);
    }
    std::size_t running = 0;
    std::optional<Trial> first;
    std::atomic<bool>* stop = nullptr;
  };
  std::atomic<bool> stop{false};
  for (const bool is_interrupted : {false, true}) {
    EndlessFromTheSecond endless;
    if (is_interrupted) options_.stop = endless.stop = &stop;
    options_.budget.wall_time = is_interrupted ? std::chrono::milliseconds(3'600'000) : std::chrono::milliseconds(50);
    const SessionResult result = run_session(spec_, size_, device_, endless, nullptr, options_, nullptr);
    EXPECT_EQ(result.stop_reason, is_interrupted ? StopReason::interrupted : StopReason::wall_time);
    EXPECT_EQ(result.trials.size(), 1u);
    EXPECT_TRUE(result.best);
  }
}

TEST_F(TuneSession, TakesBackWhatDoesNotRunYetWhenInterrupted) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  struct Stopping : Observer {
    explicit Stopping(std::atomic<bool>& flag) : stop(flag) {}
    void on_start(const SessionPlan&) override { stop = true; }
    std::atomic<bool>& stop;
  } at_once(stop);
  for (Observer* const observer : {static_cast<Observer*>(&warnings_), static_cast<Observer*>(&at_once)}) {
    stop = false;
    FakeEvaluator evaluator(
        [&](const Configuration& c) {
          stop = true;
          return cost_of(c);
        },
        6);
    evaluator.tells_of_compiling = true;
    const SessionResult result = run(evaluator, observer);
    EXPECT_EQ(result.stop_reason, StopReason::interrupted);
    EXPECT_EQ(result.trials.size(), observer == &at_once ? 0u : 1u);
    EXPECT_EQ(evaluator.withdrawn.size(), observer == &at_once ? 0u : 5u);
    EXPECT_FALSE(is_done());
  }
}

TEST_F(TuneSession, LetsWhatIsBegunFinishWhenAnImprovementIsUnlikely) {
  device_.key.backend = "host";  // there the strategy takes nothing back
  for (const double chance : {1e-9, 0.999}) {
    FakeEvaluator evaluator(cost_of, chance < 0.5 ? 8 : 2);
    evaluator.tells_of_compiling = true;
    options_.budget.until_unlikely = chance;
    const SessionResult result = run_auto(evaluator);
    EXPECT_THAT(evaluator.withdrawn, ElementsAre());
    EXPECT_EQ(evaluator.submitted.size(), result.trials.size());
    EXPECT_EQ(result.trials.size() == result.valid, chance < 0.5);
    EXPECT_EQ(result.stop_reason, chance < 0.5 ? StopReason::exhausted : StopReason::unlikely);
  }
}

TEST_F(TuneSession, LetsTheStrategyOrderWhatWaitsExceptWhereCompilersTakeTheDevicesCores) {
  for (const char* backend : {"cuda", "host"}) {
    device_.key.backend = backend;
    FakeEvaluator evaluator(cost_of, 8);
    evaluator.tells_of_compiling = true;
    const SessionResult result = run_auto(evaluator);
    EXPECT_EQ(evaluator.preferred, device_.key.backend == "cuda");
    EXPECT_TRUE(evaluator.preferred || evaluator.withdrawn.empty());
    EXPECT_EQ(result.trials.size(), result.valid);
    std::set<Configuration> tried;
    for (const Trial& trial : result.trials) EXPECT_TRUE(tried.insert(trial.configuration).second);
  }
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
  EXPECT_THAT(submitted, ElementsAre(8u, 11u)) << "the last when four of the first eight were done";
}

TEST_F(TuneSession, StartsFromTheBestOfAPrior) {
  options_.budget.trials = 1;
  options_.prior = Prior{{{Configuration{{"block", 32}, {"unroll", 1}}, 300.0},
                          {optimum_, 100.0},
                          {Configuration{{"block", 999}, {"unroll", 1}}, 1.0},
                          {Configuration{{"block", 64}, {"unroll", 1}}, std::nullopt}},
                         1,
                         "n=500"};
  FakeEvaluator evaluator;
  const SessionResult result = run_auto(evaluator);
  ASSERT_EQ(result.trials.size(), 1u);
  EXPECT_EQ(result.trials.front().configuration, optimum_);
}

TEST_F(TuneSession, TriesTheDefaultFirstAndOnce) {
  spec_.default_configuration = first_;
  for (const bool tells : {false, true}) {
    FakeEvaluator evaluator;
    evaluator.tells_of_compiling = tells;
    const SessionResult result = run(evaluator);
    EXPECT_EQ(evaluator.submitted.front(), first_);
    EXPECT_EQ(std::count(evaluator.submitted.begin(), evaluator.submitted.end(), first_), 1);
    EXPECT_EQ(result.trials.size(), result.valid);
  }
}

TEST_F(TuneSession, TriesNothingButTheDefaultWhenOneTrialIsAllowed) {
  spec_.default_configuration = first_;
  FakeEvaluator evaluator;
  options_.budget.trials = 1;
  EXPECT_EQ(run(evaluator).best->configuration, *spec_.default_configuration);
}

TEST_F(TuneSession, TriesTheDefaultAndNothingElseWhenTheTimeIsOverBeforeItBegins) {
  spec_.default_configuration = rival_;
  options_.budget.wall_time = std::chrono::duration<double>(1e-9);
  FakeEvaluator evaluator;
  evaluator.tells_of_compiling = true;  // so that it would take back what does not run
  const SessionResult result = run(evaluator);
  EXPECT_EQ(evaluator.submitted, std::vector{rival_});
  EXPECT_TRUE(evaluator.hurried);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->configuration, rival_);
  EXPECT_EQ(stored_best(), rival_.text());
  EXPECT_EQ(result.stop_reason, StopReason::wall_time);
}

TEST_F(TuneSession, TriesOneConfigurationOfAKernelWithoutADefaultWhenTheTimeIsOver) {
  options_.budget.wall_time = std::chrono::duration<double>(1e-9);
  FakeEvaluator evaluator;
  evaluator.tells_of_compiling = true;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.trials.size(), 1u);
  EXPECT_TRUE(result.best);
}

TEST_F(TuneSession, SubmitsTheDefaultBeforeItEnumeratesAndEndsWithItWhereThatTakesTooLong) {
  std::string text = spec_.program.text, late;
  for (const char* name : {"p1", "p2", "p3", "p4", "p5", "p6"})
    late += std::string("#pragma tuner parameter ") + name + " = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
  late +=
      "#pragma tuner constraint late: (p1 * 7 + p2 * 11 + p3 * 13 + p4 * 17 + p5 * 19 + p6 * 23) % 1009 == 90\n"
      "#pragma tuner default block=32 p1=1 p2=1 p3=1 p4=1 p5=1 p6=1 unroll=1\n";
  text.insert(text.find("#pragma tuner block"), late);
  spec_ = parse_kernel_file(text, "late.cu");
  options_.budget.wall_time = std::chrono::duration<double>(0.05);
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->configuration, *spec_.default_configuration);
  EXPECT_EQ(result.valid_is, SpaceCount::Kind::more_than) << "nobody knows how many there are";
}

TEST_F(TuneSession, AnInterruptionTakesTheDefaultBackToo) {
  spec_.default_configuration = rival_;
  const std::atomic<bool> stop = true;
  options_.stop = &stop;
  FakeEvaluator evaluator;
  evaluator.tells_of_compiling = true;
  EXPECT_TRUE(run(evaluator).trials.empty());
}

TEST_F(TuneSession, MeasuresSlowFinalistsAgainOnlyWhereTheTimeIsEnough) {
  spec_.default_configuration = first_;
  const auto takes_seconds = [](const Configuration& configuration) {
    Trial trial = cost_of(configuration);
    for (double* ns : {&std::get<Measurement>(trial.outcome).median_ns, &std::get<Measurement>(trial.outcome).low_ns,
                       &std::get<Measurement>(trial.outcome).high_ns})
      *ns *= 1e6;
    return trial;
  };
  for (const int seconds : {10, 1000}) {
    options_.budget.wall_time = std::chrono::seconds(seconds);
    FakeEvaluator evaluator(takes_seconds);
    evaluator.again = takes_seconds;
    EXPECT_EQ(run(evaluator).best->configuration, optimum_);
    EXPECT_EQ(evaluator.remeasured.empty(), seconds == 10);
  }
}

TEST_F(TuneSession, DoesNotTryAResumedDefaultAgain) {
  spec_.default_configuration = first_;
  earlier_ = {measured(first_, cost(first_))};
  FakeEvaluator evaluator;
  run(evaluator);
  EXPECT_THAT(evaluator.submitted, Not(Contains(first_)));
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
  options_.budget.wall_time = std::chrono::milliseconds(100);
  options_.grace = std::chrono::milliseconds(1);
  const SessionResult result = run_session(spec_, size_, device_, endless, nullptr, options_, nullptr);
  EXPECT_EQ(result.stop_reason, StopReason::wall_time);
  EXPECT_EQ(endless.submitted, 1u);
  EXPECT_FALSE(result.best);
}

TEST_F(TuneSession, CountsQuarantinedConfigurationsInTheTrialBudget) {
  for (const int block : {32, 64, 128})
    for (const int unroll : {1, 2, 4}) crashed_.insert(Configuration{{"block", block}, {"unroll", unroll}});
  FakeEvaluator evaluator;
  options_.budget.trials = 4;
  EXPECT_EQ(run(evaluator).trials.size(), 4u);
}

TEST_F(TuneSession, NeverRunsAQuarantinedConfiguration) {
  crashed_ = {optimum_};
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  EXPECT_THAT(evaluator.submitted, Not(Contains(optimum_)));
  EXPECT_NE(result.best->configuration, optimum_);
}

TEST_F(TuneSession, StopsWhenTheDeviceIsLostAndDoesNotBelieveTrialsAfterTheFault) {
  FakeEvaluator evaluator;
  evaluator.lost_after = 2;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.stop_reason, StopReason::device_lost);
  EXPECT_EQ(stored().size(), 2u);
  EXPECT_FALSE(is_done());
}

TEST_F(TuneSession, SaysOnceWhyMetricsAreMissing) {
  FakeEvaluator evaluator([](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    std::get<Measurement>(trial.outcome).no_metrics = "not permitted";
    return trial;
  });
  run(evaluator);
  EXPECT_THAT(warnings_.texts, ElementsAre("metrics are missing: not permitted"));
}

TEST_F(TuneSession, WarnsOfAParameterThatChangesNothing) {
  spec_.launches.front().instantiate = "copy<T, block, 1>";
  spec_.launches.front().grid[0] = Expression::parse("ceil_div(n, block)", {"copy.cu", 1, 1});
  FakeEvaluator evaluator;
  run(evaluator);
  EXPECT_THAT(warnings_.texts,
              ElementsAre(HasSubstr("parameter 'unroll' of kernel 'copy' changes nothing: its 3 values")));
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
  run(evaluator, &listener);
  EXPECT_EQ(listener.trials, listener.valid);
}

TEST_F(TuneSession, ExplainsASpaceWithoutValidConfigurations) {
  spec_ = parse_kernel_file(spec_.program.text + "#pragma tuner constraint never: block < unroll\n", "copy.cu");
  FakeEvaluator evaluator;
  EXPECT_THAT(error_of([&] { run(evaluator); }), AllOf(HasSubstr("no valid configuration"), HasSubstr("never")));
}

TEST_F(TuneSession, EndsWhenNoConfigurationCanCompile) {
  std::size_t tried = 0;
  std::string said = "copy.cu(3): error: expected a declaration";
  FakeEvaluator evaluator([&](const Configuration& one) {
    ++tried;
    return failed(one, CompileError{said, {}});
  });
  EXPECT_THAT(error_of([&] { run(evaluator); }), HasSubstr("no configuration compiles: copy.cu(3)"));
  EXPECT_LT(tried, 12u);
  said = "copy.cu(3): error: static assertion failed";
  EXPECT_FALSE(run(evaluator).best);
  said = "copy.cu(1): catastrophic error: cannot open source file \"missing.h\"";
  for (const bool always : {true, false}) {
    tried = 0;
    spec_.program.text = (always ? "#include \"missing.h\"\n" : "#if FAST\n#include \"missing.h\"\n#endif\n") +
                         small_kernel().program.text;
    const std::string error = error_of([&] { run(evaluator); });
    EXPECT_EQ(tried == 1, always) << error;
  }
}

TEST_F(TuneSession, GoesOnWhenOnlySomeValuesDoNotCompile) {
  FakeEvaluator one_compiles([&](const Configuration& one) {
    return *one.find("unroll") == Value(1) ? measured(one, 1000) : failed(one, CompileError{"unknown name", {}});
  });
  EXPECT_TRUE(run(one_compiles).best);
  spec_.program.text = "#include \"ok.h\"\n#if FAST\n#include \"sub/ok.h\"\n#endif\n" + small_kernel().program.text;
  FakeEvaluator one_lacks_a_file([&](const Configuration& one) {
    const CompileError missing{"copy.cu:4:10: fatal error: sub/ok.h: No such file or directory", {}};
    return *one.find("unroll") == Value(1) ? measured(one, 1000) : failed(one, missing);
  });
  EXPECT_TRUE(run(one_lacks_a_file).best);
}

TEST_F(TuneSession, RefusesAnUnknownStrategy) {
  FakeEvaluator evaluator;
  options_.strategy = "exhaustiv";
  EXPECT_THROW(run_auto(evaluator), std::invalid_argument);
}

}  // namespace
}  // namespace tuner
