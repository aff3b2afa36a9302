// Several problems and several devices. No GPU: the devices are names, or the CPU takes part several times.

#include <tuner/cli/commands/tune_command.hpp>

#include <atomic>
#include <filesystem>
#include <mutex>

#include <nlohmann/json.hpp>

#include <cache/file/disk.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tests/support/wait_until.hpp>
#include <tuner/cli/input/options.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/error.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

constexpr const char* kShift = R"(
#pragma tuner kernel      shift
#pragma tuner size        n : int = 4096
#pragma tuner parameter   threads = 32 64
#pragma tuner in          a[n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, n
#pragma tuner grid        ceil_div(n, threads)
#pragma tuner block       threads
#pragma tuner instantiate shift<1>
#pragma tuner reference   shift<1>
#pragma tuner grid        ceil_div(n, 64)
#pragma tuner block       64
#pragma tuner default     threads=64
template <int by>
__global__ void shift(const int* a, int* c, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + by;
}
)";

DeviceChoice kind(const std::string& name, int sm_count) {
  Device device;
  device.name = name;
  device.key.backend = "cuda";
  device.key.sm_count = sm_count;
  return {device, "selected with --device"};
}

std::int64_t n_of(const TuneJob& job) { return job.size.sizes.at("n"); }

Trial trial_of(const char* configuration, double ns) {
  Measurement measured;
  measured.median_ns = measured.low_ns = measured.high_ns = ns;
  measured.samples_ns = {ns};
  Trial trial;
  trial.configuration = Configuration::parse(configuration);
  trial.outcome = measured;
  trial.verified = true;
  return trial;
}

/// A stored result, twice as fast as the default. \p lost: the lanes that lost their devices.
ProblemResult found(double ns, std::vector<std::size_t> lost = {}) {
  SessionResult session;
  session.trials = {trial_of("threads=32", ns), trial_of("threads=64", 2 * ns)};
  session.best = session.trials.front();
  session.lanes.resize(2);
  for (const std::size_t lane : lost) session.lanes[lane].unusable = true;
  ProblemResult result;
  result.answer.found = std::move(session);
  result.is_stored = true;
  return result;
}

/// A list of problems on GPUs 0 to \p devices - 1, and what is printed about it.
struct OnGpus {
  /// The sizes are 1 to \p count.
  OnGpus(std::size_t count, int devices, const TuneProblem& tune, const std::function<void(TuneJobs&)>& change = {}) {
    TuneJobs jobs{{}, {}, "problems"};
    jobs.request.devices = kind("Large", 132);
    for (int i = 1; i < devices; ++i) jobs.request.devices.more.push_back(i);
    TuneJob job;
    job.spec = std::make_shared<const KernelSpec>(parse_kernel_file(kShift, "shift.cu"));
    for (std::size_t i = 1; i <= count; ++i) {
      job.size = complete(*job.spec, {{{"n", static_cast<std::int64_t>(i)}}, {}});
      jobs.request.jobs.push_back(job);
    }
    if (change) change(jobs);
    jobs.request.is_one_kernel = jobs.list.empty();
    CaptureStdout();
    CaptureStderr();
    Output output;
    complaint = error_of([&] {
      const TuneOutcome outcome = tune_jobs(jobs, stop, output, tune);
      code = outcome.code;
      document = outcome.document;
    });
    err = GetCapturedStderr();
    out = GetCapturedStdout();
  }

  static inline std::atomic<bool> stop = false;
  int code = -1;
  Json document;
  std::string out, err, complaint;
};

TEST(TuneRun, KeepsAllDevicesBusyWithAProblemEach) {
  std::mutex mutex;
  std::multiset<std::int64_t> tuned;
  std::set<int> devices;
  std::atomic<int> begun = 0;
  const OnGpus run(8, 4, [&](const TuneJob& job, Seat& seat, ProblemListener&) {
    ++begun;
    EXPECT_TRUE(testing::wait_until([&] { return begun >= 4; })) << "one waits for the other";
    const std::lock_guard lock(mutex);
    tuned.insert(n_of(job));
    if (n_of(job) <= 4) {
      EXPECT_TRUE(job.tuning.more_devices.empty());
      EXPECT_TRUE(devices.insert(seat.device.index).second) << "two problems on one device";
    }
    EXPECT_GE(job.tuning.compile_workers, 1u);
    return found(1000);
  });
  EXPECT_EQ(run.code, kDone);
  EXPECT_EQ(tuned, (std::multiset<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8})) << "each once";
  EXPECT_EQ(devices, (std::set<int>{0, 1, 2, 3}));
  EXPECT_THAT(run.err, HasSubstr("8 of 8 done"));
}

TEST(TuneRun, GivesAllDevicesToTheOnlyProblem) {
  for (const char* list : {"problems", ""})
    OnGpus(
        1, 3,
        [](const TuneJob& job, Seat&, ProblemListener&) {
          EXPECT_EQ(job.tuning.more_devices.size(), 2u);
          EXPECT_EQ(job.tuning.compile_workers, 0u) << "all cores";
          return found(1000);
        },
        [&](TuneJobs& jobs) { jobs.list = list; });
}

TEST(TuneRun, GoesThroughTheListInItsOrderOnOneDevice) {
  std::vector<std::int64_t> order;
  const OnGpus run(3, 1, [&](const TuneJob& job, Seat&, ProblemListener&) {
    order.push_back(n_of(job));
    return found(1000);
  });
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_THAT(run.err, HasSubstr("problem   2 of 3: shift n=2\n"));
}

TEST(TuneRun, EndsWithALineForEachProblemInTheOrderOfTheList) {
  const OnGpus run(2, 2,
                   [&](const TuneJob& job, Seat&, ProblemListener&) { return found(n_of(job) == 1 ? 2000 : 8000); });
  EXPECT_THAT(run.out, AllOf(HasSubstr("shift  n=1\nbest  threads=32\n"), HasSubstr("shift  n=2\nbest  threads=32\n"),
                             HasSubstr("  1  shift   n=1      2.00 us      2.00  threads=32\n"
                                       "  2  shift   n=2      8.00 us      2.00  threads=32\n")));
}

TEST(TuneRun, TunesTheProblemOfALostDeviceOnAnother) {
  std::atomic<int> begun = 0, on_lost = 0;
  const OnGpus run(4, 2, [&](const TuneJob&, Seat& seat, ProblemListener&) {
    ++begun;
    EXPECT_TRUE(testing::wait_until([&] { return begun >= 2; }));
    if (seat.device.index == 0) {
      ++on_lost;
      throw DeviceLostError("it fell off the bus");
    }
    return found(1000);
  });
  EXPECT_EQ(run.code, kDone) << "nothing stays untuned";
  EXPECT_EQ(on_lost, 1) << "the device is not used again";
  EXPECT_THAT(run.err, AllOf(HasSubstr("GPU 0 is not used any more: it fell off the bus"),
                             HasSubstr("shift n=1: tuned again on another device"), HasSubstr("4 of 4 done")));
}

TEST(TuneRun, GivesAProblemUpThatLosesTwoDevices) {
  std::atomic<int> tries = 0;
  const OnGpus run(3, 3, [&](const TuneJob& job, Seat&, ProblemListener&) {
    if (n_of(job) != 2) return found(1000);
    ++tries;
    throw DeviceLostError("it fell off the bus");
  });
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(run.code, kFailed);
  EXPECT_THAT(run.err, AllOf(HasSubstr("shift n=2: not tuned, it lost its devices twice"), HasSubstr("2 of 3 done")));
}

TEST(TuneRun, NamesTheProblemsThatStayUntunedWhenNoDeviceIsLeft) {
  const OnGpus run(4, 1,
                   [](const TuneJob&, Seat&, ProblemListener&) -> ProblemResult { throw DeviceLostError("gone"); });
  EXPECT_EQ(run.code, kFailed);
  EXPECT_THAT(run.err, HasSubstr("GPU 0 is not used any more: gone"));
  EXPECT_THAT(run.out, HasSubstr("4  shift   n=4      not tuned: no device is left"));
}

TEST(TuneRun, DoesNotUseADeviceAgainThatASessionGaveUp) {
  std::atomic<int> begun = 0;
  std::atomic<bool> was_lost = false;
  const OnGpus run(5, 2, [&](const TuneJob&, Seat& seat, ProblemListener&) {
    ++begun;
    EXPECT_TRUE(testing::wait_until([&] { return begun >= 2; }));
    if (seat.device.index != 1) return found(1000);
    EXPECT_FALSE(was_lost.exchange(true));
    return found(1000, {0});  // the first of the devices of this problem
  });
  EXPECT_EQ(run.code, kDone);
  EXPECT_THAT(run.err, AllOf(HasSubstr("GPU 1 is not used any more"), HasSubstr("5 of 5 done")));
}

TEST(TuneRun, AFailureIsOneProblemsAlone) {
  const auto tune = [](const TuneJob& job, Seat&, ProblemListener&) {
    if (n_of(job) == 2) throw Error("shift.cu:3: the reference fails");
    return found(1000);
  };
  const OnGpus list(3, 2, tune, [](TuneJobs& jobs) { jobs.arguments.json = true; });
  EXPECT_EQ(list.code, kFailed);
  EXPECT_THAT(list.err, HasSubstr("tune: shift n=2: shift.cu:3: the reference fails"));
  const Json& problems = list.document["problems"];
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0]["results"][0]["problem"]["sizes"]["n"], 1);
  EXPECT_EQ(problems[1]["error"], "shift.cu:3: the reference fails");
  EXPECT_EQ(problems[2]["results"][0]["problem"]["sizes"]["n"], 3);
  for (const int devices : {1, 2}) {
    const OnGpus kernel(3, devices, tune, [](TuneJobs& jobs) { jobs.arguments.json = true, jobs.list = ""; });
    EXPECT_EQ(kernel.code, kFailed);
    EXPECT_EQ(kernel.document["results"].size(), 2u);
    EXPECT_EQ(kernel.document["failed"][0]["error"], "shift.cu:3: the reference fails");
  }
}

TEST(TuneRun, AFailureThatConcernsAllProblemsOfAKernelEndsThem) {
  int begun = 0;
  const OnGpus run(
      3, 1,
      [&](const TuneJob&, Seat&, ProblemListener&) -> ProblemResult {
        ++begun;
        throw Error(ErrorCode::cache, "nothing is added to a frozen file");
      },
      [](TuneJobs& jobs) { jobs.list = ""; });
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(run.complaint, "nothing is added to a frozen file");
  EXPECT_THAT(run.err, Not(HasSubstr("frozen"))) << "the program prints it";
}

TEST(TuneRun, BeginsNothingMoreOnceItIsInterrupted) {
  std::atomic<int> begun = 0;
  const OnGpus run(5, 2, [&](const TuneJob&, Seat&, ProblemListener&) {
    ++begun;
    EXPECT_TRUE(testing::wait_until([&] { return begun >= 2; }));
    OnGpus::stop = true;
    return found(1000);
  });
  OnGpus::stop = false;
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(run.code, 130);
  EXPECT_THAT(run.err, HasSubstr("continues from here"));
  EXPECT_THAT(run.out, HasSubstr("interrupted before it began"));
}

TEST(TuneRun, GivesTheDocumentWhereATableCannotBeWritten) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "tables");
  const OnGpus run(
      1, 1,
      [&](const TuneJob&, Seat&, ProblemListener&) {
        std::filesystem::remove(folder / "tables");
        return found(1000);
      },
      [&](TuneJobs& jobs) {
        jobs.list = "";
        jobs.arguments.json = true;
        jobs.arguments.sweep.csv = folder / "tables/rows.csv";
      });
  EXPECT_EQ(run.complaint, "no error");
  EXPECT_EQ(run.code, kFailed);
  EXPECT_THAT(run.err, HasSubstr("rows.csv"));
  EXPECT_EQ(run.document["results"][0]["problem"]["sizes"]["n"], 1);
}

/// The CPU as two devices, each with its own run worker.
class TuneRunOnTheHost : public ::testing::Test {
 protected:
  TuneRunOnTheHost() : host_(choose_device("host")) {
    host_.more = {host_.device.index};
    request_.database = folder_ / "wisdom.db";
    request_.json = true;
    request_.tuning.session.strategy = "exhaustive";
    request_.tuning.session.budget.trials = 2;
    request_.tuning.measure.min_samples = 3;
  }

  std::string kernel() const {
    const std::string path = folder_ / "shift.cu";
    cache::write_text(path, kShift);
    return path;
  }
  Json tune(const TuneArguments& request) {
    Output output(true, Output::Text::dropped);
    TuneOutcome outcome = tune_jobs(make_jobs(request, host_, output), OnGpus::stop, output);
    EXPECT_EQ(outcome.code, kDone);
    return std::move(outcome.document);
  }
  /// --problems of \p list.
  Json tune(const std::string& list) {
    TuneArguments all = request_;
    all.what.list = parse_problem_list(list, "list.txt");
    return tune(all);
  }

  const testing::TemporaryFolder folder_;
  DeviceChoice host_;
  TuneArguments request_;
};

TEST_F(TuneRunOnTheHost, TunesEachProblemOnceIntoOneDatabaseAndKnowsThemThen) {
  const std::string list = "--kernel " + kernel() + " --size n=1000;n=2000\n--kernel " + kernel() +
                           " --size n=2000;n=3000 --isolation none\n";
  const Json first = tune(list)["problems"];
  ASSERT_EQ(first.size(), 3u) << "what is named twice is tuned once";
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Json& result = first[i]["results"][0];
    EXPECT_EQ(result["problem"]["sizes"]["n"], 1000 * (i + 1));
    EXPECT_FALSE(result["from_cache"]);
    EXPECT_EQ(result["trials"].size(), 2u);
    EXPECT_TRUE(result["best"]["verified"]);
  }
  const Json again = tune(list)["problems"];
  for (const Json& one : again) EXPECT_TRUE(one["results"][0]["from_cache"]);
}

TEST_F(TuneRunOnTheHost, NotesOfAKernelAreThoseOfItsFirstProblem) {
  std::string text = kShift;
  text.insert(text.find("#pragma tuner parameter"), "#pragma tuner size m = 1\n");
  request_.what.kernel = folder_ / "sizes.cu";
  cache::write_text(request_.what.kernel, text);
  request_.what.problems.sizes = {"n=1000;m=2"};
  Output output(true, Output::Text::dropped);
  const TuneJobs jobs = make_jobs(request_, host_, output);
  ASSERT_EQ(jobs.request.jobs.size(), 2u);
  EXPECT_EQ(jobs.request.jobs[0].notes.size(), 1u);
  EXPECT_TRUE(jobs.request.jobs[1].notes.empty());
}

}  // namespace
}  // namespace tuner::cli
