// Cooperative launches: blocks that wait for each other, each on its own operating-system thread.

#include <tuner/error.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

Backend& four_threads() { return backend<4>(); }

LaunchShape meeting(std::int64_t grid, std::int64_t block) {
  LaunchShape result = shape(grid, block);
  result.cooperative = true;
  return result;
}

// Each round every block adds up what all wrote in the round before.
constexpr const char* kRounds = R"(
#include <cooperative_groups.h>
__global__ void rounds(int* values, int count) {
  const auto grid = cooperative_groups::this_grid();
  for (int round = 0; round < count; ++round) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += values[round * gridDim.x + b];
    if (threadIdx.x == 40) values[(round + 1) * gridDim.x + blockIdx.x] = sum;
    grid.sync();
  }
}
)";

TEST(HostGrid, MeetsAsOftenAsItsKernelSays) {
  const auto module = load(kRounds, {"rounds"}, four_threads());
  for (const ThreadOrder::Kind kind : {ThreadOrder::Kind::forward, ThreadOrder::Kind::reverse}) {
    four_threads().set_order({kind, 0});
    std::vector<int> values(4 * 11);
    values[3] = 1;
    EXPECT_EQ(text(launch(*module, 0, meeting(4, 64), 20, four_threads(), values.data(), 10)), "done");
    EXPECT_EQ(values.back(), 1 << 18);  // 4^9
  }
  four_threads().set_order({});
}

TEST(HostGrid, MeetsWithFewerBlocksThanThereAreThreads) {
  const auto module = load(kRounds, {"rounds"}, four_threads());
  for (const int blocks : {1, 2, 3}) {
    std::vector<int> values(static_cast<std::size_t>(blocks) * 3, 1);
    EXPECT_EQ(text(launch(*module, 0, meeting(blocks, 41), 20, four_threads(), values.data(), 2)), "done");
    EXPECT_EQ(values.back(), blocks * blocks);
  }
}

TEST(HostGrid, NumbersItsThreadsAndBlocks) {
  const auto module = load(R"(
#include <cooperative_groups.h>
__global__ void numbers(long long* out) {
  const auto grid = cooperative_groups::this_grid();
  if (grid.thread_rank() != 63) return;
  out[0] = grid.size(); out[1] = grid.num_blocks(); out[2] = grid.block_rank(); out[3] = grid.is_valid();
}
)",
                           {"numbers"}, four_threads());
  long long out[4] = {};
  LaunchShape at{{2, 2, 1}, {8, 2, 1}, 0, true};
  EXPECT_EQ(text(launch(*module, 0, at, 20, four_threads(), &out[0])), "done");
  EXPECT_THAT(out, ElementsAre(64, 4, 3, 1));
  at.cooperative = false;
  EXPECT_EQ(text(launch(*module, 0, at, 20, four_threads(), &out[0])), "done");
  EXPECT_EQ(out[3], 0);
}

TEST(HostGrid, CannotMeetInAnOrdinaryLaunch) {
  const auto module = load(kRounds, {"rounds"}, four_threads());
  std::vector<int> values(8);
  EXPECT_THAT(text(launch(*module, 0, shape(2, 64), 20, four_threads(), values.data(), 1)),
              AllOf(StartsWith("launch: rounds: this_grid().sync (test.cu:9) in block "),
                    HasSubstr("of a launch that is not cooperative")));
}

TEST(HostGrid, IsRefusedWhereItHasMoreBlocksThanThreads) {
  const auto module = load(kRounds, {"rounds"}, four_threads());
  std::vector<int> values(10);
  EXPECT_EQ(text(launch(*module, 0, meeting(5, 64), 20, four_threads(), values.data(), 1)),
            "launch: rounds: a cooperative grid of 5 blocks of 64 threads is not resident at once: 1 on each of 4 "
            "multiprocessors are 4");
}

TEST(HostGrid, FailsWhereABlockReturnsBeforeTheOthersMeet) {
  const auto module = load(R"(
#include <cooperative_groups.h>
__global__ void alone() {
  if (blockIdx.x != 2) cooperative_groups::this_grid().sync();
}
)",
                           {"alone"}, four_threads());
  EXPECT_THAT(text(launch(*module, 0, meeting(4, 32), 20, four_threads())),
              AllOf(StartsWith("launch: alone: barrier divergence: block ("),
                    HasSubstr("waits at this_grid().sync (test.cu:4) and another block has returned")));
}

TEST(HostGrid, FailsWhereOneThreadOfABlockMeetsItsBlockInstead) {
  const auto module = load(R"(
#include <cooperative_groups.h>
__global__ void divergent() {
  if (blockIdx.x == 1 && threadIdx.x == 5) __syncthreads();
  else cooperative_groups::this_grid().sync();
}
)",
                           {"divergent"}, four_threads());
  EXPECT_THAT(text(launch(*module, 0, meeting(3, 32), 20, four_threads())), HasSubstr("barrier divergence: in block"));
}

TEST(HostGrid, FailsWhereAThreadHasReturnedBeforeItsBlockMeets) {
  for (const char* const thread : {"0", "31"}) {
    const std::string source = std::string("#include <cooperative_groups.h>\n__global__ void early() {\n") +
                               "  if (threadIdx.x == " + thread + ") return;\n" +
                               "  cooperative_groups::this_grid().sync();\n}\n";
    const auto module = load(source, {"early"}, four_threads());
    EXPECT_THAT(text(launch(*module, 0, meeting(2, 32), 20, four_threads())),
                AllOf(HasSubstr("31 wait at this_grid().sync (test.cu:4)"), HasSubstr("1 have returned")));
  }
}

TEST(HostGrid, IsLeftWhenItsTimeIsUp) {
  const auto module = load(R"(
#include <cooperative_groups.h>
__global__ void endless(volatile int* flag) {
  if (blockIdx.x == 0) { while (*flag == 0) __syncthreads(); }
  cooperative_groups::this_grid().sync();
}
)",
                           {"endless"}, four_threads());
  int flag = 0;
  EXPECT_THAT(text(launch(*module, 0, meeting(2, 32), 0.05, four_threads(), &flag)), StartsWith("timeout: endless: "));
}

}  // namespace
}  // namespace tuner::host_test
