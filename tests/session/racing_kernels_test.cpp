// Kernels with a race that does not show while threads run without interruption. The host never names them best.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/core/kernel_file.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/tune_session.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

/// The directives that all kernels here share. `safe` corrects the race. One block, because several would meet by
/// chance.
constexpr const char* kDirectives = R"(
#pragma tuner kernel      race
#pragma tuner size        n : int = 128
#pragma tuner parameter   safe = false true
#pragma tuner grid        ceil_div(n, 128)
#pragma tuner block       128
)";

struct Race {
  const char* name;
  const char* says;  ///< the message; of a race between blocks, which any run may show first, only the element
  const char* text;
};

constexpr Race kRaces[] = {
    {"AnUpdateWithoutAnAtomic", "c[", R"(
#pragma tuner in          a[n] : int
#pragma tuner fill        a = uniform 0 16
#pragma tuner inout       c[16] : int
#pragma tuner arguments   a, c, n
#pragma tuner instantiate scatter<safe>
#pragma tuner reference   scatter<true>
#pragma tuner grid        ceil_div(n, 128)
#pragma tuner block       128
template <bool safe>
__global__ void scatter(const int* a, int* c, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  if (safe) atomicAdd(&c[a[i]], 1); else c[a[i]]++;
}
)"},
    {"AHistogramInSharedMemoryWithoutAtomics", "with its threads switching at memory accesses", R"(
#pragma tuner in          a[n] : int
#pragma tuner fill        a = uniform 0 16
#pragma tuner inout       c[16] : int
#pragma tuner arguments   a, c, n
#pragma tuner instantiate histogram<safe>
#pragma tuner reference   histogram<true>
#pragma tuner grid        ceil_div(n, 128)
#pragma tuner block       128
template <bool safe>
__global__ void histogram(const int* a, int* c, int n) {
  __shared__ int s[16];
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) {
    if (safe) atomicAdd(&s[a[i]], 1); else s[a[i]]++;
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&c[threadIdx.x], s[threadIdx.x]);
}
)"},
    {"AMissingBarrierBeforeANextNeighbour", "c[", R"(
#pragma tuner in          a[n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, n
#pragma tuner instantiate neighbours<safe, 1>
#pragma tuner reference   neighbours<true, 1>
#pragma tuner grid        ceil_div(n, 128)
#pragma tuner block       128
)"},
    {"AMissingBarrierBeforeAnEarlierNeighbour", "c[", R"(
#pragma tuner in          a[n] : int
#pragma tuner out         c[n] : int
#pragma tuner arguments   a, c, n
#pragma tuner instantiate neighbours<safe, -1>
#pragma tuner reference   neighbours<true, -1>
#pragma tuner grid        ceil_div(n, 128)
#pragma tuner block       128
)"}};

constexpr const char* kNeighbours = R"(
template <bool safe, int step>
__global__ void neighbours(const int* a, int* c, int n) {
  __shared__ int s[128];
  const int t = int(threadIdx.x), i = int(blockIdx.x) * 128 + t;
  s[t] = 0;
  __syncthreads();
  s[t] = a[i] + 1;
  if (safe) __syncthreads();
  c[i] = s[min(max(t + step, 0), 127)];
}
)";

class RacingKernel : public ::testing::TestWithParam<Race> {
 protected:
  static SessionResult tune(const std::vector<Configuration>& only) {
    std::string text = kDirectives + std::string(GetParam().text);
    if (text.find("__global__") == std::string::npos) text += kNeighbours;
    KernelSpec spec = parse_kernel_file(text, "race.cu");
    if (only.size() == 1) spec.space = SearchSpace({{"safe", {*only.front().find("safe")}}}, {});
    spec.default_configuration = only.front();
    const ProblemSize size = complete(spec, {});
    const Device device = choose_device("host").device;
    const std::unique_ptr<Backend> backend = open_backend(device);
    MeasureOptions measure;
    measure.min_samples = 3;
    measure.max_seconds = 0;
    IsolatedEvaluator evaluator(spec, size, measure, {.here = backend.get()});
    return run_session(spec, size, device, evaluator, nullptr, {}, nullptr);
  }
  static Configuration safe(bool value) { return Configuration{{"safe", value}}; }
};

TEST_P(RacingKernel, IsNotNamedBestThoughItMayBeFastest) {
  const SessionResult result = tune({safe(false), safe(true)});
  ASSERT_TRUE(result.best) << message(result.trials.front().outcome) << '\n' << message(result.trials.back().outcome);
  EXPECT_EQ(result.best->configuration, safe(true));
}

TEST_P(RacingKernel, IsWrongWhereItIsAllThereIs) {
  const SessionResult result = tune({safe(false)});
  EXPECT_FALSE(result.best);
  ASSERT_EQ(result.trials.size(), 1u);
  EXPECT_EQ(kind(result.trials.front().outcome), "wrong");
  EXPECT_THAT(message(result.trials.front().outcome), ::testing::HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(OnTheHost, RacingKernel, ::testing::ValuesIn(kRaces),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tuner
