#include <tuner/session/tuning/tuning.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/session/wisdom/trial_store.hpp>

#include <tests/support/session_fakes.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;

class EarlierResults : public ::testing::Test {
 protected:
  EarlierResults() {
    WisdomOptions options;
    options.database = folder_ / "wisdom.db";
    options.shipped = false;
    wisdom_.emplace(options);
  }

  static ProblemSize problem(std::int64_t n) { return complete(small_kernel(), {{{"n", n}}, {}}); }

  static Device other_gpu() {
    Device device = some_device();
    device.key.compute_capability = 80;
    device.key.sm_count = 108;
    device.name = "Older GPU";
    return device;
  }

  /// The valid configurations of small_kernel().
  static std::vector<Configuration> all() {
    std::vector<Configuration> all;
    for (const int block : {32, 64, 128, 256})
      for (const int unroll : {1, 2, 4})
        if (block * unroll <= 512) all.push_back({{"block", block}, {"unroll", unroll}});
    return all;
  }

  /// Tunes \p size on \p device with the configurations from index \p first up to \p trials. The best has unroll=2 and
  /// block=\p block.
  void tuned(const ProblemSize& size, const Device& device, std::size_t trials = 10, std::int64_t block = 64,
             std::size_t first = 0) {
    TrialStore store(wisdom_->user(), spec_, size, device, {});
    std::optional<Trial> best;
    for (std::size_t i = first; i < trials && i < all().size(); ++i) {
      const Configuration configuration = all()[i];
      const bool fast = configuration.find("block")->integer() == block && configuration.find("unroll")->integer() == 2;
      const Trial trial = measured(configuration, fast ? 100 : 1000 + static_cast<double>(i));
      store.append(trial);
      if (!best || trial.measurement()->median_ns < best->measurement()->median_ns) best = trial;
    }
    store.finish(&*best, Spent{});
  }

  std::optional<Prior> find(const ProblemSize& size, const Device& device = some_device()) {
    return earlier_results(*wisdom_, spec_, size, device, {});
  }

  static Configuration best_of(const Prior& prior) {
    return std::min_element(
               prior.results.begin(), prior.results.end(),
               [](const auto& a, const auto& b) { return a.objective.value_or(1e300) < b.objective.value_or(1e300); })
        ->configuration;
  }

  const TemporaryFolder folder_;
  std::optional<Wisdom> wisdom_;
  const KernelSpec spec_ = small_kernel();
};

TEST_F(EarlierResults, AreNoneWhereNothingWasTuned) { EXPECT_FALSE(find(problem(1000))); }

TEST_F(EarlierResults, AreTheTrialsOfAnotherSize) {
  tuned(problem(4000), some_device());
  const auto prior = find(problem(1000));
  ASSERT_TRUE(prior);
  EXPECT_THAT(prior->results, SizeIs(10));
  EXPECT_EQ(best_of(*prior), (Configuration{{"block", 64}, {"unroll", 2}}));
  EXPECT_EQ(prior->origin, "n=4000");
}

TEST_F(EarlierResults, AreTheTrialsOfAllSessionsThatATuningTook) {
  tuned(problem(4000), some_device(), 5);
  tuned(problem(4000), some_device(), 10, 64, 5);
  const auto prior = find(problem(1000));
  ASSERT_TRUE(prior);
  EXPECT_THAT(prior->results, SizeIs(10));
}

TEST_F(EarlierResults, CountAFinalistOnceByItsLastMeasurement) {
  const Configuration finalist{{"block", 32}, {"unroll", 1}};
  tuned(problem(4000), some_device());
  {
    TrialStore store(wisdom_->user(), spec_, problem(2000), some_device(), {});
    for (std::size_t i = 0; i < 9; ++i) store.append(measured(all()[i], 500 + static_cast<double>(i)));
    const Trial again = measured(finalist, 50);
    store.append(again);
    store.finish(&again, Spent{});
  }
  const auto prior = find(problem(1000));
  ASSERT_TRUE(prior);
  EXPECT_THAT(prior->results, SizeIs(9));
  EXPECT_EQ(best_of(*prior), finalist);
}

TEST_F(EarlierResults, AreThoseOfTheNearestSize) {
  tuned(problem(100000), some_device(), 10, 32);
  tuned(problem(2000), some_device(), 10, 64);
  tuned(problem(10), some_device(), 10, 32);
  EXPECT_EQ(find(problem(1000))->origin, "n=2000");
}

TEST_F(EarlierResults, OfThisDeviceComeBeforeThoseOfAnother) {
  tuned(problem(1000), other_gpu());
  tuned(problem(16000), some_device());
  EXPECT_EQ(find(problem(1000))->origin, "n=16000");
}

TEST_F(EarlierResults, OfAnotherDeviceServeWhereThereAreNoOthersAndAreTrustedLess) {
  tuned(problem(1000), other_gpu());
  const auto prior = find(problem(1000));
  ASSERT_TRUE(prior);
  EXPECT_EQ(prior->origin, "n=1000 on Older GPU");
  tuned(problem(2000), some_device());
  EXPECT_LT(prior->weight, find(problem(1000))->weight);
}

TEST_F(EarlierResults, LeaveOutTheVeryProblemBecauseThatIsResumed) {
  tuned(problem(1000), some_device());
  EXPECT_FALSE(find(problem(1000)));
}

TEST_F(EarlierResults, KeepTheVeryProblemAfterTheDriverChanged) {
  tuned(problem(1000), some_device());
  Device updated = some_device();
  updated.environment.driver = "13.1";
  const auto prior = find(problem(1000), updated);
  ASSERT_TRUE(prior);
  EXPECT_EQ(prior->weight, 1);
}

TEST_F(EarlierResults, OfTheHostSayNothingOfAGpu) {
  Device host = some_device();
  host.key.backend = "host";
  tuned(problem(2000), host);
  EXPECT_FALSE(find(problem(1000)));
}

TEST_F(EarlierResults, AreTheBestConfigurationsWhereTooFewTrialsAreKept) {
  tuned(problem(2000), some_device(), 5, 32);
  tuned(problem(4000), some_device(), 7, 64);
  const auto prior = find(problem(1000));
  ASSERT_TRUE(prior);
  ASSERT_THAT(prior->results, SizeIs(2));
  EXPECT_EQ(prior->results.front().configuration, (Configuration{{"block", 32}, {"unroll", 2}}));
  EXPECT_LT(prior->results[0].objective, prior->results[1].objective);
}

TEST_F(EarlierResults, AreTheBestConfigurationsOfNearProblemsRatherThanTheTrialsOfAFarOne) {
  tuned(problem(1 << 20), some_device(), 10, 32);
  tuned(problem(2000), some_device(), 5, 64);
  EXPECT_EQ(find(problem(1000))->origin, "n=2000");
}

TEST_F(EarlierResults, AreThoseOfTheSizeWithAnotherChoiceBeforeThoseOfADistantSize) {
  const auto of_type = [](std::int64_t n, const char* type) {
    ProblemSize size = problem(n);
    size.choices["T"] = type;
    return size;
  };
  tuned(of_type(1000, "double"), some_device());
  tuned(of_type(16000, "float"), some_device());
  EXPECT_EQ(find(of_type(1000, "float"))->origin, "T=double n=1000");
}

}  // namespace
}  // namespace tuner
