// Barriers in memory, pipelines and asynchronous copies.

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

TEST(HostBarriers, MakeAllThreadsOfABlockWaitAndCallTheirCompletion) {
  const std::vector<int> out = outputs<int>(2, R"(
#include <cuda/barrier>
#include <cuda/std/utility>
struct Count {
  int* calls;
  __device__ void operator()() { ++*calls; }
};
__global__ void k(int* out) {
  __shared__ int numbers[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ alignas(16) char storage[sizeof(cuda::barrier<cuda::thread_scope_block, Count>)];
  auto* counted = reinterpret_cast<cuda::barrier<cuda::thread_scope_block, Count>*>(storage);
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    init(counted, blockDim.x, Count{out + 1});
  }
  __syncthreads();
  numbers[threadIdx.x] = threadIdx.x;
  auto token = bar.arrive();
  bar.wait(cuda::std::move(token));
  if (threadIdx.x == 0) for (int x : numbers) out[0] += x;
  for (int i = 0; i < 5; ++i) counted->arrive_and_wait();
})",
                                            "k", shape(1, 64));
  EXPECT_THAT(out, ElementsAre(63 * 32, 5));
}

TEST(HostBarriers, LetSomeThreadsGoAndCountTheOthers) {
  EXPECT_EQ(output<int>(R"(
#include <cuda/barrier>
__global__ void k(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 96);
  __syncthreads();
  if (threadIdx.x >= 50) { bar.arrive_and_drop(); return; }
  for (int i = 0; i < 3; ++i) {
    bar.arrive_and_wait();
    if (threadIdx.x == 0) ++*out;
  }
})",
                        "k", shape(1, 96)),
            3);
}

// One warp copies tiles, the others add them up.
constexpr const char* kWarpRoles = R"(
#include <cuda_awbarrier_primitives.h>
__global__ void k(const int* in, int* out, int tiles) {
  constexpr int stages = 3;
  __shared__ int tile[stages][32];
  __shared__ __mbarrier_t full[stages], empty[stages];
  if (threadIdx.x == 0)
    for (int s = 0; s < stages; ++s) {
      __mbarrier_init(&full[s], 32);
      __mbarrier_init(&empty[s], 64);
    }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < tiles; ++i) {
      while (!__mbarrier_try_wait_parity(&empty[i % stages], i / stages % 2 == 0, 100)) {}
      tile[i % stages][threadIdx.x] = in[32 * i + threadIdx.x];
      __mbarrier_arrive(&full[i % stages]);
    }
  } else {
    int sum = 0;
    for (int i = 0; i < tiles; ++i) {
      while (!__mbarrier_test_wait_parity(&full[i % stages], i / stages % 2)) {}
      sum += tile[i % stages][(threadIdx.x * 7) % 32];
      __mbarrier_arrive(&empty[i % stages]);
    }
    atomicAdd(out, sum);
  }
})";

/// Runs \p source, which is kWarpRoles or a wrong variant, in several orders. Counts the runs that fail or are wrong.
int wrong_sums(const std::string& source) {
  std::vector<int> in(32 * 20);
  int total = 0;
  for (std::size_t i = 0; i < in.size(); ++i) total += in[i] = static_cast<int>(i % 13);
  int wrong = 0;
  for (const bool interleaved : {false, true}) {
    CompileRequest compile = request(source, {"k"});
    compile.interleaved = interleaved;
    const std::unique_ptr<Module> module = load(backend().compiler().compile(compile));
    for (const auto kind : {ThreadOrder::Kind::forward, ThreadOrder::Kind::reverse, ThreadOrder::Kind::interleaved}) {
      backend().set_order({kind, 5});
      int out = 0;
      const std::optional<Outcome> failure = launch(*module, 0, shape(1, 96), 20, backend(), in.data(), &out, 20);
      wrong += failure || out != 2 * total;
    }
  }
  backend().set_order({});
  return wrong;
}

TEST(HostBarriers, CarryTilesFromOneWarpToOthersInEachOrder) { EXPECT_EQ(wrong_sums(kWarpRoles), 0); }

TEST(HostBarriers, LetAllThreadsOfABlockMeetWhereverTheySwitch) {
  CompileRequest compile = request(R"(
#include <cuda/barrier>
__global__ void k(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int i = 0; i < 4; ++i) bar.arrive_and_wait();
  atomicAdd(out, 1);
})",
                                   {"k"});
  compile.interleaved = true;
  const std::unique_ptr<Module> module = load(backend().compiler().compile(compile));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    backend().set_order({ThreadOrder::Kind::interleaved, seed});
    int out = 0;
    const std::optional<Outcome> failure = launch(*module, 0, shape(4, 32), 20, backend(), &out);
    EXPECT_FALSE(failure) << message(*failure);
    EXPECT_EQ(out, 4 * 32);
  }
  backend().set_order({});
}

TEST(HostBarriers, ThatAreNotWaitedForShowInSomeOrder) {
  std::string source = kWarpRoles;
  const std::string wait = "while (!__mbarrier_test_wait_parity(&full[i % stages], i / stages % 2)) {}";
  source.erase(source.find(wait), wait.size());
  EXPECT_GT(wrong_sums(source), 0);
}

TEST(HostBarriers, SayWhereThreadsWaitForEver) {
  std::vector<int> out(1);
  const std::string head =
      "#include <cuda/barrier>\n__global__ void k(int* out) {\n"
      "  __shared__ cuda::barrier<cuda::thread_scope_block> bar;\n";
  EXPECT_THAT(
      text(run(head + "  if (threadIdx.x == 0) init(&bar, 33);\n  __syncthreads();\n  bar.arrive_and_wait();\n}\n", "k",
               shape(1, 32), out.data())),
      HasSubstr("32 wait at barrier::wait (test.cu:6), 0 have returned: no thread can continue"));
  EXPECT_THAT(text(run(head + "  bar.arrive();\n}\n", "k", shape(1, 32), out.data())),
              HasSubstr("more threads arrive at a barrier than its init() said, or it has none (test.cu:4)"));
}

TEST(HostBarriers, LetABoundedWaitReturnWhereNobodyElseCanRun) {
  const std::string head =
      "#include <cuda/barrier>\n#include <cuda/ptx>\n__global__ void k(int* out) {\n"
      "  __shared__ cuda::barrier<cuda::thread_scope_block> bar;\n"
      "  if (threadIdx.x == 0) init(&bar, 33);\n  __syncthreads();\n"
      "  auto token = bar.arrive();\n";
  // The last arrival comes only after a wait that fails.
  EXPECT_EQ(
      output<int>(head + "  int tries = 0;\n"
                         "  while (!bar.try_wait(token)) if (++tries == 5 && threadIdx.x == 7) (void)bar.arrive();\n"
                         "  atomicAdd(out, tries >= 5 || threadIdx.x != 7);\n}\n",
                  "k", shape(1, 32)),
      32);
  std::vector<int> out(1);
  EXPECT_THAT(text(run(head + "  while (!bar.try_wait(token)) {}\n}\n", "k", shape(1, 32), out.data())),
              HasSubstr("32 wait at barrier::try_wait (test.cu:8), 0 have returned: no thread can continue"));
}

TEST(HostBarriers, CountTheBytesOfCopies) {
  EXPECT_EQ(output<int>(R"(
#include <cuda/barrier>
#include <cooperative_groups.h>
__device__ int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void k(int* out) {
  __shared__ alignas(16) int copy[8], other[8];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(copy, numbers, cuda::aligned_size_t<16>(sizeof copy), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof copy);
  } else {
    token = bar.arrive(1);
  }
  bar.wait(static_cast<decltype(token)&&>(token));
  cuda::memcpy_async(cooperative_groups::this_thread_block(), other, numbers, sizeof other, bar);
  bar.arrive_and_wait();
  if (threadIdx.x == 31) for (int i = 0; i < 8; ++i) *out += copy[i] + 100 * other[i];
})",
                        "k", shape(1, 32)),
            3636);
}

TEST(HostBarriers, HaveAHandleForThePartsOfPtx) {
  EXPECT_EQ(output<int>(R"(
#include <cuda/barrier>
#include <cuda/ptx>
__device__ int numbers[4] = {1, 2, 3, 4};
__global__ void k(int* out) {
  __shared__ alignas(16) int copy[4];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 1);
  __syncthreads();
  uint64_t* const handle = cuda::device::barrier_native_handle(bar);
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, copy, numbers, sizeof copy, handle);
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, handle,
                                         sizeof copy);
  }
  while (!cuda::ptx::mbarrier_try_wait_parity(handle, 0)) {}
  if (threadIdx.x == 31) *out = copy[0] + copy[3];
})",
                        "k", shape(1, 32)),
            5);
}

TEST(HostBarriers, AreNotTheOnlyObjectsThatThreadsWaitFor) {
  EXPECT_EQ(output<int>(R"(
#include <cuda/latch>
#include <cuda/semaphore>
using latch = cuda::latch<cuda::thread_scope_block>;
using semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
__global__ void k(int* out) {
  __shared__ alignas(8) char memory[sizeof(latch)], turn[sizeof(semaphore)];
  latch& all = reinterpret_cast<latch&>(memory);
  semaphore& one = reinterpret_cast<semaphore&>(turn);
  if (threadIdx.x == 0) { new (memory) latch(40); new (turn) semaphore(1); }
  __syncthreads();
  if (threadIdx.x == 50) all.count_down(20);
  if (threadIdx.x < 20) all.count_down();
  all.wait();
  one.acquire();
  const int old = *static_cast<volatile int*>(out);
  __nanosleep(10);
  *static_cast<volatile int*>(out) = old + 1;
  one.release();
})",
                        "k", shape(1, 64)),
            64);
}

TEST(HostPipelines, OfABlockHaveProducersAndConsumers) {
  const std::string source = R"(
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
template <int kind>
__global__ void k(const int* in, int* out, int tiles) {
  constexpr int stages = 2;
  __shared__ int tile[stages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  cg::thread_block block = cg::this_thread_block();
  const bool produces = kind == 0 || block.thread_rank() < 32, consumes = kind == 0 || !produces;
  auto pipe = [&] {
    if constexpr (kind == 0) return cuda::make_pipeline(block, &state);
    else if constexpr (kind == 1) return cuda::make_pipeline(block, &state, 32);
    else return cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  }();
  int sum = 0, sent = 0;
  const auto produce = [&] {
    pipe.producer_acquire();
    for (int i = block.thread_rank(); i < 64; i += kind == 0 ? 96 : 32)
      cuda::memcpy_async(&tile[sent % stages][i], in + 64 * sent + i, sizeof(int), pipe);
    pipe.producer_commit();
    ++sent;
  };
  if (kind == 0) produce();
  for (int t = 0; t < tiles; ++t) {
    if (produces && sent < tiles) produce();
    if (!consumes) continue;
    pipe.consumer_wait();
    for (int x : tile[t % stages]) sum += x;
    pipe.consumer_release();
  }
  if (consumes) atomicAdd(out, sum);
})";
  std::vector<int> in(64 * 9);
  int total = 0;
  for (std::size_t i = 0; i < in.size(); ++i) total += in[i] = static_cast<int>(i % 11);
  for (const auto& [expression, consumers] : {std::pair{"k<0>", 96}, {"k<1>", 64}, {"k<2>", 64}}) {
    int out = 0;
    EXPECT_EQ(text(run(source, expression, shape(1, 96), in.data(), &out, 9)), "done") << expression;
    EXPECT_EQ(out, total * consumers) << expression;
  }
}

TEST(HostPipelines, OfAThreadAndOfPrimitivesCopyAtOnce) {
  const std::vector<int> out = outputs<int>(4, R"(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
__device__ int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void k(int* out) {
  __shared__ alignas(16) int copy[8], other[8], zeros[8];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  if (threadIdx.x == 0) cuda::memcpy_async(copy, numbers, cuda::aligned_size_t<16>(sizeof copy), pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  pipe.consumer_release();
  if (threadIdx.x == 0) __pipeline_memcpy_async(other, numbers, 16, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  auto block = cooperative_groups::this_thread_block();
  cooperative_groups::memcpy_async(block, zeros, 8, numbers, 5);
  cooperative_groups::wait(block);
  if (threadIdx.x == 0) { out[0] = copy[7]; out[1] = other[2] + 10 * other[3]; out[2] = zeros[4]; out[3] = zeros[5]; }
})",
                                            "k", shape(1, 32));
  EXPECT_THAT(out, ElementsAre(8, 3, 5, 0));
}

TEST(HostPipelines, AndBarriersHaveTheirEarlierNames) {
  const std::vector<float> out = outputs<float>(64, R"(
#include <cooperative_groups.h>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
using namespace nvcuda::experimental;
__global__ void k(float* out) {
  __shared__ float numbers[64];
  __shared__ awbarrier bar;
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  auto token = block.barrier_arrive();
  block.barrier_wait(std::move(token));
  numbers[63 - threadIdx.x] = threadIdx.x;
  bar.arrive_and_wait();
  pipeline pipe;
  float one, four[4];
  memcpy_async(one, numbers[threadIdx.x], pipe);
  memcpy_async(segment<4>(four), segment<2>(numbers), pipe);
  pipe.commit_and_wait();
  out[threadIdx.x] = one + four[1] + four[2];
})",
                                                "k", shape(1, 64));
  EXPECT_EQ(out[0], 63 + 62);
  EXPECT_EQ(out[63], 62);
}

}  // namespace
}  // namespace tuner::host_test
