// Several devices that share a session's work, with workers that are scripted (scripted_worker.cpp); and workers of
// another host.

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tests/support/wait_until.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr const char* lanes_kernel = R"(
#pragma tuner kernel      scripted
#pragma tuner size        n : int = 64
#pragma tuner parameter   does = well fast meets_others poisons is_killed_once falls_off
#pragma tuner parameter   copy = 1..50
#pragma tuner in          a[n] : float
#pragma tuner out         c[n] : float
#pragma tuner block       32
#pragma tuner grid        ceil_div(n, 32)
#pragma tuner arguments   a, c, n
#pragma tuner instantiate scripted<Does::does, copy>
#pragma tuner reference   reference
)";

class LanesTest : public ::testing::Test {
 protected:
  LanesTest() : spec(parse_kernel_file(lanes_kernel, "scripted.cu")) {
    options.program = std::string(TUNER_BINARY_DIR) + "/bin/scripted_worker";
    options.backend = "scripted";
    options.devices = {0, 1};
    options.compile_workers = 1;
    options.warn = [this](std::string_view text) {
      const std::lock_guard lock(mutex);
      warnings.emplace_back(text);
    };
    ::setenv("TUNER_TEST_MARKER", (folder / "ran").c_str(), 1);
    ::unsetenv("TUNER_TEST_WORKER");
  }
  ~LanesTest() override { ::unsetenv("TUNER_TEST_WORKER"); }

  static Configuration one(const std::string& does, int copy) {
    return Configuration{{"does", does}, {"copy", std::int64_t{copy}}};
  }

  static std::map<Configuration, Trial> evaluate(Evaluator& evaluator, const std::vector<Configuration>& all) {
    for (const Configuration& configuration : all) evaluator.submit(configuration, 0);
    std::map<Configuration, Trial> trials;
    while (evaluator.in_flight() > 0) {
      Trial trial = evaluator.next();
      EXPECT_FALSE(trials.contains(trial.configuration)) << trial.configuration.text() << " was answered twice";
      trials[trial.configuration] = std::move(trial);
    }
    return trials;
  }

  /// Ends once both lanes have run something.
  static void meet(Evaluator& evaluator) {
    (void)evaluate(evaluator, {one("meets_others", 1), one("meets_others", 2)});
  }
  /// Ends once a lane was given up.
  void wait_for_a_loss() {
    ASSERT_TRUE(testing::wait_until([this] {
      const std::lock_guard lock(mutex);
      return !warnings.empty();
    }));
  }

  testing::TemporaryFolder folder;
  KernelSpec spec;
  IsolatedOptions options;
  std::mutex mutex;
  std::vector<std::string> warnings;
};

TEST_F(LanesTest, RunConfigurationsAtTheSameTime) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto trials = evaluate(evaluator, {one("meets_others", 1), one("meets_others", 2)});
  std::set<int> lanes;
  for (const auto& [configuration, trial] : trials) {
    EXPECT_EQ(kind(trial.outcome), "ok") << message(trial.outcome);
    lanes.insert(trial.lane);
  }
  EXPECT_EQ(lanes, (std::set<int>{1, 2}));
  const auto reports = evaluator.lanes();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "GPU 0");
  EXPECT_EQ(reports[1].name, "GPU 1");
  EXPECT_EQ(reports[0].trials + reports[1].trials, 2u);
}

TEST_F(LanesTest, AreNotNamedWhereThereIsOne) {
  options.devices = {1};
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto trials = evaluate(evaluator, {one("well", 1)});
  EXPECT_EQ(trials.at(one("well", 1)).lane, 0);
  EXPECT_TRUE(evaluator.lanes().empty());
}

TEST_F(LanesTest, MeasureFinalistsEachAndOneOfThemDecides) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  meet(evaluator);
  const std::vector<Configuration> finalists{one("fast", 1), one("well", 2)};
  const std::vector<Trial> trials = evaluator.remeasure(finalists);
  ASSERT_EQ(trials.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(trials[i].configuration, finalists[i]);
    EXPECT_EQ(trials[i].lane, 1);
    ASSERT_NE(trials[i].measurement(), nullptr);
  }
  EXPECT_EQ(trials[0].measurement()->median_ns, 100);
  const auto reports = evaluator.lanes();
  EXPECT_EQ(reports[0].offset, 0);
  EXPECT_NEAR(reports[1].offset, 1.01, 1e-9);
  EXPECT_NEAR(reports[1].offset_low, 1.01, 1e-9);
}

TEST_F(LanesTest, BelieveNothingOfFinalistsThatADeviceWasLostWith) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  meet(evaluator);
  const Configuration finalists[] = {one("fast", 1), one("falls_off", 2)};
  for (const Trial& trial : evaluator.remeasure(finalists)) {
    EXPECT_EQ(kind(trial.outcome), "ok") << "it is device 1 that is to blame";
    EXPECT_FALSE(trial.crashed);
    EXPECT_EQ(trial.lane, 1);
  }
  EXPECT_THAT(evaluator.lanes().at(1).lost, HasSubstr("no CUDA-capable device"));
}

TEST_F(LanesTest, TryOnAnotherDeviceWhatOneWasLostWith) {
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  meet(evaluator);
  std::vector<Configuration> all;
  for (int copy = 1; copy <= 10; ++copy) all.push_back(one("falls_off", copy));
  for (const auto& [configuration, trial] : evaluate(evaluator, all)) {
    EXPECT_EQ(kind(trial.outcome), "ok") << "it is device 1 that is to blame";
    EXPECT_FALSE(trial.crashed);
    EXPECT_EQ(trial.lane, 1);
  }
  wait_for_a_loss();
  EXPECT_THAT(evaluator.lanes().at(1).lost, HasSubstr("no CUDA-capable device"));
}

TEST_F(LanesTest, TellWhatTheLastDeviceWasLostWith) {
  options.devices = {1};
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(one("falls_off", 1), 0);
  evaluator.submit(one("well", 1), 0);
  const Trial trial = evaluator.next();
  EXPECT_EQ(trial.configuration, one("falls_off", 1));
  EXPECT_TRUE(trial.crashed);
  EXPECT_THROW(evaluator.next(), WorkerError);
}

TEST_F(LanesTest, TellWhatEachDeviceWasLostWithWhereAllAre) {
  options.devices = {1, 1, 1};
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  (void)evaluate(evaluator, {one("well", 1)});
  const std::vector<Configuration> all{one("falls_off", 1), one("falls_off", 2), one("falls_off", 3)};
  for (const Configuration& configuration : all) evaluator.submit(configuration, 0);
  std::set<Configuration> told;
  try {
    while (evaluator.in_flight() > 0) {
      const Trial trial = evaluator.next();
      EXPECT_TRUE(trial.crashed);
      EXPECT_TRUE(told.insert(trial.configuration).second) << trial.configuration.text() << " was answered twice";
    }
  } catch (const WorkerError&) {
  }
  EXPECT_FALSE(told.empty());
}

TEST_F(LanesTest, TellOfFinalistsThatTheLastDeviceWasLostWith) {
  options.devices = {1};
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const Configuration finalists[] = {one("fast", 1), one("falls_off", 2)};
  const std::vector<Trial> trials = evaluator.remeasure(finalists);
  EXPECT_EQ(kind(trials.at(0).outcome), "ok");
  EXPECT_TRUE(trials.at(1).crashed);
}

TEST_F(LanesTest, WaitForNoWorkerWithWhatTheLastWasLostWithOnceItIsWithdrawn) {
  options.devices = {0};
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  (void)evaluate(evaluator, {one("well", 1)});
  ::setenv("TUNER_TEST_WORKER", "opens never", 1);
  const Configuration poisons[] = {one("poisons", 1)};
  evaluator.submit(poisons[0], 0);
  EXPECT_TRUE(std::holds_alternative<Compiled>(evaluator.next_event(testing::kLongestWait).value()));
  ASSERT_TRUE(testing::wait_until([&] { return std::filesystem::exists(folder / "ran.opening"); }));
  EXPECT_FALSE(evaluator.next_event(std::chrono::milliseconds(0))) << "the device may be to blame";
  evaluator.withdraw(poisons);
  const std::optional<Event> event = evaluator.next_event(testing::kLongestWait);
  ASSERT_TRUE(event && std::holds_alternative<Trial>(*event));
  EXPECT_TRUE(std::get<Trial>(*event).crashed);
}

TEST_F(LanesTest, MeasureFinalistsBeforeAnyCompilerIsKnown) {
  Device known;
  known.key.backend = "scripted";
  known.key.compute_capability = 1;
  options.known_device = known;
  options.images.get = [](const CompileRequest&, std::string_view) { return std::optional<Image>(); };
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const Configuration finalists[] = {one("fast", 1)};
  EXPECT_EQ(kind(evaluator.remeasure(finalists).at(0).outcome), "ok");
}

TEST_F(LanesTest, GoOnWithoutOneWhoseDeviceCannotBeOpened) {
  ::setenv("TUNER_TEST_WORKER", "no device 0", 1);
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  const auto trials = evaluate(evaluator, {one("well", 1), one("well", 2), one("fast", 1)});
  wait_for_a_loss();
  for (const auto& [configuration, trial] : trials) {
    EXPECT_EQ(kind(trial.outcome), "ok");
    EXPECT_EQ(trial.lane, 2);
  }
  const Configuration finalists[] = {one("fast", 1)};
  EXPECT_EQ(evaluator.remeasure(finalists).at(0).lane, 2);
  EXPECT_THAT(evaluator.lanes().at(0).lost, HasSubstr("no CUDA-capable device is detected"));
  EXPECT_TRUE(evaluator.lanes().at(0).unusable);
  EXPECT_TRUE(evaluator.lanes().at(1).lost.empty());
  const std::lock_guard lock(mutex);
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("GPU 0 is given up"), HasSubstr("no CUDA-capable device"))));
}

TEST_F(LanesTest, GoOnWithoutOneWhoseDeviceAloneCannotRunTheReference) {
  for (const char* mode : {"bad reference on 0", "reference crashes on 0"}) {
    ::setenv("TUNER_TEST_WORKER", mode, 1);
    {
      IsolatedEvaluator evaluator(spec, {}, {}, options);
      for (const auto& [configuration, trial] : evaluate(evaluator, {one("well", 1), one("well", 2)})) {
        EXPECT_EQ(kind(trial.outcome), "ok");
        EXPECT_EQ(trial.lane, 2);
      }
      const Configuration finalists[] = {one("well", 1)};
      EXPECT_EQ(evaluator.remeasure(finalists).at(0).lane, 2);
      wait_for_a_loss();
      EXPECT_THAT(evaluator.lanes().at(0).lost, HasSubstr("reference")) << mode;
      EXPECT_FALSE(evaluator.lanes().at(0).unusable) << "for another kernel it may do";
    }
    const std::lock_guard lock(mutex);
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("GPU 0 is given up"))) << mode;
    warnings.clear();
  }
}

TEST_F(LanesTest, TellOfAKernelAtFaultOnce) {
  ::setenv("TUNER_TEST_WORKER", "bad reference", 1);
  {
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluator.submit(one("well", 1), 0);
    EXPECT_THAT(error_of([&] { evaluator.next(); }), HasSubstr("the reference gives NaN"));
  }
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(LanesTest, DoWithoutTheCompilersOfAHostThatCannotStartThem) {
  options.hosts = {{"rank 1 (node2)", {}, 2, []() -> std::unique_ptr<worker::WorkerLink> {
                      return std::make_unique<worker::WorkerProcess>("/bin/false");
                    }}};
  {
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    for (const auto& [configuration, trial] : evaluate(evaluator, {one("well", 1), one("well", 2)}))
      EXPECT_EQ(kind(trial.outcome), "ok");
    ASSERT_TRUE(testing::wait_until([&] {
      const std::lock_guard lock(mutex);
      return !warnings.empty();
    }));
  }
  EXPECT_THAT(warnings,
              ElementsAre(AllOf(HasSubstr("compilers of rank 1 (node2) are given up"), HasSubstr("status 1"))));
}

TEST_F(LanesTest, EndTheSessionOnceNoneIsLeft) {
  ::setenv("TUNER_TEST_WORKER", "no device", 1);
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(one("well", 1), 0);
  EXPECT_THROW(evaluator.next(), WorkerError);
}

TEST_F(LanesTest, AreRefusedWhereDevicesAreOfDifferentKinds) {
  ::setenv("TUNER_TEST_WORKER", "of all kinds", 1);
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(one("meets_others", 1), 0);  // not done before the other device has said what it is
  EXPECT_THAT(error_of([&] { evaluator.next(); }), AllOf(HasSubstr("cc=0.1"), HasSubstr("cc=0.2")));
}

TEST_F(LanesTest, LoseNothingWhenWorkersAreKilledFiftyTimes) {
  std::vector<Configuration> all{one("fast", 1)};
  for (int copy = 1; copy <= 50; ++copy) all.push_back(one("is_killed_once", copy));
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  for (const auto& [configuration, trial] : evaluate(evaluator, all))
    EXPECT_EQ(kind(trial.outcome), "ok") << configuration.text() << ": " << message(trial.outcome);
  for (const LaneReport& lane : evaluator.lanes()) EXPECT_TRUE(lane.lost.empty()) << lane.lost;
}

TEST_F(LanesTest, LoseOneTrialForEachFaultOfADevice) {
  std::vector<Configuration> all;
  for (int copy = 1; copy <= 50; ++copy) {
    all.push_back(one("poisons", copy));
    all.push_back(one("well", copy));
  }
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  for (const auto& [configuration, trial] : evaluate(evaluator, all))
    EXPECT_EQ(kind(trial.outcome), configuration.find("does")->string() == "well" ? "ok" : "launch");
}

constexpr const char* kScale = R"(
#include "factor.h"
#pragma tuner kernel scale
#pragma tuner size n = 64
#pragma tuner parameter block = 32 64
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner fill x = file "../data/x.raw"
#pragma tuner reference file y = "../data/y.raw"
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, y, n
#pragma tuner instantiate scale<block>
template <int block> __global__ void scale(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < n) y[i] = factor() * x[i];
}
)";

std::string floats(float each) {
  std::string bytes;
  for (int i = 0; i < 64; ++i) {
    const float value = each * static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

class OtherHostTest : public ::testing::Test {
 protected:
  /// A kernel that multiplies by 3, with its numbers, and \p factor times them as what is right.
  void write_app(float factor) {
    folder_.write("app/kernels/scale.cu", kScale);
    folder_.write("app/kernels/factor.h", "__device__ float factor() { return 3; }\n");
    folder_.write("app/data/x.raw", floats(1));
    folder_.write("app/data/y.raw", floats(factor));
  }

  /// Of a kernel whose files are gone when the first worker of the other host starts; this one has no workers.
  Trial evaluated(const MeasureOptions& measure = {}) {
    const KernelSpec spec = read_kernel_file(folder_.path() / "app/kernels/scale.cu");
    IsolatedOptions options;
    options.program = "/nowhere/tuner-worker";
    options.backend = "host";
    options.devices = {0};
    options.compile_workers = 1;
    options.hosts.push_back({"elsewhere", {0}, 1, [this] {
                               fs::remove_all(folder_.path() / "app");
                               return std::make_unique<worker::WorkerProcess>(fs::path(TUNER_BINARY_DIR) /
                                                                              "bin/tuner-worker");
                             }});
    IsolatedEvaluator evaluator(spec, {}, measure, options);
    evaluator.submit(Configuration{{"block", std::int64_t{32}}}, 0);
    Trial trial = evaluator.next();
    EXPECT_FALSE(fs::exists(folder_.path() / "app"));
    return trial;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(OtherHostTest, HasTheHeadersAndTheNumbersOfTheKernel) {
  write_app(3);
  const Trial trial = evaluated();
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
}

TEST_F(OtherHostTest, ComparesWithTheNumbersThatItWasGiven) {
  write_app(2);
  EXPECT_TRUE(std::holds_alternative<WrongResult>(evaluated().outcome));
}

}  // namespace
}  // namespace tuner
