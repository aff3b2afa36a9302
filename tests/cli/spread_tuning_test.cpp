// Several problems at once on devices of one kind. No GPU: the devices are names, or the CPU takes part several times.
#include <tuner/cli/spread_tuning.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cache/exchange.hpp>

#include <tests/error_of.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/wait_until.hpp>
#include <tuner/cli/problem_list.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

using ::testing::HasSubstr;
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

/// GPUs 0 to \p count - 1.
DeviceChoice gpus(int count) {
  DeviceChoice all{{}, "asked for"};
  all.device.name = "Large";
  all.device.key.backend = "cuda";
  for (int i = 1; i < count; ++i) all.more.push_back(i);
  return all;
}

/// One for each of the sizes 1 to \p count, in units of \p unit.
std::vector<TuneJob> jobs(std::size_t count, const DeviceChoice& devices, std::int64_t unit = 1) {
  TuneJob job;
  job.spec = std::make_shared<const KernelSpec>(parse_kernel_file(kShift, "shift.cu"));
  job.devices = devices;
  std::vector<TuneJob> all;
  for (std::size_t i = 1; i <= count; ++i) {
    job.problems.list = {complete(*job.spec, {{{"n", static_cast<std::int64_t>(i) * unit}}, {}})};
    all.push_back(job);
  }
  return all;
}

std::int64_t n_of(const TuneJob& job) { return job.problems.list.front().sizes.at("n"); }

int found(TuneEvents& events, double ns, std::vector<std::size_t> lost = {}) {
  events.on_result({"threads=32", ns, 2 * ns, false, std::move(lost)});
  return kDone;
}

struct Printed {
  SpreadResult result;
  std::string out, err;
};

Printed tune(std::vector<TuneJob> all, const DeviceChoice& devices, const TuneShare& share,
             const std::atomic<bool>& stop = false) {
  CaptureStdout();
  CaptureStderr();
  Printed printed;
  TerminalEvents events;
  printed.result = tune_jobs(std::move(all), devices, stop, events, share);
  printed.err = GetCapturedStderr();
  printed.out = GetCapturedStdout();
  return printed;
}

TEST(SpreadTuning, KeepsAllDevicesBusyWithAProblemEach) {
  std::mutex mutex;
  std::multiset<std::int64_t> tuned;
  std::set<int> devices;
  std::atomic<int> begun = 0;
  const Printed run = tune(jobs(8, gpus(4)), gpus(4), [&](const TuneJob& job, TuneEvents& events, Seat&) {
    ++begun;
    EXPECT_TRUE(testing::wait_until([&] { return begun >= 4; })) << "one waits for the other";
    const std::lock_guard lock(mutex);
    tuned.insert(n_of(job));
    if (n_of(job) <= 4) {
      EXPECT_TRUE(job.devices.more.empty());
      EXPECT_TRUE(devices.insert(job.devices.device.index).second) << "two problems on one device";
    }
    EXPECT_GE(job.request.tuning.compile_workers, 1u);
    return found(events, 1000);
  });
  EXPECT_EQ(run.result.code, kDone);
  EXPECT_EQ(tuned, (std::multiset<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8})) << "each once";
  EXPECT_EQ(devices, (std::set<int>{0, 1, 2, 3}));
  EXPECT_THAT(run.err, HasSubstr("8 of 8 done"));
}

TEST(SpreadTuning, GivesAllDevicesToTheOnlyProblem) {
  tune(jobs(1, gpus(3)), gpus(3), [](const TuneJob& job, TuneEvents& events, Seat&) {
    EXPECT_EQ(job.devices.more.size(), 2u);
    EXPECT_EQ(job.request.tuning.compile_workers, 0u) << "all cores";
    return found(events, 1000);
  });
}

TEST(SpreadTuning, GoesThroughTheListInItsOrderOnOneDevice) {
  std::vector<std::int64_t> order;
  const Printed run = tune(jobs(3, gpus(1)), gpus(1), [&](const TuneJob& job, TuneEvents& events, Seat&) {
    order.push_back(n_of(job));
    return found(events, 1000);
  });
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_THAT(run.err, HasSubstr("problem   2 of 3: shift n=2\n"));
}

TEST(SpreadTuning, EndsWithALineForEachProblemInTheOrderOfTheList) {
  const Printed run = tune(jobs(2, gpus(2)), gpus(2), [&](const TuneJob& job, TuneEvents& events, Seat&) {
    events.on_text("winner of " + std::to_string(n_of(job)) + '\n');
    return found(events, n_of(job) == 1 ? 2000 : 8000);
  });
  EXPECT_THAT(run.out, HasSubstr("winner of 1\n"));
  EXPECT_THAT(run.out, HasSubstr("winner of 2\n"));
  EXPECT_THAT(run.out, HasSubstr("  1  shift   n=1      2.00 us      2.00  threads=32\n"
                                 "  2  shift   n=2      8.00 us      2.00  threads=32\n"));
}

TEST(SpreadTuning, TunesTheProblemOfALostDeviceOnAnother) {
  std::atomic<int> begun = 0, on_lost = 0;
  const Printed run = tune(jobs(4, gpus(2)), gpus(2), [&](const TuneJob& job, TuneEvents& events, Seat&) {
    ++begun;
    EXPECT_TRUE(testing::wait_until([&] { return begun >= 2; }));
    if (job.devices.device.index == 0) {
      ++on_lost;
      throw DeviceLostError("it fell off the bus");
    }
    return found(events, 1000);
  });
  EXPECT_EQ(run.result.code, kDone) << "nothing stays untuned";
  EXPECT_EQ(on_lost, 1) << "the device is not used again";
  EXPECT_THAT(run.err, HasSubstr("GPU 0 is not used any more: it fell off the bus"));
  EXPECT_THAT(run.err, HasSubstr("shift n=1: tuned again on another device"));
  EXPECT_THAT(run.err, HasSubstr("4 of 4 done"));
}

TEST(SpreadTuning, GivesAProblemUpThatLosesTwoDevices) {
  std::atomic<int> tries = 0;
  const Printed run = tune(jobs(3, gpus(3)), gpus(3), [&](const TuneJob& job, TuneEvents& events, Seat&) {
    if (n_of(job) != 2) return found(events, 1000);
    ++tries;
    throw DeviceLostError("it fell off the bus");
  });
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(run.result.code, kFailed);
  EXPECT_THAT(run.err, HasSubstr("shift n=2: not tuned, it lost its devices twice"));
  EXPECT_THAT(run.err, HasSubstr("2 of 3 done"));
}

TEST(SpreadTuning, SaysWhatStaysUntunedWhenNoDeviceIsLeft) {
  const Printed run =
      tune(jobs(4, gpus(1)), gpus(1), [](const TuneJob&, TuneEvents&, Seat&) -> int { throw DeviceLostError("gone"); });
  EXPECT_EQ(run.result.code, kFailed);
  EXPECT_THAT(run.err, HasSubstr("GPU 0 is not used any more: gone"));
  EXPECT_THAT(run.out, HasSubstr("4  shift   n=4      not tuned: no device is left"));
}

TEST(SpreadTuning, GoesOnOnTheOnlyDeviceBehindAProblemThatLosesIt) {
  const Printed run = tune(jobs(3, gpus(1)), gpus(1), [](const TuneJob& job, TuneEvents& events, Seat&) -> int {
    if (n_of(job) == 1) throw DeviceLostError("killed by signal 9");
    return found(events, 1000);
  });
  EXPECT_EQ(run.result.code, kFailed);
  EXPECT_THAT(run.err, HasSubstr("shift n=1: tuned again"));
  EXPECT_THAT(run.err, HasSubstr("2 of 3 done"));
}

TEST(SpreadTuning, DoesNotUseADeviceAgainThatASessionGaveUp) {
  std::atomic<int> begun = 0;
  std::atomic<bool> was_lost = false;
  const Printed run = tune(jobs(5, gpus(2)), gpus(2), [&](const TuneJob& job, TuneEvents& events, Seat&) {
    ++begun;
    EXPECT_TRUE(testing::wait_until([&] { return begun >= 2; }));
    if (job.devices.device.index != 1) return found(events, 1000);
    EXPECT_FALSE(was_lost.exchange(true));
    return found(events, 1000, {0});  // the first of its own
  });
  EXPECT_EQ(run.result.code, kDone);
  EXPECT_THAT(run.err, HasSubstr("GPU 1 is not used any more"));
  EXPECT_THAT(run.err, HasSubstr("5 of 5 done"));
}

TEST(SpreadTuning, AFailureIsOneProblemsAlone) {
  std::vector<TuneJob> all = jobs(3, gpus(2));
  for (TuneJob& job : all) job.request.json = true;
  const Printed run = tune(std::move(all), gpus(2), [&](const TuneJob& job, TuneEvents& events, Seat&) {
    if (n_of(job) == 2) throw Error("shift.cu:3: the reference fails");
    events.on_document({{"n", n_of(job)}});
    return found(events, 1000);
  });
  EXPECT_EQ(run.result.code, kFailed);
  EXPECT_THAT(run.err, HasSubstr("tune: shift n=2: shift.cu:3: the reference fails"));
  ASSERT_EQ(run.result.documents.size(), 3u);
  EXPECT_EQ(run.result.documents[0]["n"], 1);
  EXPECT_EQ(run.result.documents[1]["error"], "shift.cu:3: the reference fails");
  EXPECT_EQ(run.result.documents[2]["n"], 3);
}

TEST(SpreadTuning, BeginsNothingMoreOnceItIsInterrupted) {
  std::atomic<bool> stop = false;
  std::atomic<int> begun = 0;
  const Printed run = tune(
      jobs(5, gpus(2)), gpus(2),
      [&](const TuneJob&, TuneEvents& events, Seat&) {
        ++begun;
        EXPECT_TRUE(testing::wait_until([&] { return begun >= 2; }));
        stop = true;
        return found(events, 1000);
      },
      stop);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(run.result.code, 130);
  EXPECT_THAT(run.err, HasSubstr("continues from here"));
  EXPECT_THAT(run.out, HasSubstr("interrupted before it began"));
}

class QuietEvents : public KeptEvents {
 public:
  Console& console() override { return console_; }

 private:
  Console console_{stderr, true};
};

/// The CPU as two devices, each with its own run worker.
class SpreadOverTheHost : public ::testing::Test {
 protected:
  SpreadOverTheHost() : host_(choose_device("host")) { host_.more = {host_.device.index}; }

  TuneRequest request() const {
    TuneRequest request;
    request.device = "host";
    request.database = folder_ / "wisdom.db";
    request.quiet = true;
    request.json = true;
    request.tuning.session.strategy = "exhaustive";
    request.tuning.session.budget.trials = 2;
    request.tuning.measure.min_samples = 3;
    return request;
  }
  std::string kernel() const {
    const std::string path = folder_ / "shift.cu";
    cache::write_text(path, kShift);
    return path;
  }
  /// --problems of \p list.
  Json tune(const std::string& list) {
    TuneRequest all = request();
    all.list = parse_problem_list(list, "list.txt");
    QuietEvents events;
    code_ = tune_list(all, host_, stop_, events);
    return events.documents.empty() ? Json() : events.documents.front();
  }

  const testing::TemporaryFolder folder_;
  DeviceChoice host_;
  const std::atomic<bool> stop_ = false;
  int code_ = -1;
};

TEST_F(SpreadOverTheHost, TunesEachProblemOnceIntoOneDatabaseAndKnowsThemThen) {
  const std::string list = "--kernel " + kernel() + " --size n=1000;n=2000\n--kernel " + kernel() +
                           " --size n=2000;n=3000 --isolation none\n";
  const Json first = tune(list)["problems"];
  EXPECT_EQ(code_, kDone);
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

TEST_F(SpreadOverTheHost, GivesTheProblemsOfOneKernelOneDocument) {
  TuneRequest all = request();
  all.kernel = kernel();
  all.problems.sizes = {"n=1000;n=2000"};
  all.tuning.isolation = Isolation::none;
  QuietEvents events;
  EXPECT_EQ(tune_spread(read_job(all, host_), stop_, events), kDone);
  const Json& documents = events.documents;
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents[0]["kernel"], "shift");
  ASSERT_EQ(documents[0]["results"].size(), 2u);
  EXPECT_EQ(documents[0]["results"][1]["problem"]["sizes"]["n"], 2000);
}

TEST_F(SpreadOverTheHost, TunesNothingWhenALineIsWrong) {
  const std::string good = "--kernel " + kernel() + " --size n=1000\n";
  EXPECT_THAT(testing::error_of([&] { tune(good + "--kernel ./none.cu\n"); }), HasSubstr("list.txt:2: "));
  try {
    tune(good + "\n--kernel " + kernel() + " --size m=3\n");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("list.txt:3: unknown size 'm'"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wisdom.db"));
}

}  // namespace
}  // namespace tuner::cli
