// Sizes of one kernel tuned together: what is stored, and when a stored rule is the answer.

#include <cmath>

#include <cache/query/session.hpp>

#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/session/batch/tune_together.hpp>
#include <tuner/session/tuning/try_configurations.hpp>

#include <tests/support/temporary_folder.hpp>

#include <tests/session/session_fixture.hpp>

namespace tuner::testing {
namespace {

/// The best block grows with the size. \p n is a power of two from 2^10 to 2^24.
double cost_at(const Configuration& c, std::int64_t n) {
  const double block = std::log2(double(c.find("block")->integer())), unroll = double(c.find("unroll")->integer());
  const double best = 5 + (std::log2(double(n)) - 10) / 4;
  return double(n) * (1 + 0.02 * (block - best) * (block - best) + 0.1 * std::abs(unroll - 2));
}

double least_cost_at(std::int64_t n) {
  double least = HUGE_VAL;
  for (const int block : {32, 64, 128, 256})
    for (const int unroll : {1, 2, 4}) least = std::min(least, cost_at({{"block", block}, {"unroll", unroll}}, n));
  return least;
}

class TuneTogether : public ::testing::Test {
 protected:
  TuneTogether() {
    for (int i = 10; i < 26; i += 2) job_.sizes.push_back(complete(*job_.spec, {{{"n", std::int64_t{1} << i}}, {}}));
    job_.weights.assign(job_.sizes.size(), 1);
    job_.tuning.session.budget.trials = 11;
    actions_.search = [this](const ProblemSize& size, const TuningOptions& options) {
      FakeEvaluator evaluator = evaluator_at(size);
      TrialStore store(wisdom_.user(), *job_.spec, size, device_,
                       {.session = {"auto"}, .conditions = conditions_text(options, *job_.spec), .decides = false});
      ++searches_;
      return run_session(*job_.spec, size, device_, evaluator, &store, options.session, nullptr).trials;
    };
    actions_.measure = [this](const ProblemSize& size, const std::vector<Configuration>& configurations) {
      FakeEvaluator evaluator = evaluator_at(size);
      TrialStore store(
          wisdom_.user(), *job_.spec, size, device_,
          {.session = {"given"}, .conditions = conditions_text(job_.tuning, *job_.spec), .decides = false});
      SessionOptions options;
      options.stop = &stop_;
      ++measures_;
      if (stop_at_measure_ == measures_) stop_ = true;
      return try_configurations(*job_.spec, size, device_, evaluator, store, options, configurations, listener_);
    };
  }

  FakeEvaluator evaluator_at(const ProblemSize& size) {
    return FakeEvaluator([this, n = size.sizes.at("n")](const Configuration& configuration) {
      ++tried_;
      if (wrong_ == configuration) return failed(configuration, WrongResult{"b[0] is 1, not 2"});
      Trial trial = measured(configuration, cost_at(configuration, n));
      std::get<Measurement>(trial.outcome).abandoned = n == abandoned_at_;
      return trial;
    });
  }

  JointResult tune() { return tune_together(job_, device_, wisdom_, actions_, listener_, stop_); }
  /// The kernel with a reference, so that results are for other sizes, too.
  KernelSpec servable() const {
    KernelSpec spec = *job_.spec;
    spec.verification.default_is_reference = true;
    spec.default_configuration = {{"block", 32}, {"unroll", 1}};
    return spec;
  }
  cache::SessionKey key_of(std::size_t size) const {
    return {context_of(*job_.spec, job_.sizes[size], device_, {}), conditions_text(job_.tuning, *job_.spec)};
  }
  /// What a call of \p n gets.
  cache::WisdomMatch served(std::int64_t n) {
    const KernelSpec spec = servable();
    return wisdom_.lookup(spec, complete(spec, {{{"n", n}}, {}}), device_, {}, {{"n", class_begin(n, 1)}});
  }
  std::string best_of(std::size_t size) {
    const auto match = wisdom_.lookup(*job_.spec, job_.sizes[size], device_);
    return match.tier == cache::Tier::exact ? match.best->configuration : "none";
  }

  const TemporaryFolder folder_;
  Wisdom wisdom_{{.database = folder_ / "wisdom.db", .shipped = false, .warn = {}}};
  const Device device_ = some_device();
  JointJob job_{std::make_shared<const KernelSpec>(small_kernel()), {}, {}, {}};
  JointActions actions_;
  JointListener listener_;
  std::atomic<bool> stop_{false};
  Configuration wrong_;
  std::int64_t abandoned_at_ = 0;  // every measurement of this size ends early
  std::size_t searches_ = 0, measures_ = 0, tried_ = 0;
  std::size_t stop_at_measure_ = 0;  // 0: never
};

TEST_F(TuneTogether, StoresTheChoiceOfTheRuleAsTheBestOfEachSize) {
  const JointResult result = tune();
  ASSERT_TRUE(result.rule);
  EXPECT_TRUE(result.is_stored);
  EXPECT_FALSE(result.is_known);
  EXPECT_LE(result.rule->branches.size(), 4u);
  for (std::size_t i = 0; i < job_.sizes.size(); ++i) {
    const JointChoice& choice = result.choices[i];
    EXPECT_EQ(best_of(i), choice.configuration.text());
    EXPECT_TRUE(choice.is_stored);
    EXPECT_EQ(choice.median_ns, cost_at(choice.configuration, job_.sizes[i].sizes.at("n")));
    EXPECT_THAT(choice.regret, Optional(Le(0.1)));
  }
}

TEST_F(TuneTogether, AnswersTheSameRequestFromTheDatabase) {
  const JointResult first = tune();
  const std::size_t tried = tried_;
  const JointResult second = tune();
  EXPECT_TRUE(second.is_known);
  EXPECT_EQ(tried_, tried);
  EXPECT_EQ(second.rule, first.rule);
  for (std::size_t i = 0; i < job_.sizes.size(); ++i) {
    EXPECT_EQ(second.choices[i].configuration, first.choices[i].configuration);
    EXPECT_TRUE(second.choices[i].is_stored);
  }
}

TEST_F(TuneTogether, GivesTheRuleToResultsThatLackItThoughTheAnswerIsKnown) {
  const JointResult first = tune();
  std::size_t alone = 0;  // a size whose result is a later one of another configuration
  for (std::size_t i = 0; i < job_.sizes.size(); ++i) {
    cache::SessionWriter writer(wisdom_.user(), key_of(i));
    std::string configuration = first.choices[i].configuration.text();
    if (i == alone)
      for (const cache::TrialRecord& trial : cache::finished_trials(wisdom_.user(), key_of(i)))
        if (trial.configuration != first.choices[i].configuration.text()) configuration = trial.configuration;
    writer.set_best(configuration, {.effort = "thorough", .checked = "host"});
  }
  ASSERT_NE(served(9000).tier, cache::Tier::rule);
  const JointResult second = tune();
  EXPECT_TRUE(second.is_known);
  EXPECT_EQ(served(9000).tier, cache::Tier::rule);
  const auto best = wisdom_.lookup(*job_.spec, job_.sizes[1], device_).best;
  EXPECT_EQ(best->rule, first.rule->text());
  EXPECT_EQ(best->checked, "host");
  EXPECT_EQ(best->effort, "thorough");
  EXPECT_NE(best_of(alone), first.choices[alone].configuration.text());
  EXPECT_FALSE(second.choices[alone].is_stored);
  const std::size_t sessions = cache::sessions(wisdom_.user()).size();
  EXPECT_TRUE(tune().is_known);
  EXPECT_EQ(cache::sessions(wisdom_.user()).size(), sessions) << "nothing is stored twice";
}

TEST_F(TuneTogether, LeavesSizesOfItsClassToAResultOfAnotherUse) {
  tune();
  const Configuration in_graphs{{"block", 64}, {"unroll", 4}};
  {
    TrialStore store(wisdom_.user(), *job_.spec, complete(*job_.spec, {{{"n", 9000}}, {}}), device_,
                     {.conditions = "", .objective = Objective::time_of(Use::graph)});
    const Trial trial = measured(in_graphs, 1);
    store.append(trial);
    store.finish(&trial, Spent{}, {"thorough", ""});
  }
  const KernelSpec spec = servable();
  const auto of = [&](std::int64_t n) {
    return wisdom_.lookup_in_use(Use::graph, spec, complete(spec, {{{"n", n}}, {}}), device_);
  };
  EXPECT_EQ(of(9100).best->configuration, in_graphs.text()) << "of the class of 9000";
  EXPECT_EQ(of(9000).best->configuration, in_graphs.text());
  EXPECT_EQ(of(9300).tier, cache::Tier::rule);
}

TEST_F(TuneTogether, ACallWithoutTuningIsAnsweredByTheResultOfItsClass) {
  tune();
  const KernelSpec spec = servable();
  TuningOptions options = job_.tuning;
  options.effort = Effort::none;
  const StoredAnswer answer = stored_answer(wisdom_, spec, complete(spec, {{{"n", 4100}}, {}}), device_, options);
  EXPECT_TRUE(answer.is_answer);
  EXPECT_EQ(answer.match.tier, cache::Tier::nearest_size);
  EXPECT_EQ(answer.match.best->problem.sizes, job_.sizes[1].sizes);
}

TEST_F(TuneTogether, ServesASizeBetweenByTheRule) {
  const JointResult result = tune();
  for (const std::int64_t n : {1500, 9000, 500'000}) {
    const auto match = served(n);
    ASSERT_EQ(match.tier, cache::Tier::rule) << n << ": " << match.reason;
    EXPECT_EQ(match.best->configuration, result.rule->branch({{"n", n}})->configuration.text()) << n;
    EXPECT_EQ(match.best->rule, result.rule->text());
  }
}

TEST_F(TuneTogether, LeavesASizeOfTheClassOfATunedSizeToItsResult) {
  tune();
  EXPECT_EQ(served(4100).tier, cache::Tier::nearest_size);
}

TEST_F(TuneTogether, ForgetsTheMissesThatTheRuleAnswers) {
  job_.spec = std::make_shared<const KernelSpec>(servable());
  std::vector<cache::MissRecord> misses;
  for (const std::int64_t n : {9000, 1 << 26}) {
    const ProblemSize size = complete(*job_.spec, {{{"n", n}}, {}});
    misses.push_back({context_of(*job_.spec, size, device_, {}).kernel, to_record(size), class_begin(size.sizes),
                      device_.key.text(), "", "default", 7});
  }
  misses.push_back(misses.front());
  misses.back().kernel.name = "another";
  cache::remember_misses(wisdom_.user(), misses);
  tune();
  std::vector<std::pair<std::string, std::int64_t>> left;
  for (const cache::MissRecord& miss : cache::misses(wisdom_.user()))
    left.emplace_back(miss.kernel.name, miss.problem.sizes.at("n"));
  EXPECT_THAT(left, UnorderedElementsAre(std::pair("another", 9000), std::pair(job_.spec->name, 1 << 26)));
}

TEST_F(TuneTogether, WeighsSizesByTheCallsOfTheirClassThatWereMissed) {
  cache::MissRecord miss{context_of(*job_.spec, job_.sizes[1], device_, {}).kernel,
                         to_record(job_.sizes[1]),
                         job_.sizes[1].sizes,
                         device_.key.text(),
                         "",
                         "default",
                         7};
  cache::remember_misses(wisdom_.user(), {miss});
  weigh_by_misses(job_, wisdom_, device_);
  EXPECT_EQ(job_.weights[1], 8);
  EXPECT_EQ(job_.weights[0], 1);
}

TEST_F(TuneTogether, MeasuresAgainForOtherSizesALargerBudgetOrByForce) {
  tune();
  job_.tuning.session.budget.trials = 12;
  EXPECT_FALSE(tune().is_known) << "a larger budget";
  EXPECT_TRUE(tune().is_known);
  job_.sizes.pop_back();
  job_.weights.pop_back();
  EXPECT_FALSE(tune().is_known) << "the rule was made of more sizes";
  job_.tuning.resume = false;
  EXPECT_FALSE(tune().is_known) << "--force";
}

TEST_F(TuneTogether, KeepsWhatItMeasuredWhenItIsInterrupted) {
  job_.tuning.session.budget.trials = 6;
  stop_at_measure_ = 1;
  const JointResult interrupted = tune();
  EXPECT_TRUE(interrupted.is_interrupted);
  EXPECT_EQ(interrupted.rule, std::nullopt);
  EXPECT_EQ(best_of(0), "none");
  stop_ = false;
  const std::size_t before = tried_;
  const JointResult whole = tune();
  ASSERT_TRUE(whole.rule);
  EXPECT_EQ(whole.trials, tried_) << "nothing was measured twice";
  EXPECT_GT(before, 0u);
}

TEST_F(TuneTogether, StoresNoChoiceWhoseMeasurementEndedEarly) {
  abandoned_at_ = 4096;
  const JointResult result = tune();
  ASSERT_TRUE(result.rule);
  EXPECT_FALSE(result.choices[1].is_stored);
  EXPECT_TRUE(result.choices[2].is_stored);
  EXPECT_EQ(best_of(1), "none");
  const std::size_t sessions = cache::sessions(wisdom_.user()).size();
  EXPECT_TRUE(tune().is_known);
  EXPECT_EQ(cache::sessions(wisdom_.user()).size(), sessions) << "nothing is stored twice";
}

TEST_F(TuneTogether, LeavesAFasterResultOfASizeByItself) {
  const Configuration fast{{"block", 64}, {"unroll", 4}};
  {
    TrialStore store(wisdom_.user(), *job_.spec, job_.sizes[4], device_,
                     {.conditions = conditions_text(job_.tuning, *job_.spec)});
    const Trial trial = measured(fast, 0.99 * least_cost_at(job_.sizes[4].sizes.at("n")));
    store.append(trial);
    store.finish(&trial, Spent{}, {"thorough", ""});
  }
  wrong_ = fast;  // elsewhere
  const JointResult result = tune();
  ASSERT_TRUE(result.rule);
  EXPECT_EQ(best_of(4), fast.text());
  EXPECT_FALSE(result.choices[4].is_stored);
  EXPECT_EQ(best_of(5), result.choices[5].configuration.text());
}

TEST_F(TuneTogether, DoesNotChooseWhatAnotherCheckFindsWrong) {
  const Configuration liked = tune().choices[0].configuration;
  job_.tuning.resume = false;
  std::size_t asked = 0;
  actions_.check = [&](const ProblemSize&, const Configuration& configuration) {
    ++asked;
    FinalistCheck::Answer answer;
    answer.by = "host";
    if (configuration == liked) answer.wrong = WrongResult{"a race"};
    return answer;
  };
  const JointResult result = tune();
  ASSERT_TRUE(result.rule);
  for (const JointChoice& choice : result.choices) EXPECT_NE(choice.configuration, liked);
  EXPECT_GE(asked, 2u);
  EXPECT_LE(asked, 8u) << "each configuration is checked once";
  EXPECT_EQ(wisdom_.lookup(*job_.spec, job_.sizes[0], device_).best->checked, "host");
}

TEST_F(TuneTogether, IsNoAnswerForATuningOfOneSize) {
  tune();
  TuningOptions alone = job_.tuning;
  EXPECT_FALSE(stored_answer(wisdom_, *job_.spec, job_.sizes[1], device_, alone).is_answer)
      << "that size was not searched";
}

TEST_F(TuneTogether, HasNoRuleIfASizeHasNoCorrectConfiguration) {
  const auto measure = actions_.measure;
  actions_.measure = [&](const ProblemSize& size, const std::vector<Configuration>& configurations) {
    if (size.sizes.at("n") != 4096) return measure(size, configurations);
    std::vector<Trial> trials;
    for (const Configuration& one : configurations) trials.push_back(failed(one, WrongResult{"b[0] is 1, not 2"}));
    return trials;
  };
  actions_.search = [search = actions_.search](const ProblemSize& size, const TuningOptions& options) {
    return size.sizes.at("n") == 4096 ? std::vector<Trial>() : search(size, options);
  };
  const JointResult result = tune();
  EXPECT_EQ(result.rule, std::nullopt);
  EXPECT_FALSE(result.is_stored);
}

using TryConfigurations = TuneTogether;

TEST_F(TryConfigurations, StoresATrialOfEachAndNoBest) {
  const std::vector<Configuration> both{{{"block", 32}, {"unroll", 1}}, {{"block", 64}, {"unroll", 2}}};
  EXPECT_EQ(actions_.measure(job_.sizes[0], both).size(), 2u);
  EXPECT_EQ(stored_trials(wisdom_, *job_.spec, job_.sizes[0], device_, job_.tuning).size(), 2u);
  EXPECT_EQ(best_of(0), "none");
}

TEST_F(TryConfigurations, RunsNothingThatIsNotValid) {
  const std::vector<Trial> trials = actions_.measure(job_.sizes[0], {{{"block", 256}, {"unroll", 4}}});
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(kind(trials[0].outcome), "invalid");
  EXPECT_EQ(tried_, 0u);
}

TEST_F(TryConfigurations, EndsWhenItIsStopped) {
  stop_ = true;
  EXPECT_THAT(actions_.measure(job_.sizes[0], {{{"block", 32}, {"unroll", 1}}}), IsEmpty());
}

}  // namespace
}  // namespace tuner::testing
