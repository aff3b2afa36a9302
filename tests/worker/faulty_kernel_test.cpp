// Every way in which data/faulty.cu goes wrong, with real workers. For the host backend; built again for a GPU
// (TUNER_TEST_BACKEND).

#include <tuner/backend/all/backends.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

#include <tests/support/testing.hpp>

#ifndef TUNER_TEST_BACKEND
#define TUNER_TEST_BACKEND "host"
#endif

namespace tuner {
namespace {

std::map<std::string, Trial> evaluate_all(IsolatedEvaluator& evaluator, const KernelSpec& spec) {
  for (const Value& value : spec.space.parameters().front().values)
    evaluator.submit(Configuration{{"behaviour", value}}, 0);
  std::map<std::string, Trial> trials;
  while (evaluator.in_flight() > 0) {
    Trial trial = evaluator.next();
    const std::string behaviour = trial.configuration.find("behaviour")->string();
    EXPECT_FALSE(trials.contains(behaviour)) << behaviour;
    trials[behaviour] = std::move(trial);
  }
  return trials;
}

void expect_kinds(const std::map<std::string, Trial>& trials, bool host) {
  const std::map<std::string, std::string> kinds{{"fast", "ok"},
                                                 {"slow", "ok"},
                                                 {"wrong", "wrong"},
                                                 {"nan", "wrong"},
                                                 {"skips", "wrong"},
                                                 {"overruns", "wrong"},
                                                 {"writes_input", "wrong"},
                                                 {"faults", "launch"},
                                                 {"misaligned", host ? "invalid" : "launch"},
                                                 {"traps", "launch"},
                                                 {"hangs", "timeout"},
                                                 {"greedy", "invalid"},
                                                 {"no_compile", "compile"},
                                                 {"too_much_shared", "invalid"}};
  ASSERT_EQ(trials.size(), kinds.size());
  for (const auto& [behaviour, trial] : trials)
    EXPECT_EQ(kind(trial.outcome), kinds.at(behaviour)) << behaviour << ": " << message(trial.outcome);
  EXPECT_THAT(message(trials.at("nan").outcome), HasSubstr("nan"));
  EXPECT_THAT(message(trials.at("overruns").outcome), HasSubstr("out of bounds"));
  EXPECT_THAT(message(trials.at("writes_input").outcome), HasSubstr("input a"));
  EXPECT_THAT(std::get<CompileError>(trials.at("no_compile").outcome).log, HasSubstr("does not compile"));
  for (const char* behaviour : {"fast", "slow"}) EXPECT_TRUE(trials.at(behaviour).verified);
}

TEST(FaultyKernel, CostsOneTrialOfTheRightKindForEachFault) {
  const std::string backend = TUNER_TEST_BACKEND;
  const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/tests/worker/data/faulty.cu");
#ifdef TUNER_TEST_NEEDS_GPU  // asked without a worker: a worker that is broken fails the test
  if (gpu_count() == 0) GTEST_SKIP() << "needs a GPU: " << why_no_gpu();
#endif
  MeasureOptions measure;
  measure.hang_floor_s = 1;
  measure.first_run_s = 10;
  measure.max_seconds = 0.2;
  IsolatedOptions options;
  options.backend = backend;
  options.compile_workers = 2;
  IsolatedEvaluator evaluator(spec, {}, measure, options);
  const auto trials = evaluate_all(evaluator, spec);
  expect_kinds(trials, backend == "host");

  const Configuration finalists[] = {Configuration{{"behaviour", "slow"}}, Configuration{{"behaviour", "fast"}}};
  const auto again = evaluator.remeasure(finalists);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(decide(again).winner, 1u) << "fast is the right best";
}

}  // namespace
}  // namespace tuner
