// Every strategy drives real tuning: kernels are compiled, verified and timed on the host backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <tuner/core/kernel_file.hpp>
#include <tuner/search/strategy.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/tune_session.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

constexpr const char* kKernel = R"(
#pragma tuner kernel      shift
#pragma tuner size        n : int = 4096
#pragma tuner parameter   block = 32 64 128
#pragma tuner parameter   unroll = 1 2 4
#pragma tuner parameter   order = rows columns
#pragma tuner constraint  small: block * unroll <= 256
#pragma tuner in          a[n] : int
#pragma tuner out         b[n] : int
#pragma tuner grid        ceil_div(n, block * unroll)
#pragma tuner block       block
#pragma tuner arguments   a, b, n
#pragma tuner instantiate shift<block, unroll, Order::order>
#pragma tuner reference   reference
enum class Order { rows, columns };
template <int block, int unroll, Order order>
__global__ void shift(const int* a, int* b, int n) {
  for (int k = 0; k < unroll; ++k) {
    const int inner = order == Order::rows ? k * block + int(threadIdx.x) : int(threadIdx.x) * unroll + k;
    const int i = int(blockIdx.x) * block * unroll + inner;
    if (i < n) b[i] = a[i] + 1;
  }
}
__global__ void reference(const int* a, int* b, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) b[i] = a[i] + 1;
}
)";

class LiveStrategy : public ::testing::TestWithParam<std::string> {};

TEST_P(LiveStrategy, TunesAKernelOnTheHost) {
  const KernelSpec spec = parse_kernel_file(kKernel, "shift.cu");
  const ProblemSize size = complete(spec, {});
  const Device device = choose_device("host").device;
  const std::unique_ptr<Backend> backend = open_backend(device);
  MeasureOptions measure;
  measure.min_samples = 3;
  // One compile covers the whole space, for every strategy.
  IsolatedEvaluator evaluator(spec, size, measure, {.here = backend.get(), .batch = 16});
  SessionOptions options;
  options.strategy = GetParam();
  options.budget.trials = 10;
  const SessionResult result = run_session(spec, size, device, evaluator, nullptr, options, nullptr);
  EXPECT_EQ(result.trials.size(), 10u);
  std::set<Configuration> tried;
  for (const Trial& trial : result.trials) {
    EXPECT_TRUE(trial.verified) << trial.configuration.text() << ": " << message(trial.outcome);
    EXPECT_TRUE(tried.insert(trial.configuration).second) << trial.configuration.text() << " was tried twice";
  }
  ASSERT_TRUE(result.best);
  EXPECT_GT(result.best->measurement()->median_ns, 0);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const search::StrategyInfo& info : search::strategies()) out.push_back(info.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(OnTheHost, LiveStrategy, ::testing::ValuesIn(names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace tuner
