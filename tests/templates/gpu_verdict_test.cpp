/// Kernels whose limit is known by construction (examples/limits) and what the verdict says of each, on a GPU.

#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/single_run.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

struct Known {
  const char* kernel;
  Limit limit;            ///< by construction
  Limit model;            ///< what can be known of it without counters
  const char* told = "";  ///< in the reason or in a remark, with counters
  std::map<std::string, std::string> choices{};
};

void PrintTo(const Known& known, std::ostream* out) { *out << known.kernel; }

Backend& gpu() {
  static const std::unique_ptr<Backend> shared = [] {
    auto backend = make_cuda_backend();
    backend->measure_ceilings();
    return backend;
  }();
  return *shared;
}

class GpuVerdict : public ::testing::TestWithParam<Known> {
 protected:
  void SetUp() override {
    if (!cuda::driver_status().available) GTEST_SKIP() << "no usable GPU: " << cuda::driver_status().reason;
  }

  Verdict verdict(const std::vector<std::string>& metrics) {
    const KernelSpec spec =
        read_kernel_file(std::string(TUNER_SOURCE_DIR "/examples/limits/") + GetParam().kernel + ".cu");
    MeasureOptions options;
    options.metrics = metrics;
    options.metrics_for_all = true;
    const ProblemSize size = complete(spec, {{}, GetParam().choices});
    SingleRun one(gpu(), spec, size, *spec.default_configuration, options);
    const Trial trial = one.measure();
    const Measurement* const measured = trial.measurement();
    if (measured == nullptr) throw Error(std::string(kind(trial.outcome)) + ": " + std::string(message(trial.outcome)));
    EXPECT_TRUE(trial.verified);
    no_metrics_ = measured->no_metrics;
    return explain(spec, size, gpu().device(), trial.configuration, *measured, one.launches(), false);
  }

  static std::string all_of(const Verdict& verdict) {
    std::string text = std::string(name(verdict.limit)) + ": " + verdict.reason + "\n";
    for (const auto* lines : {&verdict.numbers, &verdict.remarks})
      for (const std::string& line : *lines) text += line + "\n";
    return text;
  }

  std::string no_metrics_;
};

TEST_P(GpuVerdict, IsWhatTheKernelWasMadeFor) {
  const Verdict seen = verdict(expand_metrics(std::vector<std::string>{"verdict"}));
  if (!no_metrics_.empty()) GTEST_SKIP() << no_metrics_;
  EXPECT_EQ(seen.limit, GetParam().limit) << all_of(seen);
  EXPECT_THAT(all_of(seen), HasSubstr(GetParam().told));
  EXPECT_TRUE(seen.counted);
}

TEST_P(GpuVerdict, SaysWithoutCountersWhatTheModelCanKnow) {
  const Verdict seen = verdict({});
  EXPECT_EQ(seen.limit, GetParam().model) << all_of(seen);
  EXPECT_FALSE(seen.counted);
}

INSTANTIATE_TEST_SUITE_P(
    Limits, GpuVerdict,
    ::testing::Values(Known{"copy", Limit::dram, Limit::dram}, Known{"cached", Limit::l2, Limit::latency},
                      Known{"multiplyAdd", Limit::arithmetic, Limit::arithmetic},
                      Known{"multiplyAdd", Limit::arithmetic, Limit::arithmetic, "", {{"T", "double"}}},
                      Known{"divergence", Limit::arithmetic, Limit::latency, "branches split its warps"},
                      Known{"bankConflicts", Limit::shared_memory, Limit::latency},
                      Known{"chase", Limit::latency, Limit::latency, "warps wait for loads"},
                      Known{"oneBlock", Limit::latency, Limit::latency, "multiprocessors without work"},
                      Known{"barriers", Limit::latency, Limit::latency, "warps wait at barriers"},
                      Known{"tiny", Limit::launch, Limit::launch}),
    [](const ::testing::TestParamInfo<Known>& known) {
      std::string name = known.param.kernel;
      for (const auto& [choice, value] : known.param.choices) name += '_' + value;
      return name;
    });

}  // namespace
}  // namespace tuner
