// Counters and energy of kernels that run on a GPU.

#include <cmath>
#include <iostream>

#include <tuner/backend/cuda/observe/chip_metrics.hpp>
#include <tuner/core/device/metric.hpp>

#include <tests/support/gpu_fixture.hpp>

namespace tuner::cuda {
namespace {

constexpr const char* kCounted = R"(
__global__ void copy(const float* from, float* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}
__global__ void strided(const float* from, float* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i * 8];
}
__global__ void multiply_add(float* to, float x) {
  float sum = x;
#pragma unroll 1
  for (int i = 0; i < 100; ++i) sum = fmaf(sum, x, x);
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void increment(unsigned* value) { *value += 1; }
)";

/// Skipped if counters are not available, with the message that users get.
class GpuCounters : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    module_ = load(kCounted, {"copy", "strided", "multiply_add", "increment"});
    data_ = backend().allocate(8 * kElements * sizeof(float));
    backend().fill_bytes(data_->address(), 0, data_->bytes());
    const Launch warm = copies();
    if (const auto failed = backend().run({&warm, 1}, 10)) FAIL() << failure(failed);
    const CountResult result = backend().collect({&warm, 1}, asking({"gld_transactions"}));
    if (const auto* const why = std::get_if<Unavailable>(&result)) GTEST_SKIP() << why->reason;
  }

  static constexpr std::int64_t kElements = 1 << 20;
  DevicePointer half() const { return data_->address() + 4 * kElements * sizeof(float); }

  Launch copies() const {
    return launch(*module_, 0, kElements / 256, 256, {Argument::of(data_->address()), Argument::of(half())});
  }
  static CountRequest asking(const std::vector<std::string>& metrics) {
    CountRequest request;
    request.metrics = metrics;
    return request;
  }
  static Metrics counted(std::span<const Launch> launches, const std::vector<std::string>& metrics) {
    EXPECT_EQ(failure(backend().run(launches, 10)), "ok");
    const CountResult result = backend().collect(launches, asking(metrics));
    const auto* const why = std::get_if<Unavailable>(&result);
    EXPECT_EQ(why, nullptr) << why->reason;
    return why != nullptr ? Metrics{} : std::get<Metrics>(result);
  }

  std::unique_ptr<Module> module_;
  std::unique_ptr<DeviceMemory> data_;
};

TEST_F(GpuCounters, CountsEverySectorOfACopy) {
  const Launch copy = copies();
  const Metrics seen = counted({&copy, 1}, {"gld_transactions", "gst_transactions", "gld_efficiency"});
  EXPECT_EQ(seen.at("gld_transactions"), kElements * 4 / 32);
  EXPECT_EQ(seen.at("gst_transactions"), kElements * 4 / 32);
  EXPECT_NEAR(seen.at("gld_efficiency"), 100, 0.01);
}

TEST_F(GpuCounters, SeesThatAStrideWastesSectors) {
  const std::int64_t threads = kElements / 8;
  const Launch strided =
      launch(*module_, 1, threads / 256, 256, {Argument::of(data_->address()), Argument::of(half())});
  const Metrics seen = counted({&strided, 1}, {"gld_efficiency", "gst_efficiency", "gld_transactions"});
  EXPECT_EQ(seen.at("gld_transactions"), threads);
  EXPECT_NEAR(seen.at("gld_efficiency"), 12.5, 0.01);
  EXPECT_NEAR(seen.at("gst_efficiency"), 100, 0.01);
}

TEST_F(GpuCounters, CountsTwoOperationsForAMultiplyAdd) {
  const Launch fma = launch(*module_, 2, 128, 256, {Argument::of(data_->address()), Argument::of(0.5f)});
  EXPECT_EQ(counted({&fma, 1}, {"flop_count_sp"}).at("flop_count_sp"), 128 * 256 * 100 * 2);
}

TEST_F(GpuCounters, CountsSeveralLaunchesAsOneRange) {
  const Launch twice[] = {copies(), copies()};
  EXPECT_EQ(counted(twice, {"gld_transactions"}).at("gld_transactions"), 2 * kElements * 4 / 32);
}

TEST_F(GpuCounters, ReadsDeviceMemoryWhereL2WasFlushed) {
  const Launch copy = copies();
  const double bytes = kElements * sizeof(float);
  EXPECT_NEAR(counted({&copy, 1}, {"dram_read_bytes"}).at("dram_read_bytes"), bytes, 0.05 * bytes);
}

TEST_F(GpuCounters, RestoresInputsBeforeEachPass) {
  const Launch increment = launch(*module_, 3, 1, 1, {Argument::of(data_->address())});
  EXPECT_EQ(run(increment), "ok");
  CountRequest request = asking(expand_metrics(std::vector<std::string>{"textbook"}));
  int restored = 0;
  request.restore = [&] {
    ++restored;
    backend().fill_bytes(data_->address(), 0, 4);
  };
  ASSERT_TRUE(std::holds_alternative<Metrics>(backend().collect({&increment, 1}, request)));
  EXPECT_GE(restored, 2) << "the set takes more than one pass";
  EXPECT_EQ(contents<unsigned>(data_->address(), 1)[0], 1u);
}

TEST_F(GpuCounters, AnswersTheTextBooksSetWithNumbers) {
  const Launch copy = copies();
  const auto set = expand_metrics(std::vector<std::string>{"textbook"});
  const Metrics seen = counted({&copy, 1}, set);
  ASSERT_EQ(seen.size(), set.size());
  for (const auto& [name, value] : seen) EXPECT_TRUE(std::isfinite(value)) << name;
  EXPECT_GT(seen.at("achieved_occupancy"), 0);
  EXPECT_LE(seen.at("achieved_occupancy"), 100);
}

TEST_F(GpuCounters, SuggestsANameAndGoesOn) {
  const Launch copy = copies();
  const CountResult result = backend().collect({&copy, 1}, asking({"gld_transaction"}));
  EXPECT_THAT(std::get<Unavailable>(result).reason, HasSubstr("did you mean 'gld_transactions'"));
  EXPECT_TRUE(backend().usable());
  EXPECT_EQ(counted({&copy, 1}, {"gld_transactions"}).size(), 1u);
}

class GpuEnergy : public GpuTest {};

constexpr const char* kBusy = R"(
__global__ void busy(float* to, float x, int rounds) {
  float sum = x;
  for (int i = 0; i < rounds; ++i) sum = fmaf(sum, x, x);
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
)";

TEST_F(GpuEnergy, RefusesAWindowThatTheSensorCannotResolve) {
  const auto module = load(kBusy, {"busy"});
  const auto data = backend().allocate(1 << 20);
  const Launch work =
      launch(*module, 0, 1024, 256, {Argument::of(data->address()), Argument::of(0.5f), Argument::of(1)});
  EXPECT_EQ(run(work), "ok");
  const EnergyResult result = backend().energy({&work, 1}, 0.5);
  const auto* const why = std::get_if<Unavailable>(&result);
  ASSERT_NE(why, nullptr);
  if (why->reason.find("too short") == std::string::npos) GTEST_SKIP() << why->reason;  // no sensor at all
  EXPECT_EQ(why->reason, "0.5 s are too short for a card's energy sensor: measure for at least 1 s");
}

TEST_F(GpuEnergy, OfTwiceTheWorkIsAboutTwiceAsMuch) {
  const auto module = load(kBusy, {"busy"});
  const auto data = backend().allocate(1 << 20);
  double joules[2] = {};
  for (const int i : {0, 1}) {
    const Launch work = launch(*module, 0, 1024, 256,
                               {Argument::of(data->address()), Argument::of(0.5f), Argument::of((i + 1) * 20'000)});
    EXPECT_EQ(run(work), "ok");
    const EnergyResult result = backend().energy({&work, 1}, 1.5);
    if (const auto* const why = std::get_if<Unavailable>(&result)) GTEST_SKIP() << why->reason;
    const Energy& energy = std::get<Energy>(result);
    EXPECT_GE(energy.joules, energy.low_joules);
    EXPECT_LE(energy.joules, energy.high_joules);
    EXPECT_GT(energy.watts, 0);
    joules[i] = energy.joules;
    std::cout << "[ measured ] " << energy.joules << " J [" << energy.low_joules << ", " << energy.high_joules << "], "
              << energy.watts << " W over " << energy.window_s << " s\n";
  }
  EXPECT_NEAR(joules[1] / joules[0], 2, 0.2);
}

}  // namespace
}  // namespace tuner::cuda
