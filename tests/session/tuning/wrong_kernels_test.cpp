// The mistakes of data/wrong.cu: the host never verifies one, and a session never names one best.

#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

KernelSpec wrong_kernel() { return read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/tests/session/data/wrong.cu"); }

struct Wrong {
  const char* mistake;
  const char* says;  ///< in the message
};

/// These mistakes show by a fault. A sanitizer would report it and end the process.
bool ends_a_sanitized_process([[maybe_unused]] std::string_view mistake) {
#if defined(TUNER_ASAN)
  return mistake == "far_behind" || mistake == "very_far_behind" || mistake == "far_before" || mistake == "overflow";
#else
  return false;
#endif
}

constexpr Wrong kWrong[] = {
    {"next_neighbour", "c["},
    {"earlier_neighbour", "c["},
    {"shared_again", "c["},
    {"warp_tail", "sum[0]"},
    // Any run may show these first, because cores race in timed runs, too.
    {"sum_of_blocks", "sum[0] is"},
    {"histogram", "counts["},
    {"block_before", "c["},
    {"just_behind", "wrong: writes out of bounds: c[1000], which has 1000 elements of int on n=1000"},
    {"just_before", "wrong: writes out of bounds: c[-1], which has 1000 elements of int on n=1000"},
    {"copies_behind", "wrong: writes out of bounds: c[1000], which has 1000 elements of int on n=1000"},
    {"far_behind", "c[263144], which has 1000 elements of int"},
    {"very_far_behind", "c[1073742824], which has 1000 elements of int"},
    {"far_before", "c[-262144], which has 1000 elements of int"},
    {"overflow", "c[-2147483648], which has 1000 elements of int"},
    {"last_element", "c[999] was not written"},
    {"small_grid", "c[960] was not written"},
    {"adds_up", "c["},
    {"unset_shared", "c["},
    {"first_runs", "right at first, but in a timed run"},
    {"keeps_results", "right over unwritten outputs, but over earlier results"},
    {"earlier_results", "right for the inputs it was timed with, but with others c["},
    {"later_results", "right for the inputs it was timed with, but with others c["},
    {"one_input", "right for the inputs it was timed with, but with others c["},
    {"changes_input", "writes to its input x"},
    {"infinite", "y[500] is inf"},
};

TEST(WrongKernels, AreNeverVerifiedOnTheHost) {
#if defined(TUNER_TSAN)
  GTEST_SKIP() << "the sanitizer reports the races that these kernels have on purpose";
#endif
  const KernelSpec spec = wrong_kernel();
  const ProblemSize size = complete(spec, {});
  const std::unique_ptr<Backend> backend = open_backend(choose_device("host").device);
  const auto compiled = [&](const CompileRequest& request) {
    CompileResult result = backend->compiler().compile(request);
    if (const auto* error = std::get_if<CompileError>(&result)) throw std::runtime_error(error->log);
    return std::get<Image>(std::move(result));
  };
  MeasureOptions options;
  options.min_samples = options.max_samples = 10;
  options.own_problems = false;  // each mistake has to show on the tuned problem
  Runner runner(*backend, spec, size, options);
  const DeviceLimits& limits = backend->device().limits;
  const Image reference = compiled(reference_request(spec, size, limits, backend->architecture()));
  runner.prepare(&reference);

  std::vector<std::string> all;
  for (const Value& mistake : spec.space.parameters().front().values) {
    for (std::string& expression : launch_expressions(spec, size, limits, Configuration{{"mistake", mistake}}))
      all.push_back(std::move(expression));
  }
  const Image image = compiled(compile_request(spec, size, limits, backend->architecture(), all, {}));

  for (const Wrong& wrong : kWrong) {
    SCOPED_TRACE(wrong.mistake);
    if (ends_a_sanitized_process(wrong.mistake)) {
      std::cout << "skipped under a sanitizer: " << wrong.mistake << '\n';
      continue;
    }
    // Blocks on one core never run at the same time.
    if (wrong.mistake == std::string("sum_of_blocks") && std::thread::hardware_concurrency() < 2) continue;
    const Configuration configuration{{"mistake", wrong.mistake}};
    Trial trial = runner.evaluate(configuration, image, 0);
    // A race between blocks shows only when two cores are at the same addition at once. On a busy machine, one core may
    // be away for a whole trial. All other mistakes must show in the first trial.
    for (int again = 0; trial.verified && wrong.mistake == std::string("sum_of_blocks") && again < 20; ++again)
      trial = runner.evaluate(configuration, image, 0);
    EXPECT_FALSE(trial.verified);
    EXPECT_THAT(std::string(kind(trial.outcome)) + ": " + std::string(message(trial.outcome)), HasSubstr(wrong.says));
  }
  const Trial right = runner.evaluate(Configuration{{"mistake", "none"}}, image, 0);
  EXPECT_TRUE(right.verified) << message(right.outcome);
  EXPECT_EQ(spec.space.parameters().front().values.size(), std::size(kWrong) + 1);
}

/// Races within one block, because several blocks would meet by chance.
class RacingKernel : public ::testing::TestWithParam<const char*> {
 protected:
  /// The first of \p mistakes is the default.
  static SessionResult tune(const std::vector<Value>& mistakes) {
    KernelSpec spec = wrong_kernel();
    spec.space = SearchSpace({{"mistake", mistakes}}, {});
    spec.default_configuration = Configuration{{"mistake", mistakes.front()}};
    const ProblemSize size = complete(spec, {{{"n", 64}}, {}});
    const Device device = choose_device("host").device;
    const std::unique_ptr<Backend> backend = open_backend(device);
    MeasureOptions measure;
    measure.min_samples = 3;
    measure.max_seconds = 0;
    IsolatedEvaluator evaluator(spec, size, measure, {.here = backend.get()});
    return run_session(spec, size, device, evaluator, nullptr, {}, nullptr);
  }
};

TEST_P(RacingKernel, IsNotNamedBestThoughItMayBeFastest) {
  const SessionResult result = tune({GetParam(), "none"});
  ASSERT_TRUE(result.best) << message(result.trials.front().outcome) << '\n' << message(result.trials.back().outcome);
  EXPECT_EQ(result.best->configuration, (Configuration{{"mistake", "none"}}));
}

INSTANTIATE_TEST_SUITE_P(OnTheHost, RacingKernel, ::testing::Values("next_neighbour", "warp_tail"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace tuner
