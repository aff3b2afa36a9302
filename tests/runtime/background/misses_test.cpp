// What calls without a result leave in the user's database.

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <cache/query/browse.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/runtime/background/misses.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/tuner.hpp>

#include <tests/support/child_process.hpp>
#include <tests/support/stored_tuning.hpp>

#include <tests/runtime/kernels.hpp>
#include <tests/runtime/served_backend.hpp>
#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

using testing::kernel_named;

class ServedMisses : public testing::ServingEnvironment {
 protected:
  ServedMisses() : ServingEnvironment("host", "never") {}
  ~ServedMisses() override { ::unsetenv("TUNER_MISSES"); }

  void launch(const Kernel& kernel, std::int64_t n) { kernel.launch(nullptr, {n}, x_.data(), 2, y_.data()); }

  static std::vector<cache::MissRecord> remembered(const std::string& kernel) {
    runtime::MissLog::process().flush(runtime::Serving::process().terms().wisdom);
    cache::Database database = cache::Database::open_read_only(testing::cache_folder() / "wisdom.db");
    return cache::misses(database, {.kernel = kernel});
  }

  std::vector<float> x_ = std::vector<float>(4000, 1.0f), y_ = x_;
};

TEST_F(ServedMisses, AreCountedBySizeClass) {
  const Kernel kernel = kernel_named("counted", testing::kScale);
  for (int i = 0; i < 5; ++i) launch(kernel, 1000);
  launch(kernel, 1010);
  launch(kernel, 2000);
  const auto all = remembered("counted");
  ASSERT_EQ(all.size(), 2u);
  const cache::MissRecord& one = all[all[0].calls == 6 ? 0 : 1];
  EXPECT_EQ(one.calls, 6);
  EXPECT_EQ(one.problem.choices, "T=float");
  EXPECT_EQ(one.problem.sizes.at("n"), 1000) << "the first of its class";
  EXPECT_EQ(one.served, "default");
  EXPECT_GT(one.each_ns, 0);
  EXPECT_EQ(one.file, "") << "its text is in this program alone";
  EXPECT_THAT(one.device_key, HasSubstr("host"));
}

TEST_F(ServedMisses, AreNoneOfAKernelWithASingleConfiguration) {
  const Kernel kernel =
      kernel_named("single", testing::replaced(testing::kScale, "parameter block = 32 64", "parameter block = 32"));
  launch(kernel, 1000);
  EXPECT_THAT(remembered("single"), IsEmpty());
}

TEST_F(ServedMisses, AreWrittenOnce) {
  const Kernel kernel = kernel_named("once", testing::kScale);
  launch(kernel, 1000);
  EXPECT_EQ(remembered("once").at(0).calls, 1);
  EXPECT_EQ(remembered("once").at(0).calls, 1);
  launch(kernel, 1000);
  EXPECT_EQ(remembered("once").at(0).calls, 2);
}

TEST_F(ServedMisses, NameTheFileOfTheKernel) {
  const auto file = testing::cache_folder() / "folder" / ".." / "named.cu";
  std::filesystem::create_directories(testing::cache_folder() / "folder");
  testing::write_file(file, testing::replaced(testing::kScale, "NAME", "named"));
  launch(Kernel::from_file(file.string()), 1000);
  EXPECT_EQ(remembered("named").at(0).file, testing::cache_folder() / "named.cu");
  const std::vector<int> values(1000, 1);
  EXPECT_EQ(reduce(values.data(), values.size()), 1000);
  EXPECT_EQ(remembered("reduce").at(0).file, "reduce");
}

TEST_F(ServedMisses, AreNoneWhereTheSizeClassIsTuned) {
  const Kernel kernel = kernel_named("tuned", testing::kScale);
  launch(kernel, 1000);
  TuneOptions options;
  options.trials = 1;
  tune(kernel, {1000}, {}, options);
  EXPECT_TRUE(remembered("tuned").empty()) << "what was missed before is known by now";
  launch(kernel, 1000);
  launch(kernel, 1010);
  launch(kernel, 0);
  EXPECT_TRUE(remembered("tuned").empty());
  launch(kernel, 1500);
  launch(kernel, 4000);
  const auto all = remembered("tuned");
  ASSERT_EQ(all.size(), 2u);
  const bool sorted = all[0].problem.sizes.at("n") == 1500;
  EXPECT_EQ(all[sorted ? 0 : 1].served, "nearest size");
  EXPECT_NE(all[sorted ? 1 : 0].served, "nearest size");
}

TEST_F(ServedMisses, AreNoneWhereARuleChoosesWhatExplainNames) {
  const Kernel kernel = testing::kernel_of_blocks("ruled", R"(#pragma tuner out y[n] : float
#pragma tuner default block=32
#pragma tuner arguments y
#pragma tuner instantiate ruled
#pragma tuner reference default
extern "C" __global__ void ruled(float* y) { if (blockIdx.x == 0) y[0] = blockDim.x; }
)");
  {
    const std::string rule = "n=100..100000; n<2500: block=32; else: block=64; between 0.01 0 0.02 0.03 5";
    cache::Database database = cache::Database::open_user(testing::cache_folder() / "wisdom.db");
    for (const std::int64_t n : {100, 100'000}) {
      const ProblemSize size = complete(kernel.spec(), {{{"n", n}}, {}});
      testing::store_best(database, context_of(kernel.spec(), size, choose_device("host").device, {}),
                          n < 2500 ? "block=32" : "block=64", 1000, rule);
    }
  }
  for (const std::int64_t n : {1000, 2550, 3000}) {
    const bool is_below = n < 3000;  // the class of 2550 begins at 2304
    kernel.launch(nullptr, {n}, y_.data());
    EXPECT_EQ(y_[0], is_below ? 32 : 64);
    EXPECT_THAT(kernel.explain({n}), AllOf(HasSubstr(is_below ? "block=32" : "block=64"), HasSubstr("the rule"),
                                           HasSubstr(is_below ? "(n<2500)" : "(else)")));
  }
  EXPECT_TRUE(remembered("ruled").empty());
  kernel.launch(nullptr, {50}, y_.data());
  EXPECT_EQ(remembered("ruled").size(), 1u) << "outside of its range";
}

TEST_F(ServedMisses, CountLaunchesAlone) {
  const Kernel kernel = kernel_named("prepared", testing::kScale);
  kernel.prepare(nullptr, {1000}, x_.data(), 2, y_.data());
  (void)kernel.explain({1000});
  EXPECT_TRUE(remembered("prepared").empty());
  launch(kernel, 1000);
  EXPECT_EQ(remembered("prepared").at(0).calls, 1);
}

TEST_F(ServedMisses, AreForgottenAtOnceWhereTheUserWantsNone) {
  ::setenv("TUNER_MISSES", "never", 1);
  const Kernel kernel = kernel_named("unwanted", testing::kScale);
  launch(kernel, 1000);
  EXPECT_TRUE(remembered("unwanted").empty());
  ::setenv("TUNER_MISSES", "sometimes", 1);
  EXPECT_THAT(error_of([&] { launch(kernel, 2000); }), HasSubstr("it is 'remember' or 'never'"));
}

TEST_F(ServedMisses, AreWrittenSoonAndStayHoweverTheProcessEnds) {
  for (const char* how : {"", " killed"}) {
    const testing::TemporaryFolder folder;
    const std::string command =
        "TUNER_MISSES=remember TUNER_CACHE_DIR=" + folder.path().string() + " " EXIT_PROGRAM + how;
    ASSERT_EQ(std::system(command.c_str()), 0);
    cache::Database database = cache::Database::open_read_only(folder / "wisdom.db");
    const auto all = cache::misses(database);
    ASSERT_EQ(all.size(), 1u) << "what main() called";
    EXPECT_EQ(all[0].kernel.name, "reduce");
    EXPECT_GE(all[0].calls, 1) << "a slow thread counts the call of a destructor, too";
  }
}

TEST_F(ServedMisses, LetAForkedChildEndWhileAnotherThreadWritesThem) {
  const Kernel kernel = kernel_named("forked", testing::kScale);
  launch(kernel, 1000);
  Wisdom& wisdom = runtime::Serving::process().terms().wisdom;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    while (!done) {
      launch(kernel, 1000);
      runtime::MissLog::process().flush(wisdom);
    }
  });
  const int ended = testing::children_that_end(30, [&] {
    runtime::MissLog::process().flush(wisdom);  // as at exit()
    return true;
  });
  EXPECT_EQ(ended, 30);
  done = true;
  writer.join();
}

/// Shows what it is told to, and whether it was asked.
struct FakeStopwatch final : Stopwatch {
  explicit FakeStopwatch(std::optional<double>& reading) : shown(reading) {}
  void start(void*) noexcept override { ++starts; }
  void stop(void*) noexcept override {}
  std::optional<double> elapsed_ns() noexcept override { return shown; }
  std::optional<double>& shown;
  static inline int starts = 0;
};

struct TimedBackend : testing::ServedBackend {
  std::unique_ptr<Stopwatch> stopwatch() override { return std::make_unique<FakeStopwatch>(reading); }
  std::optional<double> reading;
};

TEST(MissCounter, TimesAFewOfTheFirstLaunchesAndKeepsTheShortest) {
  TimedBackend backend;
  runtime::Miss miss;
  runtime::MissCounter counter(miss, backend);
  const auto launch = [&] {
    const bool timed = counter.count() && counter.begin(nullptr);
    if (timed) counter.end(nullptr);
    return timed;
  };
  FakeStopwatch::starts = 0;
  EXPECT_TRUE(launch());
  EXPECT_FALSE(launch()) << "the last time is not known yet";
  EXPECT_EQ(miss.each_ns, 0);
  for (const double ns : {900.0, 300.0, 500.0, 100.0, 100.0}) {
    backend.reading = ns;
    while ((miss.calls & (miss.calls + 1)) != 0) launch();
    launch();
  }
  EXPECT_EQ(miss.each_ns, 300) << "of three";
  EXPECT_LE(FakeStopwatch::starts, 3);
}

TEST(MissCounter, CountsWhatCannotBeTimed) {
  struct Broken : testing::ServedBackend {
    std::unique_ptr<Stopwatch> stopwatch() override { throw Error("no event"); }
  } backend;
  runtime::Miss miss;
  runtime::MissCounter counter(miss, backend);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(counter.count() && counter.begin(nullptr));
  EXPECT_EQ(miss.calls, 100u);
}

}  // namespace
}  // namespace tuner
