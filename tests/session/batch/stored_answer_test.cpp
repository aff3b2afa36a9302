// The rule for "a stored answer, or tune".

#include <map>

#include <cache/exchange/exchange.hpp>

#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/session/batch/stored_answer.hpp>

#include <tests/support/environment_variable.hpp>
#include <tests/support/temporary_folder.hpp>

#include <tests/session/session_fixture.hpp>

namespace tuner::testing {
namespace {

/// Limits: seconds, trials, part of the space, target, chance; 0: none.
Budget limits(double seconds, std::size_t trials = 0, double part = 0, double target = 0, double chance = 0) {
  Budget budget;
  if (seconds > 0) budget.wall_time = std::chrono::duration<double>(seconds);
  if (trials > 0) budget.trials = trials;
  if (part > 0) budget.fraction = part;
  if (target > 0) budget.target = target;
  if (chance > 0) budget.until_unlikely = chance;
  return budget;
}
Budget trials(std::size_t count) { return limits(0, count); }
Budget seconds(double count) { return limits(count); }

class StoredAnswers : public ::testing::Test {
 protected:
  /// A finished search with \p budget. Its configurations take no time.
  SessionResult search(Budget budget, const std::string& strategy = "random") {
    options_.session.budget = budget;
    options_.session.strategy = strategy;
    FakeEvaluator evaluator;
    evaluator.said = remarks_;
    TrialStore store(wisdom_.user(), spec_, size_, device_,
                     {.session = {strategy}, .conditions = conditions_text(options_, spec_)});
    return run_session(spec_, size_, device_, evaluator, &store, options_.session, nullptr);
  }
  StoredAnswer ask(Budget budget) {
    options_.session.budget = budget;
    return stored_answer(wisdom_, spec_, size_, device_, options_);
  }
  bool is_known(Budget budget) { return ask(budget).is_answer; }

  const TemporaryFolder folder_;
  Wisdom wisdom_{{.database = folder_ / "wisdom.db", .shipped = false, .warn = {}}};
  KernelSpec spec_ = small_kernel();
  const ProblemSize size_ = small_problem();
  Device device_ = some_device();
  TuningOptions options_;
  std::vector<std::string> remarks_;
};

TEST_F(StoredAnswers, RepeatWhatTheVerificationRemarked) {
  remarks_ = {"proves little", "for n=1 alone"};
  search(trials(3));
  search(trials(4));
  EXPECT_THAT(ask(trials(3)).remarks, ElementsAre("proves little", "for n=1 alone"));
}

TEST_F(StoredAnswers, AreThereForTheSameRequestAndForASmallerOne) {
  EXPECT_FALSE(is_known(trials(3)));
  search(trials(3));
  EXPECT_TRUE(is_known(trials(3)));
  EXPECT_TRUE(is_known(trials(2)));
  const StoredAnswer known = ask(trials(3));
  EXPECT_EQ(known.tried, 3u);
  EXPECT_EQ(known.valid, 11u);
  EXPECT_EQ(stored_trials(wisdom_, spec_, size_, device_, options_).size(), 3u);
}

TEST_F(StoredAnswers, DoNotEndALargerBudgetOfAnyKind) {
  search(trials(2));
  EXPECT_FALSE(is_known(trials(3)));
  EXPECT_FALSE(is_known(seconds(20)));
  EXPECT_FALSE(is_known(limits(0, 0, 0.5)));
  EXPECT_FALSE(is_known(limits(0, 0, 0, 1)));
  EXPECT_FALSE(is_known(limits(0, 0, 0, 0, 0.01)));
  EXPECT_FALSE(is_known({})) << "without a limit all is searched";
  EXPECT_FALSE(is_known(limits(20, 3)));
}

TEST_F(StoredAnswers, EndARequestWithOneLimitThatWasReached) {
  search(trials(4));
  EXPECT_TRUE(is_known(limits(20, 3)));
  EXPECT_TRUE(is_known(limits(0, 0, 0.3))) << "4 of 11 were tried";
  EXPECT_FALSE(is_known(limits(0, 0, 0.5)));
  EXPECT_TRUE(is_known(limits(0, 0, 0, 1e6))) << "all are faster";
  EXPECT_TRUE(is_known(seconds(1e-9))) << "the search took longer";
}

TEST_F(StoredAnswers, OfATimeLimitedSearchAreContinuedByALongerOneOnly) {
  search(limits(50, 3));
  EXPECT_TRUE(is_known(limits(50, 3)));
  EXPECT_FALSE(is_known(seconds(50))) << "it ended early, after three trials";
  search(seconds(1e-9));
  EXPECT_TRUE(is_known(seconds(1e-9)));
  EXPECT_FALSE(is_known(seconds(5)));
}

TEST_F(StoredAnswers, AreFinalWhenTheWholeSpaceWasTried) {
  search({}, "exhaustive");
  EXPECT_TRUE(ask(trials(100)).is_whole_space());
  for (const Budget& budget : {trials(100), seconds(1e6), Budget(), limits(0, 0, 1), limits(0, 0, 0, 1)})
    EXPECT_TRUE(is_known(budget));
}

TEST_F(StoredAnswers, AreNotFinalAfterAPartOfTheSpace) {
  search(trials(2));
  TuningOptions part = options_;
  part.decides = false;
  FakeEvaluator evaluator;
  {
    TrialStore store(wisdom_.user(), spec_, size_, device_,
                     {.conditions = conditions_text(part, spec_), .decides = false});
    part.session.budget = trials(3);
    run_session(spec_, size_, device_, evaluator, &store, part.session, nullptr);
  }
  EXPECT_FALSE(stored_answer(wisdom_, spec_, size_, device_, part).is_answer);
  EXPECT_FALSE(is_known(seconds(20)));
  TrialStore store(wisdom_.user(), spec_, size_, device_, {.conditions = "{}", .decides = false});
  part.session.budget = {};
  EXPECT_EQ(run_session(spec_, size_, device_, evaluator, &store, part.session, nullptr).effort, Effort::normal)
      << "all of it was tried, and nothing of the rest";
}

TEST_F(StoredAnswers, OfAnInterruptedSearchAreContinuedUnlessTheCallerHadSeenEnough) {
  const std::atomic<bool> stop = true;
  search(trials(2));
  options_.session.stop = &stop;
  search(trials(8));
  EXPECT_TRUE(is_known(trials(2))) << "it was stopped before it had a trial";
  options_.session.stop = nullptr;
  std::atomic<bool> later = false;
  options_.session.stop = &later;
  struct Stopper final : Observer {
    explicit Stopper(std::atomic<bool>& flag) : stop(flag) {}
    void on_trial(const Trial&, const Progress&) override { stop = true; }
    std::atomic<bool>& stop;
  };
  for (const bool is_final : {false, true}) {
    later = false;
    Stopper stopper(later);
    options_.session.stop_is_final = is_final;
    options_.session.budget = trials(10);
    options_.session.strategy = "random";
    FakeEvaluator evaluator(cost_of, 1);
    {
      TrialStore store(wisdom_.user(), spec_, size_, device_,
                       {.session = {"random"}, .conditions = conditions_text(options_, spec_)});
      run_session(spec_, size_, device_, evaluator, &store, options_.session, &stopper);
    }
    EXPECT_EQ(is_known(trials(10)), is_final);
    EXPECT_EQ(is_known(trials(2)), is_final);
  }
}

TEST_F(StoredAnswers, DoNotAnswerWhatNeedsMeasurements) {
  search({}, "exhaustive");
  ASSERT_TRUE(is_known({}));
  std::vector<TuningOptions> all(5, options_);
  all[0].resume = false;
  all[1].measure.verify = false;
  all[2].measure.use = Use::hot;
  all[3].measure.metrics = {"energy"};
  all[4].measure.recorded.digest = "1";
  for (const TuningOptions& one : all)
    EXPECT_FALSE(stored_answer(wisdom_, spec_, size_, device_, one).is_answer) << &one - all.data();
}

TEST_F(StoredAnswers, AreStaleForAnotherTextCompilerOrHeadersThatCannotBeKnown) {
  search({}, "exhaustive");
  ASSERT_TRUE(is_known({}));
  Device other = device_;
  other.environment.compiler += " -O0";
  EXPECT_FALSE(stored_answer(wisdom_, spec_, size_, other, options_).is_answer);
  KernelSpec edited = spec_;
  edited.program.text += "// edited\n";
  EXPECT_FALSE(stored_answer(wisdom_, edited, size_, device_, options_).is_answer);
  KernelSpec unknown = spec_;
  unknown.program.includes = std::make_shared<const Includes>(Includes{{}, "a macro names a file"});
  search({}, "exhaustive");
  EXPECT_FALSE(stored_answer(wisdom_, unknown, size_, device_, options_).is_answer);
  unknown.program.includes.reset();
  unknown.program.reference_includes = std::make_shared<const Includes>(Includes{{}, "a macro names a file"});
  EXPECT_FALSE(stored_answer(wisdom_, unknown, size_, device_, options_).is_answer);
}

/// Their results are as they are exported and imported: without sessions, with the word for an effort.
class StoredEfforts : public StoredAnswers {
 protected:
  StoredEfforts() {
    search(trials(3));
    text_ = cache::export_wisdom(wisdom_.user());
  }
  /// The answer for \p effort of a database whose result has the effort \p stored; empty: none.
  StoredAnswer ask_effort(const std::string& stored, Effort effort, bool is_shipped = false) {
    const std::string wanted = stored.empty() ? "" : ",\"effort\":\"" + stored + '"';
    std::string text = text_;
    const std::string measured = R"(,"effort":"none")";
    text.replace(text.find(measured), measured.size(), wanted);
    const std::filesystem::path file = folder_ / (stored + "-effort.db");
    {
      cache::Database database = cache::Database::open_user(file, {.strict = true});
      cache::import_text(database, text);
    }
    const EnvironmentVariable path("TUNER_DB_PATH", is_shipped ? file.string() : "");
    Wisdom wisdom({.database = is_shipped ? folder_ / "empty.db" : file, .shipped = is_shipped, .warn = {}});
    options_.effort = effort;
    return stored_answer(wisdom, spec_, size_, device_, options_);
  }

  std::string text_;
};

TEST_F(StoredEfforts, AnswerAQuestionOfAsMuchOrLess) {
  constexpr Effort all[] = {Effort::quick, Effort::normal, Effort::thorough};
  for (const Effort stored : all)
    for (const Effort asked : all) {
      const StoredAnswer answer = ask_effort(std::string(named(stored).name), asked);
      EXPECT_EQ(answer.is_answer, asked <= stored) << named(stored).name << ' ' << named(asked).name;
      EXPECT_EQ(answer.why_tune.empty(), asked <= stored);
    }
  EXPECT_FALSE(ask_effort("none", Effort::quick).is_answer);
}

TEST_F(StoredEfforts, AreNormalWhereNoneIsStoredAsInShippedResults) {
  for (const bool is_shipped : {false, true}) {
    EXPECT_TRUE(ask_effort("", Effort::normal, is_shipped).is_answer);
    EXPECT_FALSE(ask_effort("", Effort::thorough, is_shipped).is_answer);
  }
  EXPECT_TRUE(ask_effort("strenuous", Effort::normal).is_answer) << "a word of another tuner";
}

TEST_F(StoredEfforts, AreRaisedBySearchesThatContinueAndNotByThoseThatBeginAnew) {
  const auto stored = [&] { return cache::best_rows(wisdom_.user()).front().effort; };
  EXPECT_EQ(stored(), "none") << "three trials";
  EXPECT_EQ(search({}, "exhaustive").effort, Effort::thorough);
  EXPECT_EQ(stored(), "thorough");
  EXPECT_EQ(search(trials(3)).effort, Effort::thorough) << "it resumed the other's trials";
  EXPECT_EQ(stored(), "thorough");
  FakeEvaluator evaluator;
  TrialStore store(wisdom_.user(), spec_, size_, device_, {.session = {"random"}, .resume = false});
  options_.session.budget = trials(3);
  EXPECT_EQ(run_session(spec_, size_, device_, evaluator, &store, options_.session, nullptr).effort, Effort::none);
}

TEST_F(StoredEfforts, OfThoroughEndWithoutAnOpinionOfTheStrategyAndWithoutACorrectResult) {
  std::string text = small_kernel().program.text;
  std::string values;
  for (int i = 0; i < 400; ++i) values += ' ' + std::to_string(i);
  for (const auto& [from, to] : std::map<std::string, std::string>{
           {"#pragma tuner constraint", "#pragma tuner parameter extra =" + values + "\n#pragma tuner constraint"},
           {"T, block, unroll>", "T, block, unroll, extra>"},
           {"int unroll>", "int unroll, int extra>"}})
    text.replace(text.find(from), from.size(), to);
  const KernelSpec large = parse_kernel_file(text, "copy.cu");
  options_.session.budget = limits_of(Effort::thorough, true);
  options_.session.strategy = "random";
  const auto end = [&](FakeEvaluator::Answer answer) {
    FakeEvaluator evaluator(std::move(answer));
    return run_session(large, size_, device_, evaluator, nullptr, options_.session, nullptr);
  };
  const SessionResult wrong = end([](const Configuration& one) { return failed(one, WrongResult{"b[0] is 1"}); });
  EXPECT_EQ(wrong.stop_reason, StopReason::unlikely);
  EXPECT_LT(wrong.trials.size(), 1010u);
  const SessionResult right = end(cost_of);
  EXPECT_EQ(right.stop_reason, StopReason::unlikely);
  EXPECT_EQ(right.effort, Effort::thorough);
  options_.session.strategy = "exhaustive";
  EXPECT_EQ(end(cost_of).stop_reason, StopReason::exhausted);
}

TEST_F(StoredEfforts, OfNoneTakeWhatIsKnownOrTheDefaultAndMeasureNothing) {
  const auto must_not_tune = [](const StoredAnswer&) -> Backend* { throw std::logic_error("it measures"); };
  Observer nobody;
  options_.effort = Effort::none;
  options_.resume = false;
  const auto answer = [&](const ProblemSize& size) {
    return answer_or_tune(wisdom_, spec_, size, device_, options_, nobody, must_not_tune).known;
  };
  EXPECT_TRUE(answer(size_).is_measured());
  EXPECT_EQ(answer(size_).configuration, cache::best_rows(wisdom_.user()).front().configuration);
  Wisdom nothing({.database = folder_ / "nothing.db", .shipped = false, .warn = {}});
  spec_.default_configuration = Configuration{{"block", 256}, {"unroll", 1}};
  const StoredAnswer known = answer_or_tune(nothing, spec_, size_, device_, options_, nobody, must_not_tune).known;
  EXPECT_FALSE(known.is_measured());
  EXPECT_EQ(known.configuration, spec_.default_configuration->text());
  spec_.default_configuration.reset();
  const StoredAnswer first = stored_answer(nothing, spec_, size_, device_, options_);
  EXPECT_TRUE(first.is_answer);
  EXPECT_EQ(why_invalid(spec_, size_, device_.limits, Configuration::parse(first.configuration)), std::nullopt);
  const std::string known_single = answer(size_).configuration;
  options_.session.objective = Objective::time_of(Use::graph);
  EXPECT_EQ(answer(size_).configuration, known_single) << "calls in a graph get it, too";
  EXPECT_FALSE(answer(size_).is_measured()) << "not in this use";
}

TEST(Efforts, EndLaterTheMoreTheyAreAndSayOfASearchHowFarItWent) {
  const auto effort = [](const Budget& limits, double took, bool is_gpu = true) {
    return effort_of({.limits = limits, .seconds = took}, is_gpu, {});
  };
  for (const bool is_gpu : {false, true})
    for (const Effort one : {Effort::quick, Effort::normal, Effort::thorough})
      EXPECT_EQ(effort(limits_of(one, is_gpu), 0, is_gpu), one) << named(one).name;
  EXPECT_EQ(limits_of(Effort::thorough, true).wall_time, std::nullopt);
  EXPECT_EQ(effort(seconds(9.9), 9.9), Effort::none);
  EXPECT_EQ(effort(seconds(10), 9.9), Effort::quick) << "its end is left for the finals";
  EXPECT_EQ(effort(seconds(30), 30), Effort::quick);
  EXPECT_EQ(effort(seconds(30), 30, false), Effort::normal) << "on the host";
  EXPECT_EQ(effort(trials(1000), 61), Effort::normal) << "by its time";
  EXPECT_EQ(effort(trials(1000), 1), Effort::none);
  EXPECT_EQ(effort(limits(0, 0, 0, 0, 0.0001), 1), Effort::thorough);
  EXPECT_EQ(effort({}, 1), Effort::thorough) << "without a limit all is searched";
  EXPECT_EQ(effort_named("normal"), Effort::normal);
  EXPECT_EQ(effort_named("lazy"), std::nullopt);
}

TEST(SpentText, IsReadBackAndWhatIsNoneSaysNothing) {
  Spent spent;
  spent.limits = {std::chrono::duration<double>(2.5), 7, 0.1, 3e4, 0.05};
  spent.seconds = 1.25;
  spent.valid = 384;
  spent.nothing_left = spent.part = true;
  EXPECT_EQ(text(parse_spent(text(spent))), text(spent));
  for (const char* none : {"", "[]", "{", R"({"trials":"7","valid":-1e99,"part":1})", R"({"trials":1.5,"valid":-7})"})
    EXPECT_EQ(text(parse_spent(none)), text(Spent{})) << none;
}

TEST(Budgets, CoverThoseThatAskForNoMore) {
  const Budget none, five = seconds(5), more = seconds(6), both = limits(5, 3), fast = limits(0, 0, 0, 10),
                     faster = limits(0, 0, 0, 9);
  EXPECT_TRUE(covers(none, five, {}));
  EXPECT_FALSE(covers(five, none, {}));
  EXPECT_FALSE(covers(five, more, {}));
  EXPECT_TRUE(covers(five, both, {}));
  EXPECT_FALSE(covers(both, five, {}));
  EXPECT_TRUE(covers(faster, fast, {}));
  EXPECT_FALSE(covers(fast, faster, {}));
  EXPECT_TRUE(covers(fast, faster, {"max:occupancy"}));
}

}  // namespace
}  // namespace tuner::testing
