// How what is found while a program runs reaches its calls, on the host backend.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <cache/browse.hpp>

#include <tuner/runtime/renewal.hpp>
#include <tuner/runtime/served_device.hpp>
#include <tuner/runtime/serving.hpp>
#include <tuner/tuner.hpp>

#include "serving_environment.hpp"

namespace tuner {
namespace {

using testing::kernel_named;

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

class NewResultsOfAFirstUse : public NewResults {
 protected:
  NewResultsOfAFirstUse() : NewResults("on_first_use") {
    ::setenv("TUNER_TUNE_TIME", "30", 1);  // the space ends long before, on any machine
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
