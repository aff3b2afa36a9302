/// What the mistakes of examples/races.cu come to on a GPU: those that are wrong by construction are found.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/single_run.hpp>

#include "sample.hpp"

namespace tuner {
namespace {

struct Race {
  const char* tail;
  const char* mistake;
  const char* outcome;
};

void PrintTo(const Race& race, std::ostream* out) { *out << race.tail << ' ' << race.mistake; }

class GpuRaces : public ::testing::TestWithParam<Race> {};

// The volatile tail is not among them: it is right where lanes run in step.
TEST_P(GpuRaces, ComeOutAsTheyWereMadeTo) {
  if (!cuda::driver_status().available) GTEST_SKIP() << "no usable GPU: " << cuda::driver_status().reason;
  const auto gpu = make_cuda_backend();
  if (GetParam().mistake != std::string_view("none") && gpu->device().limits.compute_capability != 90)
    GTEST_SKIP() << "what a race comes to was seen for compute capability 9.0 only";
  const KernelSpec spec = read_kernel_file(TUNER_SOURCE_DIR "/examples/races.cu");
  const Configuration configuration =
      testing::default_with(spec, std::string("tail=") + GetParam().tail + " mistake=" + GetParam().mistake);
  SingleRun one(*gpu, spec, {{{"rows", 2048}}, {}}, configuration, testing::verify_only());
  const Trial trial = one.measure();
  EXPECT_EQ(kind(trial.outcome), GetParam().outcome) << message(trial.outcome);
}

INSTANTIATE_TEST_SUITE_P(Each, GpuRaces,
                         ::testing::Values(Race{"tree", "none", "ok"}, Race{"branches", "none", "ok"},
                                           Race{"tree", "no_barrier", "wrong"}, Race{"branches", "no_barrier", "wrong"},
                                           Race{"tree", "no_syncwarp", "wrong"},
                                           Race{"branches", "no_syncwarp", "wrong"}),
                         [](const auto& race) { return std::string(race.param.tail) + '_' + race.param.mistake; });

}  // namespace
}  // namespace tuner
