// Calls that nothing is known for: tuned in worker processes, or served with the default; and how what is found while a
// program runs reaches its calls.

#include <cstdlib>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/query/browse.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/runtime/background/misses.hpp>
#include <tuner/runtime/background/renewal.hpp>
#include <tuner/runtime/decide/served_device.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/wisdom.hpp>
#include <tuner/tuner.hpp>

#include <tests/runtime/kernels.hpp>
#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

using testing::kernel_named;

class FirstUse : public testing::ServingEnvironment {
 protected:
  FirstUse() : ServingEnvironment("host", "on_first_use") {
    ::setenv("TUNER_TUNE_TIME", "600", 1);  // the spaces end long before, on any machine
  }
  ~FirstUse() override { ::unsetenv("TUNER_WORKER"); }

  /// Kernels that were served without a result, by name.
  static std::vector<std::string> missed() {
    Wisdom& wisdom = runtime::Serving::process().terms().wisdom;
    runtime::MissLog::process().flush(wisdom);
    std::vector<std::string> names;
    for (const cache::MissRecord& miss : cache::misses(wisdom.user())) names.push_back(miss.kernel.name);
    return names;
  }

  /// How many trials each tuning of \p kernel has stored.
  static std::vector<std::int64_t> sessions_of(const std::string& kernel) {
    std::vector<std::int64_t> trials;
    for (const auto& one : cache::sessions(runtime::Serving::process().terms().wisdom.user(), {.kernel = kernel}))
      trials.push_back(one.trials);
    return trials;
  }

  const testing::CollectedWarnings warnings_;
};

TEST_F(FirstUse, TunesOnAMissAndKeepsTheResultForTheNextProcess) {
  const Kernel scale = kernel_named("scaleOnFirstUse", testing::kScale);
  std::vector<float> x(1000, 1.0f), y(1000);
  scale.launch(nullptr, {1000}, x.data(), 3, y.data());
  EXPECT_THAT(y, Each(3.0f));

  Wisdom next_process({});
  const ProblemSize size = complete(scale.spec(), {{{"n", 1000}}, {}});
  const cache::WisdomMatch match = next_process.lookup(scale.spec(), size, choose_device("host").device);
  ASSERT_TRUE(match);
  EXPECT_EQ(match.tier, cache::Tier::exact);
}

/// The other configuration than the default does \p mistake.
Kernel writes_one(const std::string& name, const std::string& mistake) {
  return kernel_named(name, testing::replaced(R"(
#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter wrong = false true
#pragma tuner default wrong=false
#pragma tuner out y[n] : float
#pragma tuner grid max(1, ceil_div(n, 32))
#pragma tuner block 32
#pragma tuner arguments y, n
#pragma tuner instantiate NAME<wrong>
#pragma tuner reference NAME<false>
template <bool wrong> __global__ void NAME(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (wrong) MISTAKE;
  if (i < n) y[i] = 1;
}
)",
                                              "MISTAKE", mistake));
}

TEST_F(FirstUse, SurvivesAConfigurationThatFaults) {
  const Kernel kernel = writes_one("faults", "*(volatile int*)8 = 1");
  std::vector<float> y(100);
  kernel.launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, Each(1.0f));
  EXPECT_THAT(kernel.explain({100}), HasSubstr("wrong=false"));
  EXPECT_THAT(warnings_.texts, IsEmpty());
}

TEST_F(FirstUse, IsNotNeededForATuningInWorkerProcessesWhichSurvivesAFaultToo) {
  TuneOptions options;
  options.isolated = true;
  const TuneResult tuned = tune(writes_one("faultsWhenTuned", "*(volatile int*)8 = 1"), {32}, {}, options);
  EXPECT_EQ(tuned.configuration, "wrong=false");
  EXPECT_EQ(tuned.failures.at("launch"), 1u);
}

TEST_F(FirstUse, EndsAlthoughAConfigurationNeverDoes) {
  ::setenv("TUNER_TUNE_TIME", "3", 1);
  const Kernel kernel = writes_one("hangs", "for (volatile int i = 0;;) i = i + 1");
  std::vector<float> y(100);
  kernel.launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, Each(1.0f));
}

TEST_F(FirstUse, IsServedWithTheDefaultAndRememberedWhereNoWorkerIsInstalled) {
  ::setenv("TUNER_WORKER", "/no/such/tuner-worker", 1);
  const Kernel kernel = writes_one("alone", "y[i] = 2");
  std::vector<float> y(100);
  kernel.launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, Each(1.0f));
  EXPECT_THAT(warnings_.texts, Contains(HasSubstr("nothing is tuned on first use: $TUNER_WORKER is /no/such/")));
  EXPECT_THAT(missed(), Contains("alone"));
}

TEST_F(FirstUse, IsServedWithTheDefaultAndRememberedForAKernelThatNoTextDescribes) {
  KernelSpec spec = writes_one("inCode", "y[i] = 2").spec();
  spec.program.text.erase(0, spec.program.text.find("template"));
  std::vector<float> y(100);
  Kernel(spec).launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, Each(1.0f));
  EXPECT_THAT(warnings_.texts, Contains(HasSubstr("kernel 'inCode' is described in code alone")));
  EXPECT_THAT(missed(), Contains("inCode"));
}

TEST_F(FirstUse, IsLeftOutOnTheHostUnlessSomebodyAsksForIt) {
  ::setenv("TUNER_TUNE", "auto", 1);
  const Kernel kernel = writes_one("notAskedFor", "y[i] = 2");
  std::vector<float> y(100);
  kernel.launch(nullptr, {100}, y.data());
  EXPECT_THAT(missed(), Contains("notAskedFor"));
  EXPECT_THAT(sessions_of("notAskedFor"), IsEmpty());
  EXPECT_THAT(warnings_.texts, IsEmpty());
}

TEST_F(FirstUse, WithoutAResultIsRememberedWithItsTrialsAndNotMadeAgain) {
  // No configuration agrees with the reference, so nothing is named best.
  const std::string text = testing::replaced(testing::kScale, "factor * x[i];\n}\ntemplate", "3 * x[i];\n}\ntemplate");
  const auto call = [&] {
    const Kernel kernel = kernel_named("inVain", text);
    std::vector<float> x(1001, 1.0f), y(1001, 3.0f);
    kernel.launch(nullptr, {1000}, x.data(), 2, y.data());
    EXPECT_THAT(y, Each(3.0f));
    kernel.launch(nullptr, {1001}, x.data(), 2, y.data());
  };
  call();
  EXPECT_THAT(sessions_of("inVain"), ElementsAre(2)) << "trials";
  EXPECT_THAT(warnings_.texts,
              Contains(AllOf(HasSubstr("inVain T=float n=1000"), HasSubstr("none of 2 configurations worked"))));
  call();
  runtime::ServedDevice::of(kHostContext).first_use.tried.clear();  // as in another process
  call();
  EXPECT_THAT(sessions_of("inVain"), ElementsAre(2));
}

class FirstUseInAHurry : public testing::ServingEnvironment {
 protected:
  FirstUseInAHurry() : ServingEnvironment("host", "never") { ::setenv("TUNER_TUNE_TIME", "0.001", 1); }
};

/// The kernel \p name with 16^6 combinations of parameters, without a default, and \p constraints.
Kernel scale_in_many_ways(const std::string& name, const std::string& constraints) {
  std::string lines;
  for (const char* parameter : {"a", "b", "c", "d", "e", "f"})
    lines += std::string("#pragma tuner parameter ") + parameter + " = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
  return kernel_named(name,
                      testing::replaced(testing::kScale, "#pragma tuner default block=32\n", lines + constraints));
}

TEST_F(FirstUseInAHurry, LooksForAConfigurationNoLongerThanTuningMayTake) {
  // Pruned only when the last parameter is known.
  const Kernel scale = scale_in_many_ways("scaleOnFirstUse", R"(
#pragma tuner constraint late: (a * 7 + b * 11 + c * 13 + d * 17 + e * 19 + f * 23) % 1009 == 5
#pragma tuner constraint never: (a * 14 + b * 22 + c * 26 + d * 34 + e * 38 + f * 46) % 1009 == 11
)");
  std::vector<float> x(1000), y(1000);
  EXPECT_THAT(error_of([&] { scale.launch(nullptr, {1000}, x.data(), 3, y.data()); }),
              HasSubstr("names no default that is valid for"));
}

TEST_F(FirstUseInAHurry, FindsAConfigurationAtOnceWhereMillionsAreValid) {
  const Kernel scale =
      scale_in_many_ways("scaleInManyWays", "#pragma tuner constraint order: a + b + c + d + e + f >= 20\n");
  EXPECT_THAT(scale.explain({1000}), HasSubstr("(default: "));
}

/// A kernel that tells how it was compiled. Its default is not what a tuning finds: that is wrong.
constexpr const char* kTells = R"(
#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter tuned = false true
#pragma tuner out y[n] : float
#pragma tuner grid max(1, ceil_div(n, 32))
#pragma tuner block 32
#pragma tuner arguments y, n
#pragma tuner instantiate tells<tuned>
#pragma tuner reference tells<true>
#pragma tuner default tuned=false
template <bool tuned> __global__ void tells(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tuned;
}
)";

class NewResults : public testing::ServingEnvironment {
 protected:
  explicit NewResults(const char* tune = "never") : ServingEnvironment("host", tune) {}
  static bool is_tuned(const Kernel& kernel, int n) {
    std::vector<float> y(static_cast<std::size_t>(n));
    kernel.launch(nullptr, {n}, y.data());
    return y[0] == 1;
  }
};

TEST_F(NewResults, OfTuneReachEveryObjectOfTheKernelAtOnce) {
  const Kernel one = kernel_named("tells", kTells), other = kernel_named("tells", kTells);
  EXPECT_FALSE(is_tuned(one, 100));
  EXPECT_FALSE(is_tuned(other, 100));
  tune(one, {100});
  EXPECT_TRUE(is_tuned(one, 100));
  EXPECT_TRUE(is_tuned(other, 100));
}

TEST_F(NewResults, OfOtherProcessesReachCallsAtTheNextLook) {
  const Kernel kernel = kernel_named("tells", kTells);
  tune(kernel, {3000});
  ASSERT_TRUE(is_tuned(kernel, 3000));
  runtime::Renewal::process().look();
  {
    // As `tune db clear` does in another process.
    cache::Database database = cache::Database::open_user(testing::cache_folder() / "wisdom.db");
    cache::remove_results(database, {.kernel = "tells"});
  }
  runtime::Renewal::process().look();
  EXPECT_FALSE(is_tuned(kernel, 3000));
}

TEST_F(NewResults, OfOtherProcessesThatAreRemovedBeforeTheNextLookAreServedNoLonger) {
  const Kernel kernel = kernel_named("tellsForAMoment", kTells);
  const Device device = choose_device("host").device;
  const ProblemSize size = complete(kernel.spec(), {{{"n", 3000}}, {}});
  EXPECT_FALSE(is_tuned(kernel, 100)) << "the device is open";
  runtime::Renewal::process().look();
  {
    cache::Database other = cache::Database::open_user(testing::cache_folder() / "wisdom.db");
    testing::store_best(other, context_of(kernel.spec(), size, device, {}), "tuned=true");
    EXPECT_TRUE(is_tuned(kernel, 3000));
    cache::remove_results(other, {.kernel = "tellsForAMoment"});
  }
  runtime::Renewal::process().look();
  EXPECT_FALSE(is_tuned(kernel, 3000));
}

TEST_F(NewResults, AreLookedForAgainAfterADatabaseWasLocked) {
  const Kernel kernel = kernel_named("tellsAfterALock", kTells);
  const Device device = choose_device("host").device;
  const ProblemSize size = complete(kernel.spec(), {{{"n", 3000}}, {}});
  EXPECT_FALSE(is_tuned(kernel, 100));
  {
    cache::Database other = cache::Database::open_user(testing::cache_folder() / "wisdom.db");
    testing::store_best(other, context_of(kernel.spec(), size, device, {}), "tuned=true");
  }
  {
    SQLite::Database lock((testing::cache_folder() / "wisdom.db").string(), SQLite::OPEN_READWRITE);
    lock.exec("BEGIN EXCLUSIVE");
    EXPECT_FALSE(is_tuned(kernel, 3000));
  }
  runtime::Renewal::process().look();
  EXPECT_TRUE(is_tuned(kernel, 3000));
}

class NewResultsOfAFirstUse : public NewResults {
 protected:
  NewResultsOfAFirstUse() : NewResults("on_first_use") {
    ::setenv("TUNER_TUNE_TIME", "600", 1);  // the space ends long before, on any machine
  }
};

TEST_F(NewResultsOfAFirstUse, AreLookedForAsSoonAsTheTuningOfAnotherProblemIsOver) {
  const Kernel kernel = kernel_named("tellsLater", kTells);
  float y = -1;
  {
    const runtime::FirstUse other(runtime::ServedDevice::of(kHostContext).first_use, "another problem");
    for (int call = 0; call < 2; ++call) kernel.launch(nullptr, {1}, &y);
    EXPECT_EQ(y, 0) << "the default, for now";
  }
  kernel.launch(nullptr, {1}, &y);
  EXPECT_EQ(y, 1);
}

}  // namespace
}  // namespace tuner
