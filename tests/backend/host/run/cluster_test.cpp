// Thread-block clusters: their barrier, distributed shared memory, and what happens when they are misused.

#include <tuner/backend/host/run/sanitizer.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

// Each block shares a number; each then adds those of all blocks of its cluster.
constexpr const char* kSum = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
template <int blocks>
__global__ void __cluster_dims__(blocks, 1, 1) sum(int* out) {
  extern __shared__ int dynamic[];
  __shared__ int fixed;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    fixed = blockIdx.x + 1;
    dynamic[3] = 100 * (blockIdx.x + 1);
  }
  cluster.sync();
  if (threadIdx.x == 33) {
    int all = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
      all += *cluster.map_shared_rank(&fixed, rank) + cluster.map_shared_rank(dynamic, rank)[3];
    out[blockIdx.x] = all;
  }
  cluster.sync();
}
)";

TEST(HostClusters, ReadTheSharedMemoryOfTheirOtherBlocks) {
  const std::vector<int> out = outputs<int>(12, kSum, "sum<4>", shape(12, 64, 64));
  EXPECT_THAT(out, ElementsAre(1010, 1010, 1010, 1010, 2626, 2626, 2626, 2626, 4242, 4242, 4242, 4242));
}

TEST(HostClusters, AreThoseOfTheLaunchOrOfTheKernelWhichMustNotDiffer) {
  LaunchShape at = shape(4, 64, 64);
  at.cluster = {2, 1, 1};
  std::string source = kSum;
  const std::string dims = "__cluster_dims__(blocks, 1, 1)";
  EXPECT_EQ(outputs<int>(4, kSum, "sum<2>", at)[3], 707);
  std::vector<int> out(4);
  EXPECT_THAT(text(run(kSum, "sum<4>", at, out.data())),
              HasSubstr("the kernel has clusters of (4, 1, 1) blocks (__cluster_dims__), and the launch of (2, 1, 1)"));
  source.erase(source.find(dims), dims.size());
  EXPECT_EQ(outputs<int>(4, source, "sum<4>", at)[3], 707);
}

TEST(HostClusters, MayHaveMoreBlocksThanThereAreThreads) {
  const std::vector<int> out = outputs<int>(32, kSum, "sum<16>", shape(32, 64, 64));
  EXPECT_EQ(out[0], 101 * 136);
  EXPECT_EQ(out[31], 101 * 392);
}

/// Runs \p source as thread orders of checks do, and counts runs that differ from \p expected.
int wrong_runs(const std::string& source, const std::string& expression, const LaunchShape& at,
               const std::vector<int>& expected) {
  const std::unique_ptr<Module> module = load(source, {expression});
  int wrong = 0;
  for (const auto kind : {ThreadOrder::Kind::forward, ThreadOrder::Kind::reverse, ThreadOrder::Kind::interleaved}) {
    backend().set_order({kind, 7});
    std::vector<int> out(expected.size());
    EXPECT_EQ(text(launch(*module, 0, at, 20, backend(), out.data())), "done");
    wrong += out != expected;
  }
  backend().set_order({});
  return wrong;
}

TEST(HostClusters, AreRightInEachOrderOfThreadsAndWrongWithoutTheirBarrier) {
  const std::vector<int> expected{303, 303, 707, 707};
  EXPECT_EQ(wrong_runs(kSum, "sum<2>", shape(4, 64, 64), expected), 0);
  std::string without = kSum;
  without.replace(without.find("cluster.sync();"), 15, "__syncthreads();");
  EXPECT_GT(wrong_runs(without, "sum<2>", shape(4, 64, 64), expected), 0);
}

TEST(HostClusters, HaveThreeDimensionsAndTheirOwnPlaces) {
  const std::vector<int> out = outputs<int>(16, R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __launch_bounds__(32) __cluster_dims__(2, 2, 1) k(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  const dim3 at = cluster.block_index(), dim = cluster.dim_blocks();
  if (threadIdx.x == 0)
    out[blockIdx.x + 4 * blockIdx.y] = at.x + 10 * at.y + 100 * cluster.block_rank() + 1000 * __clusterIdx().x +
                                       10000 * cg::this_grid().cluster_rank() + 100000 * (dim.x * dim.y);
})",
                                            "k", LaunchShape{{4, 4, 1}, {32, 1, 1}, 0});
  EXPECT_EQ(out[0], 400000);
  EXPECT_EQ(out[1], 400101);
  EXPECT_EQ(out[4], 400210);
  EXPECT_EQ(out[7], 411311);
  EXPECT_EQ(out[15], 431311);
}

TEST(HostClusters, OfOneBlockAreThereInEveryLaunch) {
  EXPECT_EQ(output<int>(R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* out) {
  __shared__ int x;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 40) x = 5;
  cluster.barrier_arrive();
  cluster.barrier_wait();
  if (threadIdx.x == 0) *out = *cluster.map_shared_rank(&x, 0) + 10 * cluster.num_blocks() + cluster.query_shared_rank(&x);
})",
                        "k", shape(1, 64)),
            15);
}

TEST(HostClusters, DoNotWaitForThreadsThatReturned) {
  EXPECT_EQ(output<int>(R"(
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2) k(int* out) {
  if (threadIdx.x >= 20 || (blockIdx.x == 1 && threadIdx.x > 0)) return;
  cooperative_groups::this_cluster().sync();
  if (threadIdx.x == 0) atomicAdd(out, 1);
})",
                        "k", shape(2, 64)),
            2);
}

TEST(HostClusters, CountAThreadOnceThatArrivesAndReturns) {
  EXPECT_EQ(output<int>(R"(
#include <cooperative_groups.h>
__global__ void __cluster_dims__(4) k(int* out) {
  __shared__ int value;
  const auto cluster = cooperative_groups::this_cluster();
  if (cluster.block_rank() == 0) {
    cluster.barrier_arrive();
    return;
  }
  value = 7;
  cluster.sync();
  if (cluster.block_rank() == 2) *out = *cluster.map_shared_rank(&value, 3);
  cluster.sync();
})",
                        "k", shape(4, 1)),
            7);
}

TEST(HostClusters, WaitForABarrierInTheMemoryOfAnotherBlock) {
  // Block 1 sends numbers to block 0, one at a time.
  EXPECT_EQ(output<int>(R"(
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void __cluster_dims__(2) k(int* out) {
  __shared__ barrier full, empty;
  __shared__ int slot;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    init(&full, 1);
    init(&empty, 1);
  }
  cluster.sync();
  if (threadIdx.x == 0 && cluster.block_rank() == 0) {
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      full.wait_parity(i % 2);
      sum = 2 * sum + slot;
      cluster.map_shared_rank(&empty, 1)->arrive();
    }
    *out = sum;
  } else if (threadIdx.x == 0) {
    for (int i = 0; i < 10; ++i) {
      *cluster.map_shared_rank(&slot, 0) = i % 3;
      cluster.map_shared_rank(&full, 0)->arrive();
      empty.wait_parity(i % 2);
    }
  }
  cluster.sync();
})",
                        "k", shape(2, 32)),
            [] {
              int sum = 0;
              for (int i = 0; i < 10; ++i) sum = 2 * sum + i % 3;
              return sum;
            }());
}

TEST(HostClusters, SayWhereTheyWaitForEver) {
  std::vector<int> out(4);
  EXPECT_THAT(text(run(R"(
#include <cooperative_groups.h>
#include <cuda/barrier>
__global__ void __cluster_dims__(2) k(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> never;
  if (threadIdx.x == 0) init(&never, 2);
  cooperative_groups::this_cluster().sync();
  if (blockIdx.x == 1 && threadIdx.x == 0) never.arrive_and_wait();
  cooperative_groups::this_cluster().sync();
})",
                       "k", shape(2, 32), out.data())),
              AllOf(HasSubstr("barrier divergence"), HasSubstr("the barrier of the cluster (test.cu:9)")));
}

TEST(HostClusters, AreRefusedWhereTheyDoNotFitTheGridOrTheMemory) {
  std::vector<int> out(8);
  EXPECT_THAT(text(run(kSum, "sum<4>", shape(6, 64, 64), out.data())),
              HasSubstr("the grid has 6 blocks in direction x, which is not a multiple of the cluster's 4"));
  EXPECT_THAT(text(run(kSum, "sum<32>", shape(32, 64, 64), out.data())),
              HasSubstr("a cluster has more than 16 blocks"));
  const std::string head = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n";
  EXPECT_THAT(text(run(head + "__global__ void __cluster_dims__(2) k(int* out) {\n__shared__ int x;\n"
                              "cg::this_cluster().map_shared_rank(&x, 2);\n}\n",
                       "k", shape(2, 32), out.data())),
              HasSubstr("the cluster has no block of this rank (test.cu:5)"));
  EXPECT_THAT(text(run(head + "__global__ void __cluster_dims__(2) k(int* out) {\n"
                              "cg::this_cluster().map_shared_rank(out, 0);\n}\n",
                       "k", shape(2, 32), out.data())),
              HasSubstr("this address is not in the shared memory of the cluster (test.cu:4)"));
}

TEST(HostClusters, EndWithTheErrorOfOneBlock) {
  if (host::sanitizer::kActive) GTEST_SKIP() << "a sanitizer ends the process";
  std::vector<int> out(4);
  const char* source = R"(
#include <cooperative_groups.h>
__global__ void __cluster_dims__(4) k(int* out) {
  if (blockIdx.x == 2) *reinterpret_cast<volatile int*>(8) = 1;
  cooperative_groups::this_cluster().sync();
}
__global__ void __cluster_dims__(4) endless(volatile int* out) {
  if (blockIdx.x == 2) while (out[0] == 0) {}
  cooperative_groups::this_cluster().sync();
})";
  EXPECT_THAT(text(run(source, "k", shape(4, 32), out.data())),
              AllOf(HasSubstr("illegal memory access"), HasSubstr("block (2, 0, 0)")));
  const std::unique_ptr<Module> module = load(source, {"endless"});
  EXPECT_THAT(text(launch(*module, 0, shape(4, 32), 0.2, backend(), out.data())), HasSubstr("did not end"));
  EXPECT_EQ(outputs<int>(4, kSum, "sum<4>", shape(4, 64, 64))[0], 1010);  // the threads work again
}

TEST(HostClusters, InterleavedShowAnUpdateOfRemoteMemoryThatIsNotAtomic) {
  const auto runs = [](const std::string& update) {
    CompileRequest compile = request(
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        "__global__ void __cluster_dims__(4) k(int* out) {\n  __shared__ int count;\n"
        "  cg::cluster_group cluster = cg::this_cluster();\n"
        "  if (threadIdx.x == 0) count = 0;\n  cluster.sync();\n"
        "  int* const first = cluster.map_shared_rank(&count, 0);\n  " +
            update +
            "\n  cluster.sync();\n  if (threadIdx.x == 0 && blockIdx.x % 4 == 0) "
            "out[blockIdx.x / 4] = count;\n}\n",
        {"k"});
    compile.interleaved = true;
    const std::unique_ptr<Module> module = load(backend().compiler().compile(compile));
    backend().set_order({ThreadOrder::Kind::interleaved, 3});
    std::vector<int> out(4);
    EXPECT_EQ(text(launch(*module, 0, shape(16, 32), 20, backend(), out.data())), "done");
    backend().set_order({});
    return out;
  };
  EXPECT_THAT(runs("atomicAdd(first, 1);"), ElementsAre(128, 128, 128, 128));
  EXPECT_THAT(runs("*first += 1;"), Not(ElementsAre(128, 128, 128, 128)));
}

}  // namespace
}  // namespace tuner::host_test
