// The configuration that a session names best.

#include <tuple>

#include <tests/session/session_fixture.hpp>
#include <tuner/session/tuning/no_result.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;

/// Rejects every configuration that unrolls more than once.
struct FussyCheck final : FinalistCheck {
  void expect(const Configuration& configuration) override {
    ++expectations;
    if (asked.empty()) expected = configuration;
  }
  Answer ask(const Configuration& configuration) override {
    asked.push_back(configuration);
    if (configuration.find("unroll")->integer() == 1) return {std::nullopt, reason};
    return {WrongResult{"on the host backend: a race"}, {}};
  }

  double seconds() const override { return takes_s; }

  double takes_s = 0;
  std::optional<Configuration> expected;  // the last one before ask() was called
  std::size_t expectations = 0;
  std::vector<Configuration> asked;
  std::string reason;
};

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

TEST_F(TuneSession, NamesAnUnverifiedConfigurationBestOnlyIfItMay) {
  FakeEvaluator evaluator([&](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    trial.verified = false;
    return trial;
  });
  EXPECT_FALSE(run(evaluator).best);
  options_.unverified = true;
  const SessionResult result = run(evaluator);
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
  spec_.default_configuration = first_;
  Trial earlier = measured(first_, 5000);
  std::get<Measurement>(earlier.outcome).abandoned = true;
  earlier_ = {earlier};
  FakeEvaluator evaluator;
  evaluator.again = [&](const Configuration& c) { return measured(c, c == first_ ? 900 : 1000); };
  EXPECT_EQ(run(evaluator).best->configuration, first_);
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
  EXPECT_EQ(stored_best(), "none");
}

TEST_F(TuneSession, MeasuresCloseLeadersAgainAndBelievesTheSecondMeasurement) {
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) { return measured(c, c == rival_ ? 900 : 1000); };
  const SessionResult result = run(evaluator);
  EXPECT_THAT(evaluator.remeasured, Contains(optimum_));
  EXPECT_EQ(result.best->configuration, rival_);
  EXPECT_EQ(result.best->measurement()->median_ns, 900);
  ASSERT_TRUE(result.best->search) << "the search's time stays known";
  EXPECT_EQ(result.best->search->median_ns, 1010);
}

TEST_F(TuneSession, NamesATieAndPrefersFewerRegisters) {
  const auto answer = [&](const Configuration& c) {
    return measured(c, c == rival_ || c == optimum_ ? 1000 : 2000, c == rival_ ? 20 : 40);
  };
  FakeEvaluator evaluator(answer);
  evaluator.again = answer;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.best->configuration, rival_);
  EXPECT_THAT(result.ties, ElementsAre(optimum_));
}

TEST_F(TuneSession, NamesTheDefaultWhenItTurnsOutToBeTheFastestAmongTheFinalists) {
  spec_.default_configuration = first_;
  FakeEvaluator evaluator;
  evaluator.again = [&](const Configuration& c) { return measured(c, c == first_ ? 900 : 1000); };
  const SessionResult result = run(evaluator);
  EXPECT_THAT(evaluator.remeasured, Contains(first_));
  EXPECT_EQ(result.best->configuration, first_);
}

TEST_F(TuneSession, NamesWhatIsNearTheDefaultOnlyWhenPlacementsLeaveNoDoubt) {
  spec_.default_configuration = first_;
  for (const bool holds : {true, false}) {
    FakeEvaluator evaluator([](const Configuration& c) { return measured(c, 10 * cost(c)); });
    evaluator.again = [&](const Configuration& c) {
      const bool turned = !holds && evaluator.rounds.size() % 2 == 0;
      return measured(c, c == first_ ? 10'000 : turned ? 10'100 : 9000);
    };
    const SessionResult result = run(evaluator);
    EXPECT_EQ(evaluator.rounds.size(), holds ? 3u : 8u) << "more placements are tried while it is open";
    EXPECT_THAT(evaluator.remeasured, UnorderedElementsAre(optimum_, first_));
    EXPECT_EQ(result.best->configuration, holds ? optimum_ : first_);
    EXPECT_EQ(result.best->measurement()->metrics.at("placements"), double(evaluator.rounds.size()));
  }
}

TEST_F(TuneSession, TellsAnIntervalThatCoversWhatDiffersBetweenPlacements) {
  FakeEvaluator evaluator([](const Configuration& c) { return measured(c, 10 * cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    return measured(c, (c == optimum_ ? 9000 : 12'000) + 40 * double(evaluator.rounds.size()));
  };
  const SessionResult result = run(evaluator);
  ASSERT_TRUE(result.best);
  const Measurement& told = *result.best->measurement();
  EXPECT_EQ(told.samples_ns.size(), 9u);
  EXPECT_EQ(told.median_ns, 9080);
  EXPECT_LE(told.low_ns, 9040);
  EXPECT_GE(told.high_ns, 9120);
}

TEST_F(TuneSession, MeasuresAWinnerAtMorePlacementsUntilItsTimeIsKnown) {
  FakeEvaluator evaluator([](const Configuration& c) { return measured(c, 10 * cost(c)); });
  for (const auto& [spread, placements] : {std::pair(50.0, 3u), {200.0, 6u}, {2000.0, 8u}}) {
    evaluator.rounds.clear();
    evaluator.again = [&, spread = spread](const Configuration& c) {
      const bool is_high = evaluator.rounds.size() % 2 == 0;
      return measured(c, (c == optimum_ ? 9000 : 12'000) + (is_high ? spread : 0));
    };
    EXPECT_EQ(run(evaluator).best->measurement()->metrics.at("placements"), placements) << spread;
  }
}

TEST_F(TuneSession, TellsATimeOfPlacementsAfterTheChoiceWherePlacementsDiffer) {
  spec_.default_configuration = first_;
  FakeEvaluator evaluator([](const Configuration& c) { return measured(c, 10 * cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    const std::size_t round = evaluator.rounds.size();
    if (c == first_) return measured(c, 20'000);
    return measured(c, c != optimum_ ? 12'000 : round > 3 ? 9500 : round == 2 ? 9100 : 9000);
  };
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.best->configuration, optimum_);
  EXPECT_EQ(result.best->measurement()->median_ns, 9500);
  EXPECT_EQ(result.best->measurement()->metrics.at("placements"), 3);
  EXPECT_EQ(evaluator.rounds.size(), 6u);
}

TEST_F(TuneSession, NamesTheDefaultWhereItIsFasterAtThePlacementsAfterTheChoice) {
  spec_.default_configuration = first_;
  for (const bool is_faster : {false, true}) {
    FakeEvaluator evaluator([](const Configuration& c) { return measured(c, 10 * cost(c)); });
    evaluator.again = [&](const Configuration& c) {
      const std::size_t round = evaluator.rounds.size();
      if (c == first_) return measured(c, is_faster && round > 3 ? 9000 : 9700);
      return measured(c, c != optimum_ ? 12'000 : round > 3 ? 9300 : round == 2 ? 9100 : 9000);
    };
    const SessionResult result = run(evaluator);
    EXPECT_EQ(result.best->configuration, is_faster ? first_ : optimum_);
    EXPECT_EQ(result.best->measurement()->median_ns, is_faster ? 9000 : 9300);
  }
}

TEST_F(TuneSession, KeepsTheTimeOfTheChoiceWhereTooFewPlacementsFollow) {
  for (const bool is_lost : {false, true}) {
    FakeEvaluator evaluator([](const Configuration& c) { return measured(c, 10 * cost(c)); });
    if (is_lost) evaluator.fails_from_round = 5;
    evaluator.again = [&](const Configuration& c) {
      const std::size_t round = evaluator.rounds.size();
      if (!is_lost && round > 4 && c == optimum_) return failed(c, LaunchError{"another took the device down"});
      return measured(c, c != optimum_ ? 12'000 : round > 3 ? 9900 : round == 2 ? 9100 : 9000);
    };
    const SessionResult result = run(evaluator);
    EXPECT_EQ(result.best->configuration, optimum_);
    EXPECT_EQ(result.best->measurement()->median_ns, 9000);
    EXPECT_EQ(result.best->measurement()->metrics.at("placements"), 3);
  }
}

TEST_F(TuneSession, TakesMoreThanEightFinalistsOfAKernelWhoseSamplesTakeLittleTime) {
  for (const bool is_short : {true, false}) {
    const auto answer = [&](const Configuration& c) {
      Trial trial = measured(c, 1000 + 0.01 * cost(c));
      trial.times.measure = is_short ? 1e-4 : 0.1;
      return trial;
    };
    FakeEvaluator evaluator(answer);
    run(evaluator);
    EXPECT_EQ(evaluator.rounds.front().size(), is_short ? 11u : 8u);
  }
}

TEST_F(TuneSession, NamesTheNextBestWhereTheWinnerFailsAtAPlacementAfterTheChoice) {
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    if (c == rival_) return measured(c, 1020);
    if (evaluator.rounds.size() > 3) return failed(c, WrongResult{"b[0] is 1, expected 2"});
    return measured(c, evaluator.rounds.size() == 2 ? 1010 : 1000);
  };
  EXPECT_EQ(run(evaluator).best->configuration, rival_);
  EXPECT_EQ(stored_kind(optimum_), "wrong");
}

TEST_F(TuneSession, LoadsFinalistsInAnotherOrderAtEachPlacement) {
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) { return measured(c, 1000); };
  run(evaluator);
  ASSERT_EQ(evaluator.rounds.size(), 3u);
  for (const std::size_t i : {0u, 1u})
    EXPECT_THAT(evaluator.rounds[i + 1], ElementsAre(evaluator.rounds[i][1], evaluator.rounds[i][0]));
}

TEST_F(TuneSession, MeasuresFinalistsInNewProcessesIfThereIsTimeOrElseInNewMemoryOrOnce) {
  options_.budget.wall_time = std::chrono::hours(4);  // an hour for the finals
  using enum Placement;
  for (const auto& [start_s, measure_s, wanted] :
       {std::tuple(600.0, 60.0, std::vector{present, new_process, new_memory}),
        {7200.0, 60.0, std::vector{present, new_memory, new_memory}},
        {600.0, 7200.0, std::vector{present}}}) {
    FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
    evaluator.start_s = start_s;
    evaluator.again = [&, seconds = measure_s](const Configuration& c) {
      Trial trial = measured(c, 1000);
      trial.times.measure = seconds / 2;
      return trial;
    };
    const SessionResult result = run(evaluator);
    EXPECT_EQ(evaluator.placements, wanted);
    EXPECT_EQ(result.best->measurement()->metrics.at("placements"), double(wanted.size()));
  }
}

TEST_F(TuneSession, KeepsWhatItHasWhereTheDeviceIsLostAtALaterPlacement) {
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) { return measured(c, c == rival_ ? 900 : 1000); };
  evaluator.fails_from_round = 2;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.best->configuration, rival_);
  EXPECT_EQ(result.best->measurement()->metrics.at("placements"), 1);
  EXPECT_THAT(warnings_.texts, ElementsAre(HasSubstr("not measured at another placement: the device is lost")));
  EXPECT_EQ(stored_best(), rival_.text());
}

TEST_F(TuneSession, KeepsTheMetricsThatOnlyTheFirstOfAllPlacementsHas) {
  FussyCheck check;
  options_.check = &check;
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  std::set<Configuration> counted;
  evaluator.again = [&](const Configuration& c) {
    Trial trial = measured(c, c == rival_ ? 1010 : cost(c));
    if (counted.insert(c).second) std::get<Measurement>(trial.outcome).metrics["ipc"] = 2;
    return trial;
  };
  const SessionResult result = run(evaluator);
  EXPECT_GT(check.asked.size(), 1u) << "after the first was wrong, finalists were measured again";
  EXPECT_EQ(result.best->measurement()->metrics.at("ipc"), 2);
}

TEST_F(TuneSession, NamesTheDefaultWhereASmallLeadWasSeenAtOnePlacementOnly) {
  spec_.default_configuration = first_;
  for (const std::size_t placements : {1u, 3u}) {
    FakeEvaluator evaluator([](const Configuration& c) { return measured(c, 4 * cost(c)); });
    evaluator.again = [&](const Configuration& c) {
      if (evaluator.rounds.size() > placements) return failed(c, LaunchError{"the worker went away"});
      return measured(c, c == optimum_ ? 3900 : 4000);
    };
    const SessionResult result = run(evaluator);
    EXPECT_EQ(result.best->configuration, placements == 1 ? first_ : optimum_);
    EXPECT_EQ(result.best->measurement()->metrics.at("placements"), double(placements));
  }
}

TEST_F(TuneSession, LetsWhoeverMayBeFasterThanTheWinnerIntoTheFinalsUntilNobodyIsLeft) {
  // In the search, the optimum was lucky, and has no rival. Each time that some are measured, they are slower again.
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == optimum_ ? 500 : cost(c)); });
  evaluator.again = [&](const Configuration& c) { return measured(c, cost(c) + (c == rival_ ? 20 : 100)); };
  const SessionResult result = run(evaluator);
  EXPECT_THAT(evaluator.rounds.front(), ElementsAre(optimum_));
  EXPECT_EQ(result.best->configuration, rival_) << "1070, the optimum 1100";
  for (const Trial& trial : result.trials)
    EXPECT_TRUE(trial.measurement()->metrics.contains("placements") || trial.measurement()->median_ns >= 1070);
  EXPECT_TRUE(warnings_.texts.empty());
}

TEST_F(TuneSession, ComparesTheDefaultWithTheBestAtThePlacementsThatTheyShare) {
  const Configuration far{{"block", 32}, {"unroll", 4}};  // is beaten at once, and leaves
  const auto ns = [&](const Configuration& c) { return c == far ? 2000 : cost(c); };
  for (const Configuration& one : {optimum_, first_, far}) {
    spec_.default_configuration = one;
    std::map<Configuration, int> rounds;
    FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, ns(c)); });
    evaluator.again = [&](const Configuration& c) {
      const double slower = 1 + 0.001 * (rounds[c]++ % 3);  // of the placement, for all alike
      return measured(c, slower * ns(c));
    };
    const SessionResult result = run(evaluator);
    ASSERT_EQ(result.best->configuration, optimum_);
    ASSERT_TRUE(result.default_over_best) << one.text();
    const auto& [ratio, low, high] = *result.default_over_best;
    const double expected = one == optimum_ ? 1 : ns(one) / ns(optimum_);
    EXPECT_NEAR(ratio, expected, one == far ? 0.01 : 1e-9) << one.text();
    EXPECT_LE(low, expected + 1e-9);
    EXPECT_GE(high, expected - 1e-9);
    EXPECT_LT(high - low, one == far ? 0.02 : 1e-6);
  }
}

TEST_F(TuneSession, ComparesADefaultThatWonATieWithTheFastestOfTheOthers) {
  spec_.default_configuration = first_;
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == first_ ? 1000 : cost(c) + 10); });
  evaluator.again = [&](const Configuration& c) {
    return measured(c, c == first_ ? 1001 : c == optimum_ ? 1000 : 3 * cost(c));
  };
  const SessionResult result = run(evaluator);
  ASSERT_EQ(result.best->configuration, first_) << "a lead of 0.1% is none";
  ASSERT_TRUE(result.default_over_best);
  EXPECT_NEAR(result.default_over_best->ratio, 1.001, 1e-9);
  EXPECT_LE(result.default_over_best->high, 1.01);
}

TEST_F(TuneSession, ComparesNothingThatWasNotMeasuredSideBySide) {
  spec_.default_configuration = first_;
  FakeEvaluator evaluator;  // its finals say nothing
  EXPECT_FALSE(run(evaluator).default_over_best);
}

TEST_F(TuneSession, LetsThoseThatWereGivenUpAgainstALuckyTimeIntoTheFinalsToo) {
  FakeEvaluator evaluator([&](const Configuration& c) {
    Trial trial = measured(c, c == optimum_ ? 500 : cost(c));
    std::get<Measurement>(trial.outcome).abandoned = c == rival_;
    return trial;
  });
  evaluator.again = [&](const Configuration& c) { return measured(c, c == rival_ ? 900 : 2000); };
  EXPECT_EQ(run(evaluator).best->configuration, rival_);
}

TEST_F(TuneSession, SaysWhenTheTimeEndsBeforeAllThatMayBeFasterWereMeasuredAgain) {
  options_.budget.wall_time = std::chrono::hours(4);
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == optimum_ ? 500 : cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    Trial trial = measured(c, c == optimum_ ? 1060 : cost(c));
    trial.times.measure = 3600;
    return trial;
  };
  EXPECT_EQ(run(evaluator).best->configuration, optimum_);
  EXPECT_THAT(warnings_.texts,
              ElementsAre(HasSubstr("a configuration that may be faster was measured beside the best")));
}

TEST_F(TuneSession, NamesTheSameOfThoseThatAreEquallyGoodInWhateverOrderTheyWereTried) {
  for (const char* objective : {"time", "transactions"}) {
    options_.objective.name = objective;
    std::set<std::string> named;
    for (const std::size_t capacity : {1u, 2u, 3u, 5u, 8u, 11u}) {  // the last to be submitted ends first
      const auto answer = [](const Configuration& c) {
        Trial trial = measured(c, 1000);
        std::get<Measurement>(trial.outcome).metrics["transactions"] = 64;
        return trial;
      };
      FakeEvaluator evaluator(answer, capacity);
      if (capacity % 2 == 1) evaluator.again = answer;
      named.insert(run(evaluator).best->configuration.text());
    }
    EXPECT_EQ(named.size(), 1u) << objective;
  }
}

TEST_F(TuneSession, DoesNotNameAFinalistThatWasWrongOrCrashedWhenItWasMeasuredAgain) {
  for (const bool crashed : {false, true}) {
    FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
    evaluator.again = [&](const Configuration& c) {
      if (c != optimum_) return measured(c, 1010);
      Trial trial = failed(c, WrongResult{"right at first"});
      if (crashed) trial.outcome = LaunchError{"illegal address"};
      trial.crashed = crashed;
      return trial;
    };
    EXPECT_EQ(run(evaluator).best->configuration, rival_);
    EXPECT_NE(stored_kind(optimum_), "ok");
  }
}

TEST_F(TuneSession, NamesTheNextBestWhenAFinalistTookItsWorkerDownAfterItWasMeasuredAgain) {
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    Trial trial = measured(c, c == optimum_ ? 1000 : 1010);
    trial.crashed = c == optimum_;
    return trial;
  };
  EXPECT_EQ(run(evaluator).best->configuration, rival_);
  EXPECT_EQ(stored_best(), rival_.text());
}

TEST_F(TuneSession, NamesTheNextBestWhenWinnerAndDefaultFailAtTheNextPlacement) {
  spec_.default_configuration = first_;
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  evaluator.again = [&](const Configuration& c) {
    if (evaluator.rounds.size() == 1 || c == rival_) return measured(c, c == optimum_ ? 900 : 1000);
    Trial trial = failed(c, LaunchError{"illegal address"});
    trial.crashed = true;
    return trial;
  };
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.best->configuration, rival_);
  EXPECT_TRUE(result.best->measurement());
}

TEST_F(TuneSession, NamesTheNextBestWhereAnotherProcessPutTheBestInQuarantineMeanwhile) {
  const cache::Context context = context_of(spec_, size_, device_, options_.objective);
  FakeEvaluator evaluator([&](const Configuration& c) {
    if (c == optimum_)
      database_->quarantine(context.device, context.kernel, context.problem, c.text(), "illegal address");
    return measured(c, cost(c));
  });
  EXPECT_EQ(run(evaluator).best->configuration, rival_);
  EXPECT_EQ(stored_best(), rival_.text());
}

TEST_F(TuneSession, NamesTheNextBestWhereTheBestIsWrongByAnotherCheck) {
  FakeEvaluator evaluator;
  FussyCheck check;
  options_.check = &check;
  const SessionResult result = run(evaluator);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->configuration, rival_);
  EXPECT_EQ(check.asked.front(), optimum_);
  EXPECT_EQ(check.asked.back(), result.best->configuration);
  EXPECT_EQ(warnings_.texts.front(), "passed over: block=128 unroll=2: on the host backend: a race");
  EXPECT_EQ(warnings_.texts.size(), check.asked.size() - 1);
  EXPECT_EQ(stored_kind(optimum_), "wrong");
  EXPECT_EQ(stored_best(), result.best->configuration.text());
}

TEST_F(TuneSession, AnnouncesTheLeaderToTheCheckBeforeItAsks) {
  for (const std::optional<std::size_t> trials : {std::optional<std::size_t>(), std::optional<std::size_t>(8)}) {
    FakeEvaluator evaluator;
    FussyCheck check;
    options_.check = &check;
    options_.budget.trials = trials;
    run(evaluator);
    EXPECT_EQ(check.expected, check.asked.front());
  }
}

TEST_F(TuneSession, AnnouncesNoLeaderToTheCheckWhileMuchIsStillToCome) {
  FussyCheck check;
  std::vector<std::size_t> expectations;  // before each answer
  const auto answer = [&](const Configuration& c) {
    expectations.push_back(check.expectations);
    return measured(c, cost(c));
  };
  FakeEvaluator evaluator(answer, 8);
  options_.check = &check;
  options_.budget.trials = 8;
  options_.started = std::chrono::steady_clock::now() - std::chrono::hours(1);  // so a trial takes minutes
  run(evaluator);
  EXPECT_EQ(expectations, std::vector<std::size_t>(8, 0));
  EXPECT_GT(check.expectations, 0u);
}

TEST_F(TuneSession, SaysOnceWhyTheBestCouldNotBeCheckedAndNamesIt) {
  FakeEvaluator evaluator([](const Configuration& c) { return measured(c, c.find("unroll")->integer() * cost(c)); });
  FussyCheck check;
  check.reason = "there is no compiler";
  options_.check = &check;
  EXPECT_TRUE(run(evaluator).best);
  EXPECT_THAT(warnings_.texts, ElementsAre("the best is not checked for races: there is no compiler"));
}

TEST_F(TuneSession, LeavesOutTheFinalsWhenNoTimeIsLeft) {
  options_.budget.wall_time = std::chrono::hours(1);
  FakeEvaluator evaluator([&](const Configuration& c) { return measured(c, c == rival_ ? 1010 : cost(c)); });
  options_.started = std::chrono::steady_clock::now() - std::chrono::hours(2);
  EXPECT_EQ(run(evaluator).stop_reason, StopReason::wall_time);
  EXPECT_EQ(evaluator.submitted.size(), 1u) << "the clock began before the session did";
  EXPECT_TRUE(evaluator.remeasured.empty());
}

TEST_F(TuneSession, KeepsTimeForTheFinalists) {
  options_.budget.wall_time = std::chrono::hours(1);
  options_.started = std::chrono::steady_clock::now() - std::chrono::minutes(50);
  const auto slow = [&](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    trial.times.measure = 60;  // 20 s a sample
    return trial;
  };
  FakeEvaluator evaluator(slow);
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.stop_reason, StopReason::wall_time);
  EXPECT_EQ(result.trials.size(), evaluator.capacity()) << "ten minutes are left, and twelve are wanted";
}

TEST_F(TuneSession, KeepsTimeForTheCheckOfTheWinner) {
  options_.budget.wall_time = std::chrono::hours(1);
  options_.started = std::chrono::steady_clock::now() - std::chrono::minutes(50);
  FussyCheck check;
  check.takes_s = 1200;
  options_.check = &check;
  FakeEvaluator evaluator;
  const SessionResult result = run(evaluator);
  EXPECT_EQ(result.stop_reason, StopReason::wall_time);
  EXPECT_EQ(result.trials.size(), evaluator.capacity()) << "ten minutes are left, and a quarter of an hour is wanted";
  EXPECT_FALSE(check.asked.empty());
}

TEST_F(TuneSession, NeverNamesAQuarantinedConfigurationOfAnEarlierSessionBest) {
  earlier_ = {measured(optimum_, 500)};
  crashed_ = {optimum_};
  FakeEvaluator evaluator;
  EXPECT_NE(run(evaluator).best->configuration, optimum_);
}

TEST_F(TuneSession, NamesTheSmallestOrTheLargestOfTheNamedMetric) {
  for (const auto& [objective, block] : {std::pair{"ipc", 32}, {"max:ipc", 256}}) {
    FakeEvaluator evaluator([](const Configuration& c) {
      Trial trial = measured(c, 1000);
      std::get<Measurement>(trial.outcome).metrics["ipc"] = static_cast<double>(c.find("block")->integer());
      return trial;
    });
    options_.objective.name = objective;
    EXPECT_EQ(run(evaluator).best->configuration.find("block")->integer(), block) << objective;
  }
}

TEST_F(TuneSession, MeasuresALoneBestAgainWhereItsMetricsAreWanted) {
  spec_.default_configuration = optimum_;
  const auto answer = [&](const Configuration& c) { return measured(c, c == optimum_ ? 500 : cost(c)); };
  FakeEvaluator without(answer), with(answer);
  options_.budget.trials = 1;
  run(without);
  EXPECT_TRUE(without.remeasured.empty());
  options_.remeasure_one = true;
  with.again = [](const Configuration& c) {
    Trial trial = measured(c, cost(c));
    std::get<Measurement>(trial.outcome).metrics["ipc"] = 2;
    return trial;
  };
  const SessionResult result = run(with);
  EXPECT_THAT(with.remeasured, ElementsAre(optimum_));
  EXPECT_EQ(result.best->measurement()->metrics.at("ipc"), 2);
}

TEST_F(TuneSession, WithoutAWinnerNamesTheUsualFailureAndSaysIfMemoryWasMissing) {
  SessionResult result;
  EXPECT_THAT(no_winner(spec_, size_, result).what(), HasSubstr("no configuration was measured"));
  result.trials.resize(3);
  EXPECT_THAT(no_winner(spec_, size_, result).what(), HasSubstr("3 configurations ran, but none was verified"));
  result.trials[0].outcome = WrongResult{"y[3] is 1"};
  for (std::size_t i : {1, 2}) result.trials[i].outcome = Timeout{"slow\nvery slow"};
  EXPECT_THAT(no_winner(spec_, size_, result).what(),
              EndsWith("none of 3 configurations worked, most often because: slow"));
  EXPECT_EQ(no_winner(spec_, size_, result).code(), ErrorCode::other);
  result.trials[0].outcome = LaunchError{.message = "no memory", .code = ErrorCode::out_of_memory};
  EXPECT_EQ(no_winner(spec_, size_, result).code(), ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace tuner
