// Calls that nothing is known for: tuned in worker processes, or served with the default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <cache/misses.hpp>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/runtime/miss_log.hpp>
#include <tuner/runtime/serving.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/wisdom.hpp>
#include <tuner/tuner.hpp>

#include "scale_kernel.hpp"
#include "serving_environment.hpp"

namespace tuner {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

/// A name of its own: other tests of this process tune the same text.
std::string scale_text(const std::string& name) {
  std::string text = testing::kScale;
  const std::string kernel = "kernel scale";
  return text.replace(text.find(kernel), kernel.size(), "kernel " + name);
}

class FirstUse : public testing::ServingEnvironment {
 protected:
  FirstUse() : ServingEnvironment("host", "on_first_use") {
    ::setenv("TUNER_TUNE_TIME", "30", 1);  // the spaces end long before, on any machine
    Settings settings;
    settings.on_warning = [this](std::string_view message) { warnings_ += std::string(message) + '\n'; };
    configure(settings);
  }
  ~FirstUse() override {
    ::unsetenv("TUNER_WORKER");
    configure({});
  }

  /// Kernels that were served without a result, by name.
  static std::vector<std::string> missed() {
    Wisdom& wisdom = runtime::Serving::process().terms().wisdom;
    runtime::MissLog::process().flush(wisdom);
    std::vector<std::string> names;
    for (const cache::MissRecord& miss : cache::misses(wisdom.user())) names.push_back(miss.kernel.name);
    return names;
  }

  std::string warnings_;
};

TEST_F(FirstUse, TunesOnAMissAndKeepsTheResultForTheNextProcess) {
  const Kernel scale = Kernel::from_source(scale_text("scaleOnFirstUse"), "scale.cu");
  std::vector<float> x(1000, 1.0f), y(1000);
  scale.launch(nullptr, {1000}, x.data(), 3, y.data());
  EXPECT_THAT(y, ::testing::Each(3.0f));

  Wisdom next_process({});
  const ProblemSize size = complete(scale.spec(), {{{"n", 1000}}, {}});
  const cache::WisdomMatch match = next_process.lookup(scale.spec(), size, choose_device("host").device);
  ASSERT_TRUE(match);
  EXPECT_EQ(match.tier, cache::Tier::exact);
}

/// \p mistake: what a configuration does that is not the default.
Kernel writes_one(const std::string& name, const std::string& mistake) {
  std::string text = R"(
#pragma tuner kernel NAME
#pragma tuner size n
#pragma tuner parameter wrong = false true
#pragma tuner default wrong=false
#pragma tuner out y[n] : float
#pragma tuner grid max(1, ceil_div(n, 32))
#pragma tuner block 32
#pragma tuner arguments y, n
#pragma tuner instantiate NAME<wrong>
#pragma tuner reference NAME<false>
#pragma tuner grid max(1, ceil_div(n, 32))
#pragma tuner block 32
template <bool wrong> __global__ void NAME(float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (wrong) MISTAKE;
  if (i < n) y[i] = 1;
}
)";
  for (const auto& [word, by] : {std::pair<std::string, std::string>{"NAME", name}, {"MISTAKE", mistake}})
    for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), by);
  return Kernel::from_source(text, name + ".cu");
}

TEST_F(FirstUse, SurvivesAConfigurationThatFaults) {
  const Kernel kernel = writes_one("faults", "*(volatile int*)8 = 1");
  std::vector<float> y(100);
  kernel.launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, ::testing::Each(1.0f));
  EXPECT_THAT(kernel.explain({100}), HasSubstr("wrong=false"));
  EXPECT_EQ(warnings_, "");
}

TEST_F(FirstUse, EndsAlthoughAConfigurationNeverDoes) {
  ::setenv("TUNER_TUNE_TIME", "3", 1);
  const Kernel kernel = writes_one("hangs", "for (volatile int i = 0;;) i = i + 1");
  std::vector<float> y(100);
  kernel.launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, ::testing::Each(1.0f));
}

TEST_F(FirstUse, IsServedWithTheDefaultAndRememberedWhereNoWorkerIsInstalled) {
  ::setenv("TUNER_WORKER", "/no/such/tuner-worker", 1);
  const Kernel kernel = writes_one("alone", "y[i] = 2");
  std::vector<float> y(100);
  kernel.launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, ::testing::Each(1.0f));
  EXPECT_THAT(warnings_, HasSubstr("nothing is tuned on first use: $TUNER_WORKER is /no/such/tuner-worker"));
  EXPECT_THAT(missed(), ::testing::Contains("alone"));
}

TEST_F(FirstUse, IsServedWithTheDefaultAndRememberedForAKernelThatNoTextDescribes) {
  KernelSpec spec = writes_one("inCode", "y[i] = 2").spec();
  spec.source.erase(0, spec.source.find("template"));
  std::vector<float> y(100);
  Kernel(spec).launch(nullptr, {100}, y.data());
  EXPECT_THAT(y, ::testing::Each(1.0f));
  EXPECT_THAT(warnings_, HasSubstr("kernel 'inCode' is described in code alone"));
  EXPECT_THAT(missed(), ::testing::Contains("inCode"));
}

class FirstUseInAHurry : public testing::ServingEnvironment {
 protected:
  FirstUseInAHurry() : ServingEnvironment("host", "never") { ::setenv("TUNER_TUNE_TIME", "0.001", 1); }
};

TEST_F(FirstUseInAHurry, LooksForAConfigurationNoLongerThanTuningMayTake) {
  std::string text =
      scale_text("scaleOnFirstUse");  // without a default, and pruned only when the last parameter is known
  const std::string chosen = "#pragma tuner default block=32\n";
  std::string late;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    late += std::string("#pragma tuner parameter ") + name + " = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
  late += "#pragma tuner constraint late: (a * 7 + b * 11 + c * 13 + d * 17 + e * 19 + f * 23) % 1009 == 5\n";
  late += "#pragma tuner constraint never: (a * 14 + b * 22 + c * 26 + d * 34 + e * 38 + f * 46) % 1009 == 11\n";
  text.replace(text.find(chosen), chosen.size(), late);
  const Kernel scale = Kernel::from_source(text, "scale.cu");
  std::vector<float> x(1000), y(1000);
  EXPECT_THAT(error_of([&] { scale.launch(nullptr, {1000}, x.data(), 3, y.data()); }),
              HasSubstr("names no default that is valid for"));
}

TEST_F(FirstUseInAHurry, FindsAConfigurationAtOnceWhereMillionsAreValid) {
  std::string text = scale_text("scaleOnFirstUse");
  const std::string chosen = "#pragma tuner default block=32\n";
  std::string many;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    many += std::string("#pragma tuner parameter ") + name + " = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
  many += "#pragma tuner constraint order: a + b + c + d + e + f >= 20\n";
  text.replace(text.find(chosen), chosen.size(), many);
  text.replace(text.find("kernel scaleOnFirstUse"), 22, "kernel scaleInManyWays");
  EXPECT_THAT(Kernel::from_source(text, "scale.cu").explain({1000}), HasSubstr("(default: "));
}

}  // namespace
}  // namespace tuner
