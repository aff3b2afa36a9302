// What the model of launches holds against a configuration.

#include <tuner/session/tuning/launch_model.hpp>

#include <sstream>

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/result/outcome.hpp>

#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using namespace tuner::testing;

DeviceLimits some_limits() {
  DeviceLimits limits;
  limits.compute_capability = 90;
  limits.sm_count = 100;
  limits.shared_bytes_per_sm = limits.max_shared_bytes = 200'000;
  return limits;
}

/// A kernel of 2^24 floats that are read and written, with further lines.
KernelSpec kernel(const std::string& lines) {
  std::string all =
      "kernel k\n"
      "size n = 16777216\n"
      "parameter blocks threads shared = 0 1 32\n"
      "in a[n] : float\n"
      "out b[n] : float\n"
      "arguments a, b, n\n"
      "reference default\n"
      "default blocks=1 threads=32 shared=0\n" +
      lines + '\n';
  if (all.find("\ngrid ") == std::string::npos) all += "grid blocks\nblock threads\nshared shared\n";
  std::string pragmas = "__global__ void k(const float* a, float* b, int n) {}\n";
  std::istringstream each(all);
  for (std::string line; std::getline(each, line);)
    if (!line.empty()) pragmas += "#pragma tuner " + line + '\n';
  return parse_kernel_file(pragmas, "k.cu");
}

struct Launched {
  int blocks = 1000;
  int threads = 256;
  int shared = 0;
};

double cycles(const std::string& lines, const Launched& at, const Resources* compiled = nullptr,
              DeviceLimits limits = some_limits()) {
  const KernelSpec spec = kernel(lines);
  const ProblemSize size = complete(spec, {});
  const LaunchModel model(spec, size, limits);
  EXPECT_TRUE(model.applies());
  return model
      .cycles(bindings(spec, size, limits, {{"blocks", at.blocks}, {"threads", at.threads}, {"shared", at.shared}}),
              compiled)
      .value();
}

constexpr const char* kArithmetic = "flops 1000 * n\n";

TEST(LaunchModel, WantsThreadsThatKeepMemoryAndArithmeticBusy) {
  for (const char* const lines : {"", kArithmetic}) {
    EXPECT_GT(cycles(lines, {.blocks = 10}), 1.5 * cycles(lines, {.blocks = 400}));
    EXPECT_GT(cycles(lines, {.blocks = 100, .threads = 32}), 1.5 * cycles(lines, {.blocks = 100, .threads = 1024}));
    EXPECT_GT(cycles(lines, {.shared = 190'000}), 1.05 * cycles(lines, {}));
  }
}

TEST(LaunchModel, WantsNoMoreThreadsThanThat) {
  EXPECT_GT(cycles("", {.blocks = 65'536}), 1.2 * cycles("", {.blocks = 4096}));
  EXPECT_GT(cycles(kArithmetic, {.blocks = 65'536}), 1.2 * cycles(kArithmetic, {.blocks = 400}));
}

TEST(LaunchModel, CountsMultiprocessorsThatWaitForTheLastBlocks) {
  EXPECT_GT(cycles(kArithmetic, {.blocks = 110, .threads = 1024}),
            1.5 * cycles(kArithmetic, {.blocks = 100, .threads = 1024}));
  EXPECT_LT(cycles(kArithmetic, {.blocks = 1010, .threads = 1024}),
            1.2 * cycles(kArithmetic, {.blocks = 1000, .threads = 1024}));
}

TEST(LaunchModel, TakesThreadsThatHaveMoreBytesInFlightForFasterWhereTheFileSaysThem) {
  const Launched few{.blocks = 100, .threads = 128};
  EXPECT_GT(cycles("in_flight 4", few), 1.5 * cycles("in_flight 16", few));
  // Threads that load again and again need no second wave of blocks.
  EXPECT_GT(cycles("", {.blocks = 800}), 1.1 * cycles("in_flight 64", {.blocks = 800}));
}

TEST(LaunchModel, CountsLaunchesThatAreMadeAndTimed) {
  const std::string second =
      "grid blocks\nblock threads\nlaunch end\ngrid 1\nblock 32\ninstantiate k\narguments a, b, n\n";
  const double one = cycles("", {});
  EXPECT_GT(cycles(second, {}), one + 100);
  EXPECT_EQ(cycles(second + "when n < 0\n", {}), one);
  EXPECT_EQ(cycles(second + "untimed\n", {}), one);
}

TEST(LaunchModel, CountsTheThreadsOfTheLargestGrid) {
  const std::string grid = "\ngrid 2147483647, 65535, 65535\nblock threads\n";
  EXPECT_GT(cycles(grid, {.threads = 1024}), 1.5 * cycles(grid, {.threads = 512}));
}

TEST(LaunchModel, CountsRegistersStaticSharedMemoryAndSpillsOfTheCompiler) {
  const Launched at{.blocks = 800};
  Resources lean, wide, shared, spilling;
  lean.registers = wide.registers = shared.registers = spilling.registers = 32;
  wide.registers = 255;
  shared.static_shared_bytes = 150'000;
  spilling.spill_bytes = 64;
  const double least = cycles(kArithmetic, at, &lean);
  EXPECT_EQ(cycles(kArithmetic, at), least);
  EXPECT_GT(cycles(kArithmetic, at, &wide), 1.1 * least);
  EXPECT_GT(cycles(kArithmetic, at, &shared), 1.1 * least);
  EXPECT_EQ(cycles(kArithmetic, at, &spilling), 2 * least);
}

TEST(LaunchModel, TakesTheBuffersForTheTrafficUnlessTheFileSaysIt) {
  EXPECT_EQ(cycles("bytes 2 * n * sizeof(float)\n", {}), cycles("", {}));
  EXPECT_GT(cycles("bytes 4 * n * sizeof(float)\n", {}), 1.5 * cycles("", {}));
}

TEST(LaunchModel, DoesNotJudgeWhatItDoesNotKnow) {
  const auto applies = [](const std::string& lines, const DeviceLimits& limits, std::int64_t n) {
    const KernelSpec spec = kernel(lines);
    return LaunchModel(spec, complete(spec, {{{"n", n}}, {}}), limits).applies();
  };
  constexpr std::int64_t kLarge = 1 << 24;
  DeviceLimits cpu = some_limits();
  cpu.compute_capability = 0;
  EXPECT_TRUE(applies("", some_limits(), kLarge));
  EXPECT_FALSE(applies("", cpu, kLarge));
  EXPECT_FALSE(applies("", some_limits(), 1000));
  EXPECT_TRUE(applies(kArithmetic, some_limits(), 100'000));
  EXPECT_FALSE(applies("device_launches 5", some_limits(), kLarge));
  EXPECT_FALSE(applies("flops n / (n - 16777216)", some_limits(), kLarge));
}

}  // namespace
}  // namespace tuner
