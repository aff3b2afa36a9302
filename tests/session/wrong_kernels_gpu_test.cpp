// The mistakes of data/wrong.cu that a GPU always shows: all except races and stray accesses that fault.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/backend/all/backends.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

TEST(WrongKernelsOnAGpu, AreNeverVerified) {
  if (gpu_count() == 0) GTEST_SKIP() << "needs a GPU: " << why_no_gpu();
  const KernelSpec spec = read_kernel_file(std::string(TUNER_SOURCE_DIR) + "/tests/session/data/wrong.cu");
  MeasureOptions measure;
  measure.abandon_factor = 0;  // every configuration is verified completely
  IsolatedEvaluator evaluator(spec, {}, measure);
  for (const char* mistake :
       {"none", "just_behind", "just_before", "copies_behind", "last_element", "small_grid", "adds_up", "first_runs",
        "earlier_results", "later_results", "one_input", "changes_input", "infinite"}) {
    evaluator.submit(Configuration{{"mistake", mistake}}, 0);
    const Trial trial = evaluator.next();
    SCOPED_TRACE(mistake);
    const bool right = trial.configuration == *spec.default_configuration;
    EXPECT_EQ(trial.verified, right) << message(trial.outcome);
    EXPECT_EQ(kind(trial.outcome), right ? "ok" : "wrong") << message(trial.outcome);
  }
}

}  // namespace
}  // namespace tuner
