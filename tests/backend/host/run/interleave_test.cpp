// Images whose threads switch at memory accesses: races that no order of uninterrupted threads shows.

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

using Kind = ThreadOrder::Kind;

constexpr const char* kKernels = R"(
__global__ void increments(int* c) { c[threadIdx.x % 16]++; }
__global__ void splits(int* c) { const int old = c[threadIdx.x % 16]; c[threadIdx.x % 16] = old + 1; }
__global__ void keeps(volatile int* c) { c[threadIdx.x % 16] = c[threadIdx.x % 16] + 1; }
__global__ void adds(int* c) { atomicAdd(&c[threadIdx.x % 16], 1); }
__global__ void adds_floats(int* c) { atomicAdd((float*)&c[threadIdx.x % 16], 1.f); }

template <bool atomic>
__global__ void histogram(int* c) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
    if (atomic) atomicAdd(&s[i % 16], 1); else s[i % 16]++;
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&c[threadIdx.x], s[threadIdx.x]);
}

enum Meeting { nowhere, block, warp };
template <Meeting meeting>
__global__ void exchange(int* c) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
  s[t] = t + 1;
  if (meeting == block) __syncthreads();
  if (meeting == warp) __syncwarp();
  c[t] = s[t ^ 1];
}

extern __shared__ int outside[];
__global__ void dynamic(int* c) {
  extern __shared__ int inside[];
  if (threadIdx.x % 2 == 0) inside[threadIdx.x] = threadIdx.x; else outside[threadIdx.x] = threadIdx.x;
  __syncthreads();
  c[threadIdx.x] = outside[threadIdx.x ^ 1];
}

__attribute__((noinline)) __device__ void add(int* own, int value) { own[value % 16] += value; }
__global__ void private_memory(int* c) {
  int own[16] = {};
  for (int i = 0; i < 16; ++i) add(own, (int)threadIdx.x + i);
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += own[i];
  c[threadIdx.x] = sum;
}

__global__ void collectives(int* c) {
  __shared__ int s[4];
  const int t = threadIdx.x;
  if (t >= 96) return;
  int sum = t * t;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (t % 32 == 0) s[t / 32] = sum;
  const int count = __syncthreads_count(1);
  if (t == 0) { c[0] = s[0] + s[1] + s[2]; c[1] = count; }
}

__global__ void turns(volatile int* c) {
  while (*c != 127 - (int)threadIdx.x) {}
  *c = *c + 1;
}
__global__ void endless(volatile int* c) { while (*c == 0) {} }

struct Pair { int x, y; };
__global__ void whole(int* c) {
  __shared__ alignas(16) int s[8];
  const int4 four = *reinterpret_cast<int4*>(c + 4);
  *reinterpret_cast<int4*>(s + 4) = four;
  const Pair pair = *reinterpret_cast<Pair*>(c + 1);
  c[0] = pair.x + s[4];
}
__global__ void halves(int* c) { *reinterpret_cast<int2*>(c) = *reinterpret_cast<int2*>(c + 3); }
)";

/// kKernels compiled once for all tests, plainly and interleaved.
class HostInterleaved : public ::testing::Test {
 protected:
  ~HostInterleaved() override { backend().set_order({}); }

  static const Module& module(bool interleaved) {
    static const std::unique_ptr<Module> modules[] = {compiled(false), compiled(true)};
    return *modules[interleaved ? 1 : 0];
  }
  static std::vector<int> run(bool interleaved, std::string_view kernel, const ThreadOrder& order,
                              std::int64_t blocks = 1) {
    backend().set_order(order);
    std::vector<int> out(128, 0);
    const std::size_t function =
        static_cast<std::size_t>(std::find(std::begin(names), std::end(names), kernel) - std::begin(names));
    EXPECT_EQ(text(launch(module(interleaved), function, shape(blocks, 128, 512), 20, backend(), out.data())), "done");
    return out;
  }

  /// In how many of 8 interleaved runs \p kernel gives \p right; it always does when its threads do not switch.
  static int times_right(std::string_view kernel, const std::vector<int>& right, std::int64_t blocks = 1) {
    EXPECT_EQ(run(true, kernel, {Kind::forward}, blocks), right);
    int times = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed)
      times += run(true, kernel, {Kind::interleaved, seed}, blocks) == right ? 1 : 0;
    return times;
  }

  static constexpr std::string_view names[] = {"increments",      "splits",
                                               "keeps",           "adds",
                                               "adds_floats",     "histogram<false>",
                                               "histogram<true>", "exchange<nowhere>",
                                               "exchange<block>", "exchange<warp>",
                                               "dynamic",         "private_memory",
                                               "collectives",     "turns",
                                               "endless",         "whole",
                                               "halves"};

 private:
  static std::unique_ptr<Module> compiled(bool interleaved) {
    CompileRequest wanted = request(kKernels, {std::begin(names), std::end(names)});
    wanted.interleaved = interleaved;
    return load(backend().compiler().compile(wanted));
  }
};

std::vector<int> first_16(int value) {
  std::vector<int> result(128);
  std::fill_n(result.begin(), 16, value);
  return result;
}

TEST_F(HostInterleaved, ShowsALostUpdateOfGlobalMemory) {
  for (const char* kernel : {"increments", "splits", "keeps"}) {
    for (const Kind kind : {Kind::forward, Kind::reverse, Kind::interleaved})
      EXPECT_EQ(run(false, kernel, {kind, 3}), first_16(8)) << "a plain image switches nowhere";
    EXPECT_LE(times_right(kernel, first_16(8)), 2) << kernel;
  }
  EXPECT_EQ(times_right("adds", first_16(8)), 8);
  EXPECT_EQ(times_right("adds", first_16(800), 100), 8);
}

TEST_F(HostInterleaved, KeepsAtomicsOfEveryTypeWhole) {
  const float eight = 8;
  int bits = 0;
  __builtin_memcpy(&bits, &eight, sizeof bits);
  EXPECT_EQ(times_right("adds_floats", first_16(bits)), 8);
}

TEST_F(HostInterleaved, ShowsALostUpdateOfSharedMemory) {
  EXPECT_LE(times_right("histogram<false>", first_16(64)), 1);
  EXPECT_EQ(times_right("histogram<true>", first_16(64)), 8);
  EXPECT_EQ(times_right("histogram<true>", first_16(64 * 40), 40), 8);
}

TEST_F(HostInterleaved, ShowsAMissingBarrierBetweenNeighbours) {
  for (const ThreadOrder& order : {ThreadOrder{Kind::interleaved, 1}, {Kind::interleaved, 2}}) {
    const std::vector<int> right = run(false, "exchange<block>", {});
    EXPECT_NE(run(true, "exchange<nowhere>", order), right);
    EXPECT_EQ(run(true, "exchange<block>", order, 4), right);
    EXPECT_EQ(run(true, "exchange<warp>", order, 4), right);
  }
}

TEST_F(HostInterleaved, FindsMisalignedAccesses) {
#ifdef TUNER_SANITIZED
  GTEST_SKIP() << "the sanitizer's runtime in this process takes the reports of kernels";
#endif
  EXPECT_EQ(run(true, "whole", {}), std::vector<int>(128));
  backend().set_order({});
  std::vector<int> out(128);
  const std::string error =
      text(launch(module(true), std::size(names) - 1, shape(1, 128, 512), 20, backend(), out.data()));
  EXPECT_THAT(error,
              HasSubstr("misaligned access, on which a GPU faults: the type needs a multiple of 8 bytes (test.cu:"));
  EXPECT_THAT(error, HasSubstr("in block (0, 0, 0), thread (0, 0, 0)"));
}

TEST_F(HostInterleaved, GivesTheSameForTheSameSeed) {
  const auto again = [] { return run(true, "histogram<false>", {Kind::interleaved, 5}); };
  EXPECT_EQ(again(), again());
  EXPECT_NE(again(), run(true, "histogram<false>", {Kind::interleaved, 6}));
}

TEST_F(HostInterleaved, KnowsDynamicSharedMemoryFromItsFirstAccessOn) {
  std::vector<int> right(128);
  for (int t = 0; t < 128; ++t) right[static_cast<std::size_t>(t)] = t ^ 1;
  EXPECT_EQ(times_right("dynamic", right, 4), 8);
}

TEST_F(HostInterleaved, LeavesAloneWhatAThreadKeepsForItself) {
  std::vector<int> right(128);
  for (int t = 0; t < 128; ++t) right[static_cast<std::size_t>(t)] = 16 * t + 120;
  EXPECT_EQ(times_right("private_memory", right, 3), 8);
}

TEST_F(HostInterleaved, KeepsWarpCollectivesAndEarlyReturnsWhole) {
  std::vector<int> right(128);
  for (int t = 0; t < 96; ++t) right[0] += t * t;
  right[1] = 96;
  EXPECT_EQ(times_right("collectives", right), 8);
}

TEST_F(HostInterleaved, RunsThreadsThatWaitForEachOther) {
  EXPECT_EQ(run(true, "turns", {Kind::interleaved, 1})[0], 128);
}

TEST_F(HostInterleaved, StopsAnEndlessKernel) {
  backend().set_order({Kind::interleaved, 1});
  int zero = 0;
  EXPECT_THAT(text(launch(module(true), 14, shape(4, 64), 0.2, backend(), &zero)), HasSubstr("did not end within"));
}

}  // namespace
}  // namespace tuner::host_test
