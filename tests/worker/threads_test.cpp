// An evaluator whose workers are threads of this process, on a fake backend.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>

#include <tests/support/child_process.hpp>
#include <tests/support/scale_spec.hpp>
#include <tests/support/testing.hpp>
#include <tests/support/wait_until.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

using testing::block;

class ThreadsTest : public ::testing::Test {
 protected:
  ThreadsTest() : spec(testing::scale_spec()) {
    testing::give_kernels(backend);
    options.here = &backend;
    options.compile_workers = 2;
    options.batch = 4;
  }
  static std::map<Configuration, Trial> evaluate(Evaluator& evaluator, const std::vector<int>& sizes) {
    for (const int size : sizes) evaluator.submit(block(size), 0);
    std::map<Configuration, Trial> trials;
    while (evaluator.in_flight() > 0) {
      Trial trial = evaluator.next();
      trials.emplace(trial.configuration, trial);
    }
    return trials;
  }

  testing::FakeBackend backend;
  KernelSpec spec;
  IsolatedOptions options;
};

TEST_F(ThreadsTest, AnswerEachConfigurationAndMeasureFinalistsAgain) {
  backend.compiler_.refused["scale<128>"] = 1;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  EXPECT_GE(evaluator.capacity(), 4u);
  const auto trials = evaluate(evaluator, {32, 64, 128, 256, 31});
  EXPECT_EQ(std::get<CompileError>(trials.at(block(128)).outcome).log, "error: scale<128>");
  EXPECT_EQ(kind(trials.at(block(31)).outcome), "invalid");
  for (const int size : {32, 64, 256}) EXPECT_TRUE(trials.at(block(size)).verified) << size;
  const Configuration finalists[] = {block(64), block(32)};
  const auto again = evaluator.remeasure(finalists);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].configuration, block(64));
  EXPECT_NE(again[1].measurement(), nullptr);
}

TEST_F(ThreadsTest, EndWithTheirEvaluatorAlthoughACompilerIsBusy) {
  backend.compiler_.before = [](const CompileRequest& request) {
    EXPECT_TRUE(testing::wait_until([&] { return request.stop->load(); }));
  };
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  for (const int size : {32, 64}) evaluator.submit(block(size), 0);
  EXPECT_FALSE(evaluator.next_event(std::chrono::milliseconds(1)));
}

TEST_F(ThreadsTest, EndAlthoughAForkedChildHoldsTheirSockets) {
  auto evaluator = std::make_unique<IsolatedEvaluator>(spec, ProblemSize(), MeasureOptions(), options);
  evaluate(*evaluator, {32});
  const pid_t child = testing::start_child([] { return ::pause() == 0; });
  const auto ended = std::async(std::launch::async, [&] { evaluator.reset(); });
  EXPECT_EQ(ended.wait_for(testing::kLongestWait), std::future_status::ready);
  ::kill(child, SIGKILL);
  testing::wait_for(child);
}

TEST_F(ThreadsTest, BlockNoSignalOfAFaultAndAllOthers) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  backend.kernels["scale<32>"] =
      testing::scaled_after([&](const Launch&) { ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
  {
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluate(evaluator, {32});
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) EXPECT_FALSE(::sigismember(&blocked, fault)) << fault;
  for (const int other : {SIGTERM, SIGINT, SIGPIPE}) EXPECT_TRUE(::sigismember(&blocked, other)) << other;
}

#ifdef __GLIBC__
TEST_F(ThreadsTest, DoNotFlushTheStandardOutputOfTheProgram) {
  char* text = nullptr;
  std::size_t flushed = 0;
  FILE* const before = std::exchange(stdout, ::open_memstream(&text, &flushed));
  std::fputs("of the program", stdout);
  {
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluate(evaluator, {32});
  }
  const std::size_t flushed_by_workers = flushed;
  std::fclose(std::exchange(stdout, before));
  std::free(text);
  EXPECT_EQ(flushed_by_workers, 0u);
}
#endif

TEST_F(ThreadsTest, RunNothingOnceTheDeviceIsUnusable) {
  backend.kernels["scale<256>"] = testing::scaled_after([&](const Launch&) { backend.usable_ = false; });
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluate(evaluator, {128});
  EXPECT_TRUE(evaluator.usable());
  EXPECT_TRUE(evaluate(evaluator, {256}).at(block(256)).crashed);
  EXPECT_FALSE(evaluator.usable());
  for (const auto& [configuration, trial] : evaluate(evaluator, {32, 64}))
    EXPECT_THAT(std::string(message(trial.outcome)),
                HasSubstr("an earlier configuration has made the device unusable"));
}

TEST_F(ThreadsTest, TellThatTheReferenceDoesNotCompileOrFails) {
  {
    backend.compiler_.refused["reference"] = 1;
    IsolatedEvaluator evaluator(spec, {}, {}, options);
    evaluator.submit(block(32), 0);
    EXPECT_THAT(error_of([&] { evaluator.next(); }), HasSubstr("the reference does not compile: refused"));
  }
  backend.compiler_.refused.clear();
  backend.kernels["reference"] = [](const Launch&) { return LaunchError{"illegal address"}; };
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(block(32), 0);
  EXPECT_THAT(error_of([&] { evaluator.next(); }), HasSubstr("the reference failed on n=1000: illegal"));
}

TEST_F(ThreadsTest, PassOnTheKindOfAnError) {
  backend.room = 10;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(block(32), 0);
  EXPECT_EQ(testing::code_of([&] { evaluator.next(); }), ErrorCode::out_of_memory);
}

/// A backend that becomes useless once an evaluator has it.
struct Useless : testing::FakeBackend {
  testing::FakeCompiler& compiler() override {
    ++compilers;
    if (has_compiler) return compiler_;
    throw Error(ErrorCode::compiler, "there is no compiler");
  }
  const Device& device() const override {
    if (has_device || devices++ == 0) return device_;
    throw Error(ErrorCode::context_lost, "there is no device");
  }

  bool has_compiler = true, has_device = true;
  std::atomic<int> compilers = 0;
  mutable std::atomic<int> devices = 0;
};

TEST_F(ThreadsTest, AskForACompilerOnceAndPassOnThatThereIsNone) {
  Useless useless;
  testing::give_kernels(useless);
  useless.has_compiler = false;
  options.here = &useless;
  options.compile_workers = 1;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(block(32), 0);
  EXPECT_EQ(testing::code_of([&] { evaluator.next(); }), ErrorCode::compiler);
  EXPECT_EQ(useless.compilers, 1);
}

TEST_F(ThreadsTest, PassOnWhyTheDeviceIsLost) {
  Useless useless;
  testing::give_kernels(useless);
  useless.has_device = false;
  options.here = &useless;
  IsolatedEvaluator evaluator(spec, {}, {}, options);
  evaluator.submit(block(32), 0);
  EXPECT_EQ(testing::code_of([&] { evaluator.next(); }), ErrorCode::context_lost);
}

TEST_F(ThreadsTest, AbandonWhatIsWorseThanATrialThatFinishedAfterItWasSubmitted) {
  options.compile_workers = options.batch = 1;
  backend.next_sample = [](const std::string& expression, std::size_t i) {
    return Sample{(expression == "scale<32>" ? 1e6 : 3e6) + double(i), 0};
  };
  MeasureOptions measure;
  for (const bool verify : {true, false}) {
    measure.verify = verify;
    IsolatedEvaluator evaluator(spec, {}, measure, options);
    const auto trials = evaluate(evaluator, {32, 64, 128, 256});  // all were submitted before a best was known
    EXPECT_FALSE(trials.at(block(32)).measurement()->abandoned);
    EXPECT_TRUE(trials.at(block(256)).measurement()->abandoned);
  }
}

}  // namespace
}  // namespace tuner
