// Thread blocks: barriers, warps, atomics, shared memory, and what happens when they are misused.

#include <cmath>
#include <numeric>

#include <tests/support/in_threads.hpp>
#include <tuner/backend/host/run/sanitizer.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

constexpr const char* kReduce = R"(
template <typename T, unsigned block>
__global__ void reduce(const T* __restrict__ in, T* out, int n) {
  __shared__ T partial[32];
  T sum = 0;
  for (int i = blockIdx.x * block + threadIdx.x; i < n; i += block * gridDim.x) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < block / 32 ? partial[threadIdx.x] : T(0);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}
)";

TEST(HostBlock, ReducesWithShufflesAndABarrier) {
  std::vector<int> in(100003);
  std::iota(in.begin(), in.end(), -50000);
  int out = 0;
  const int n = static_cast<int>(in.size());
  EXPECT_EQ(text(run(kReduce, "reduce<int, 256>", shape(37, 256), in.data(), &out, n)), "done");
  EXPECT_EQ(out, std::accumulate(in.begin(), in.end(), 0));
}

TEST(HostBlock, IsNoLargerThanTheLaunchBoundsOfItsKernel) {
  const char* source = R"(
template <int most>
__global__ void __launch_bounds__(most, 2) bounded(volatile int* out);
template <int most>
__global__ void __launch_bounds__(2 * most / 2, 2)
    bounded(volatile int* out) {
  out[threadIdx.x] = 1;
})";
  EXPECT_EQ(outputs<int>(64, source, "bounded<33>", shape(1, 33))[32], 1);
  std::vector<int> out(64);
  EXPECT_THAT(text(run(source, "bounded<32>", shape(1, 33), out.data())),
              HasSubstr("block of 33 threads exceeds this kernel's limit of 32 (__launch_bounds__)"));
}

TEST(HostBlock, CountsAtBarriers) {
  const char* source = R"(
__global__ void counts(int* out) {
  const int odd = __syncthreads_count(threadIdx.x % 2), all = __syncthreads_and(threadIdx.x < 100),
            none = __syncthreads_or(threadIdx.x > 100), some = __syncthreads_or(threadIdx.x == 99);
  if (threadIdx.x == 50) { out[0] = odd; out[1] = all; out[2] = none; out[3] = some; }
})";
  const auto out = outputs<int>(4, source, "counts", shape(1, 100));
  EXPECT_THAT(out, ElementsAre(50, 1, 0, 1));
}

TEST(HostBlock, LetsThreadsThatReturnedBeMissedAtABarrier) {
  const char* source = R"(
__global__ void early(int* out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  __syncwarp();
  atomicAdd(out, 1);
})";
  const int out = output<int>(source, "early", shape(3, 64));
  EXPECT_EQ(out, 120);
}

TEST(HostBlock, SharesDynamicMemoryDeclaredAsInCuda) {
  const char* source = R"(
extern __shared__ __align__(16) unsigned char outside[];
__global__ void mirror(const int* in, int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<int*>(outside)[blockDim.x - 1 - threadIdx.x];
})";
  std::vector<int> in(128), out(128);
  std::iota(in.begin(), in.end(), 0);
  EXPECT_EQ(text(run(source, "mirror", shape(1, 128, 512), in.data(), out.data())), "done");
  EXPECT_EQ(out[0], 127);
  EXPECT_EQ(out[127], 0);
}

TEST(HostBlock, RunsKernelsThatAreNoexcept) {
  const int out = output<int>("__global__ void k(int* out) noexcept { *out = 3; }", "k", shape(1, 1));
  EXPECT_EQ(out, 3);
}

TEST(HostBlock, FinishesInTheLastBlockByATicket) {
  const char* source = R"(
__global__ void ticket(int* partial, unsigned* ticket, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
  atomicAdd(out, sum);
})";
  std::vector<int> partial(1000);
  unsigned counter = 0;
  int out = 0;
  EXPECT_EQ(text(run(source, "ticket", shape(1000, 64), partial.data(), &counter, &out)), "done");
  EXPECT_EQ(out, 500500);
  EXPECT_EQ(counter, 0u);
}

TEST(HostBlock, CombinesAtomicallyAcrossBlocks) {
  const char* source = R"(
__global__ void atomics(int* i, unsigned long long* u, float* f, double* d) {
  atomicAdd(&i[0], 1); atomicMin(&i[1], -(int)blockIdx.x); atomicMax(&i[2], (int)blockIdx.x); atomicOr(&i[3], 1 << (blockIdx.x % 8));
  atomicAdd(u, 1ull << 32); atomicAdd(f, 0.5f); atomicAdd(d, 0.25);
})";
  std::vector<int> i(4);
  unsigned long long u = 0;
  float f = 0;
  double d = 0;
  EXPECT_EQ(text(run(source, "atomics", shape(200, 32), i.data(), &u, &f, &d)), "done");
  EXPECT_THAT(i, ElementsAre(6400, -199, 199, 255));
  EXPECT_EQ(u, 6400ull << 32);
  EXPECT_EQ(f, 3200.0f);
  EXPECT_EQ(d, 1600.0);
}

TEST(HostBlock, NumbersThreadsAndBlocksInThreeDimensions) {
  const char* source = R"(
__global__ void number(int* out) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] += block * 100 + thread;
})";
  const std::unique_ptr<Module> module = load(source, {"number"});
  std::vector<int> out(24 * 24);
  const LaunchShape at{{2, 3, 4}, {4, 3, 2}, 0};
  EXPECT_EQ(text(launch(*module, 0, at, 20, backend(), out.data())), "done");
  for (int i = 0; i < 24 * 24; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i / 24 * 100 + i % 24);
}

TEST(HostBlock, RunsCooperativeTiles) {
  const char* source = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void tiles(int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  int v = block.thread_rank();
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) v += tile.shfl_down(v, offset);
  const bool whole = tile.ballot(1) == 0xffu;
  block.sync();
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = v * whole;
})";
  const auto out = outputs<int>(8, source, "tiles", shape(1, 64));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], 64 * i + 28);
}

TEST(HostBlock, RunsThreadGroupsOfASizeKnownAtRunTime) {
  const char* source = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void groups(int* out, unsigned size) {
  __shared__ int s[64];
  const cg::thread_group block = cg::this_thread_block();
  const cg::thread_group warp = cg::tiled_partition(cg::this_thread_block(), 32);
  const cg::thread_group part = cg::tiled_partition(warp, size);
  s[threadIdx.x] = threadIdx.x;
  block.sync();
  int* const mine = s + (threadIdx.x - part.thread_rank());
  for (unsigned offset = part.size() / 2; offset > 0; offset /= 2) {
    if (part.thread_rank() < offset) mine[part.thread_rank()] += mine[part.thread_rank() + offset];
    part.sync();
  }
  if (part.thread_rank() == 0) out[block.thread_rank() / size] = mine[0] + 1000 * block.size();
})";
  const auto out = outputs<int>(16, source, "groups", shape(1, 64), 4u);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], 64000 + 16 * i + 6);
}

// A lane runs on until it has to wait: without __syncwarp() it reads what its neighbours have not yet written.
TEST(HostBlock, ShowsAMissingSyncwarpAsAWrongSum) {
  const std::string head = R"(
__global__ void tail(int* out) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = 1; s[threadIdx.x + 32] = 1;
  __syncwarp();
  for (int offset = 32; offset > 0; offset /= 2) {
    const int other = s[threadIdx.x + offset];
)";
  const std::string end = "  }\n  if (threadIdx.x == 0) *out = s[0];\n}";
  int right = 0, wrong = 0;
  EXPECT_EQ(text(run(head + "__syncwarp(); s[threadIdx.x] = s[threadIdx.x] + other; __syncwarp();\n" + end, "tail",
                     shape(1, 32), &right)),
            "done");
  EXPECT_EQ(text(run(head + "s[threadIdx.x] = s[threadIdx.x] + other;\n" + end, "tail", shape(1, 32), &wrong)), "done");
  EXPECT_EQ(right, 64);
  EXPECT_NE(wrong, 64);
}

struct Misuse {
  const char* name;
  const char* body;
  const char* message;
};

class HostMisuse : public ::testing::TestWithParam<Misuse> {};

TEST_P(HostMisuse, IsALaunchErrorAndNotAHang) {
  const std::string source = std::string("__global__ void misuse(int* out) {\n") + GetParam().body + "\n}";
  int out[64] = {};
  const auto outcome = run(source, "misuse", shape(2, 64), &out[0]);
  EXPECT_THAT(text(outcome), AllOf(StartsWith("launch: misuse: "), HasSubstr(GetParam().message)));
  // The backend works on as if nothing had happened.
  std::vector<int> in(1000, 1);
  int sum = 0;
  EXPECT_EQ(text(run(kReduce, "reduce<int, 64>", shape(3, 64), in.data(), &sum, 1000)), "done");
  EXPECT_EQ(sum, 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HostMisuse,
    ::testing::Values(
        Misuse{"BarrierAgainstWarp", "if (threadIdx.x == 5) __syncwarp(); else __syncthreads();",
               "barrier divergence: in block"},
        Misuse{"TwoBarriers", "if (threadIdx.x < 32)\n __syncthreads();\nelse\n __syncthreads();", "test.cu:3)"},
        Misuse{"MaskWithoutTheCaller", "__syncwarp(1u);", "does not name the calling lane 1"},
        Misuse{"OtherOperation", "if (threadIdx.x % 2) __syncwarp(); else __ballot_sync(~0u, 1);", "warp divergence"},
        Misuse{"ReadsALaneThatReturned", "if (threadIdx.x % 32 == 7) return;\n *out = __shfl_sync(~0u, 1, 7);",
               "reads lane 7, which has returned"},
        Misuse{"Trap", "if (threadIdx.x == 3)\n __trap();", "trap (test.cu:3) in block"},
        Misuse{"Assertion", "assert(threadIdx.x < 10);", "assertion failed: threadIdx.x < 10 (test.cu:2)"},
        Misuse{"Exception", "if (threadIdx.x == 60) throw 3;\n __syncthreads();", "exception of an unknown type"}),
    [](const ::testing::TestParamInfo<Misuse>& one) { return std::string(one.param.name); });

TEST(HostFaults, EndALaunchWithTheBlockAndThreadThatFaulted) {
#if defined(TUNER_SANITIZED)
  GTEST_SKIP() << "the sanitizer reports faults itself";
#endif
  const char* source = R"(
__global__ void fault(int* out, int zero) { if (threadIdx.x == 7) out[0] = threadIdx.x / zero; __syncthreads(); }
__global__ void touch(int* out) { __syncthreads(); if (threadIdx.x == 9) *(volatile int*)out = 1; }
__global__ void deep(int* out) { volatile char big[70000]; for (int i = 0; i < 70000; i += 100) big[i] = i; *out = big[100]; }
)";
  const std::unique_ptr<Module> module = load(source, {"fault", "touch", "deep"});
  int out = 0;
  int* nowhere = reinterpret_cast<int*>(16);
  EXPECT_THAT(text(launch(*module, 0, shape(2, 64), 20, backend(), &out, 0)),
              AllOf(HasSubstr("integer division by zero"), HasSubstr("thread (7, 0, 0)")));
  EXPECT_THAT(text(launch(*module, 1, shape(2, 64), 20, backend(), nowhere)),
              AllOf(HasSubstr("illegal memory access at address 0x10"), HasSubstr("thread (9, 0, 0)")));
  EXPECT_THAT(text(launch(*module, 2, shape(1, 1), 20, backend(), &out)), HasSubstr("stack overflow"));
  EXPECT_EQ(text(launch(*module, 0, shape(2, 64), 20, backend(), &out, 1)), "done");
}

TEST(HostTimeout, StopsKernelsThatDoNotEnd) {
  const char* source = R"(
__global__ void spin(volatile int* flag) { while (*flag == 0) {} }
__global__ void meet(volatile int* flag) { while (*flag == 0) __syncthreads(); }
__global__ void doze(volatile int* flag) { while (*flag == 0) __nanosleep(100); }
)";
  const std::unique_ptr<Module> module = load(source, {"spin", "meet", "doze"});
  int flag = 0;
#if defined(TUNER_HOST_TSAN)
  const std::size_t first = 1;  // it holds signals back until the kernel calls something, which `spin` does not
#else
  const std::size_t first = 0;
#endif
  for (std::size_t function = first; function < 3; ++function) {
    EXPECT_THAT(text(launch(*module, function, shape(8, 64), 0.05, backend(), &flag)), StartsWith("timeout: "))
        << function;
  }
  flag = 1;
  EXPECT_EQ(text(launch(*module, 0, shape(8, 64), 60, backend(), &flag)), "done");
}

TEST(HostLaunch, IsRefusedWhereItCannotRun) {
  const std::unique_ptr<Module> module = load("__global__ void k(int* a, long long n) {}", {"k"});
  int* a = nullptr;
  const long long n = 0;
  EXPECT_THAT(text(launch(*module, 0, shape(1, 1025), 1, backend(), a, n)), HasSubstr("1025"));
  EXPECT_THAT(text(launch(*module, 0, shape(0, 32), 1, backend(), a, n)), HasSubstr("grid"));
  EXPECT_THAT(text(launch(*module, 0, shape(1, 32, 300000), 1, backend(), a, n)),
              HasSubstr("dynamic shared memory of 300000 bytes exceeds"));
  EXPECT_THAT(text(launch(*module, 0, shape(1, 32), 1, backend(), a)), HasSubstr("takes 2 arguments, not 1"));
  EXPECT_THAT(text(launch(*module, 0, shape(1, 32), 1, backend(), a, 3)), HasSubstr("argument 2 has 4 bytes"));
}

TEST(HostLaunch, FindsWhatAKernelDoesBeyondItsDynamicSharedMemory) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "the sanitizer ends the program itself";
  const std::unique_ptr<Module> module = load(R"(
extern __shared__ int s[];
__global__ void write(int at) { s[at] = 1; }
__global__ void read(int* out, int at) { *out = s[at]; }
)",
                                              {"write", "read"});
  const auto write = [&](int at, int bytes) { return text(launch(*module, 0, shape(2, 1, bytes), 20, backend(), at)); };
  EXPECT_EQ(write(63, 256), "done");
  EXPECT_THAT(write(64, 256), HasSubstr("writes beyond the 256 bytes of dynamic shared memory"));
  EXPECT_THAT(write(1023, 256), HasSubstr("writes beyond the 256 bytes"));
  EXPECT_THAT(write(0, 0),
              HasSubstr("beyond the 0 bytes of dynamic shared memory that it is launched with (`shared`)"));
  EXPECT_THAT(write(5000, 256), HasSubstr("beyond the 256 bytes"));
  EXPECT_EQ(write(5000, 32768), "done");
  EXPECT_THAT(write(5000, 256), HasSubstr("beyond the 256 bytes"));
  int out = 0;
  EXPECT_THAT(text(launch(*module, 1, shape(1, 1, 64), 20, backend(), &out, 10'000'000)),
              HasSubstr("beyond the 64 bytes"));
  EXPECT_EQ(write(63, 256), "done") << "what went wrong before is forgotten";
}

// ---------------------------------------------------------------- order

/// The results of kernel k of \p source with 64 threads in 3 blocks, in each order.
std::vector<std::vector<int>> in_every_order(const std::string& source) {
  const std::unique_ptr<Module> module = load(source, {"k"});
  std::vector<std::vector<int>> results;
  for (const ThreadOrder::Kind kind :
       {ThreadOrder::Kind::forward, ThreadOrder::Kind::reverse, ThreadOrder::Kind::interleaved}) {
    EXPECT_TRUE(backend().set_order({kind, 7}));
    std::vector<int> out(192, -1);
    EXPECT_EQ(text(launch(*module, 0, shape(3, 64), 20, backend(), out.data())), "done");
    results.push_back(out);
  }
  backend().set_order({});
  return results;
}

constexpr const char* kNeighbours = R"(
__global__ void k(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = -5;
  __syncthreads();
  s[t] = t * t;
  BARRIER
  out[blockIdx.x * 64 + t] = s[NEIGHBOUR];
})";

std::string neighbours(const std::string& barrier, const std::string& neighbour) {
  return "#define BARRIER " + barrier + "\n#define NEIGHBOUR " + neighbour + "\n" + kNeighbours;
}

TEST(HostOrder, GivesOneResultForARightKernelInEveryOrder) {
  for (const char* neighbour : {"(t + 1) % 64", "(t + 63) % 64", "63 - t"}) {
    const auto results = in_every_order(neighbours("__syncthreads();", neighbour));
    EXPECT_EQ(results[0][0], results[0][64]);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

TEST(HostOrder, ShowsAMissingBarrierInEitherDirection) {
  for (const char* neighbour : {"t < 63 ? t + 1 : t", "t > 0 ? t - 1 : t"}) {
    const std::vector<int> right = in_every_order(neighbours("__syncthreads();", neighbour))[0];
    const auto results = in_every_order(neighbours("", neighbour));
    EXPECT_TRUE(results[0] != right || results[1] != right) << neighbour;
    EXPECT_NE(results[2], right) << neighbour;
  }
}

TEST(HostThreads, MayAllUseOneBackend) {
  const auto module =
      load("__global__ void k(int* out, int value) { out[blockIdx.x * 32 + threadIdx.x] = value; }", {"k"});
  testing::in_threads(4, [&](int value) {
    for (int round = 0; round < 20; ++round) {
      const auto memory = backend().allocate(4096);
      backend().fill_bytes(memory->address(), 0xff, 4096);
      EXPECT_EQ(text(launch(*module, 0, shape(32, 32), 20, backend(), memory->address(), value)), "done");
      std::vector<int> out(1024);
      backend().download(out.data(), memory->address(), 4096);
      EXPECT_EQ(out, std::vector<int>(1024, value));
      EXPECT_EQ(backend().fingerprint(memory->address(), 4096), backend().fingerprint(memory->address(), 4096));
    }
  });
}

TEST(HostOrder, StartsEveryBlockOnce) {
  const auto module = load("__global__ void k(int* out) { out[blockIdx.x] += 1; }", {"k"});
  for (const std::int64_t blocks : {1, 2, 97, 1000}) {
    for (const ThreadOrder::Kind kind :
         {ThreadOrder::Kind::forward, ThreadOrder::Kind::reverse, ThreadOrder::Kind::interleaved}) {
      backend().set_order({kind, 3});
      std::vector<int> out(static_cast<std::size_t>(blocks));
      EXPECT_EQ(text(launch(*module, 0, shape(blocks, 1), 20, backend(), out.data())), "done");
      EXPECT_EQ(out, std::vector<int>(static_cast<std::size_t>(blocks), 1));
    }
  }
  backend().set_order({});
}

// ---------------------------------------------------------------- memory

TEST(HostMemory, FaultsFarOutsideABufferAndTellsTheAddress) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "a sanitizer reports it, and ends the process";
  const auto module = load("__global__ void k(int* out, long long i) { out[i] = 1; }", {"k"});
  const auto memory = backend().allocate(8192);
  const auto elements = [](std::int64_t bytes) { return bytes / 4; };
  for (const std::int64_t bytes : {-4, -4096, -(1 << 25), 8192, 12000, 1 << 25}) {
    const auto outcome = launch(*module, 0, shape(1, 1), 5, backend(), memory->address(), elements(bytes));
    ASSERT_TRUE(outcome && std::holds_alternative<LaunchError>(*outcome)) << bytes << ' ' << text(outcome);
    EXPECT_EQ(std::get<LaunchError>(*outcome).address, memory->address() + static_cast<std::uintptr_t>(bytes));
  }
  EXPECT_EQ(text(launch(*module, 0, shape(1, 1), 5, backend(), memory->address(), elements(8188))), "done");
}

TEST(HostMemory, SaysWhatThereIsWhenThereIsNoRoom) {
  for (const std::size_t bytes : {std::size_t{1} << 50, ~std::size_t{0}}) {
    EXPECT_THAT(error_of([&] { (void)backend().allocate(bytes); }),
                AllOf(HasSubstr("no room for " + std::to_string(bytes) + " bytes"), HasSubstr("are free")));
  }
}

TEST(HostMemory, CountsWhatWasAllocatedAndIsNotTouchedYet) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "a sanitizer touches memory of its own for each buffer";
  std::vector<std::unique_ptr<DeviceMemory>> all;
  const auto fits = [&](std::size_t bytes) {
    try {
      all.push_back(backend().allocate(bytes));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  std::size_t bytes = std::size_t{1} << 50;
  while (!fits(bytes)) bytes /= 2;
  ASSERT_GT(bytes, std::size_t{64} << 20) << "smaller ones are not asked about";
  EXPECT_FALSE(fits(bytes) && fits(bytes) && fits(bytes)) << "half of what there is, four times: " << bytes;
}

}  // namespace
}  // namespace tuner::host_test
