// The functions by which the lanes of a warp meet.

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

TEST(HostWarp, GivesBallotsAndVotesOfEachWarp) {
  const char* source = R"(
__global__ void votes(unsigned* out) {
  const unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x & 1);
  const int any = __any_sync(0xffffffffu, threadIdx.x == 40), all = __all_sync(0xffffffffu, threadIdx.x < 40);
  out[threadIdx.x] = odd ^ (any ? 1u : 0u) ^ (all ? 2u : 0u);
})";
  const auto out = outputs<unsigned>(64, source, "votes", shape(1, 64));
  EXPECT_EQ(out[0], 0xaaaaaaaau ^ 2u);
  EXPECT_EQ(out[63], 0xaaaaaaaau ^ 1u);
}

TEST(HostWarp, GivesTheActiveMaskOfTheLanesThatComeBeforeTheyWaitElsewhere) {
  const char* source = R"(
__global__ void masks(unsigned* out) {
  unsigned inside = 0;
  for (int i = 0; i < threadIdx.x % 3; ++i) inside = inside << 8 | (__popc(__activemask()) & 255);
  const unsigned all = __activemask();
  out[threadIdx.x] = inside << 8 | __popc(all);
})";
  const auto out = outputs<unsigned>(40, source, "masks", shape(1, 40));
  EXPECT_EQ(out[0], 32u);
  EXPECT_EQ(out[1], 21u << 8 | 32u) << "21 of the first 32 lanes take part in the first round";
  EXPECT_EQ(out[2], 21u << 16 | 10u << 8 | 32u);
  EXPECT_EQ(out[32], 5u << 16 | 3u << 8 | 8u);
  EXPECT_EQ(out[33], 8u);
}

TEST(HostWarp, ShufflesWithinGroupsOfAWidth) {
  const char* source = R"(
__global__ void shuffles(int* out) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(~0u, lane, 3, 8);
  out[32 + lane] = __shfl_up_sync(~0u, lane, 2, 8);
  out[64 + lane] = __shfl_down_sync(~0u, lane, 2, 8);
  out[96 + lane] = __shfl_xor_sync(~0u, lane, 5, 8);
  out[128 + lane] = (int)__shfl_xor_sync(~0u, (double)lane, 16);
})";
  const auto out = outputs<int>(160, source, "shuffles", shape(1, 32));
  for (int lane = 0; lane < 32; ++lane) {
    const auto at = static_cast<std::size_t>(lane);
    const int group = lane & ~7, within = lane & 7;
    EXPECT_EQ(out[at], group + 3);
    EXPECT_EQ(out[32 + at], within < 2 ? lane : lane - 2);
    EXPECT_EQ(out[64 + at], within > 5 ? lane : lane + 2);
    EXPECT_EQ(out[96 + at], lane ^ 5);
    EXPECT_EQ(out[128 + at], lane ^ 16);
  }
}

TEST(HostWarp, ReducesAndMatchesAcrossAWarp) {
  const char* source = R"(
__global__ void reduces(int* out) {
  const int v = (int)threadIdx.x - 7;
  const int results[] = {__reduce_add_sync(~0u, v), __reduce_min_sync(~0u, v), __reduce_max_sync(~0u, v),
                         (int)__reduce_or_sync(~0u, 1u << (threadIdx.x % 5)), (int)__reduce_xor_sync(~0u, threadIdx.x),
                         (int)__match_any_sync(~0u, threadIdx.x % 4)};
  if (threadIdx.x == 9) for (int i = 0; i < 6; ++i) out[i] = results[i];
})";
  const auto out = outputs<int>(6, source, "reduces", shape(1, 32));
  EXPECT_THAT(out, ElementsAre(32 * 31 / 2 - 7 * 32, -7, 24, 0x1f, 0, 0x22222222));
}

TEST(HostWarp, MeetsLanesOfDifferentMasksApart) {
  const char* source = R"(
__global__ void halves(int* out) {
  const unsigned mask = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
  int v = threadIdx.x;
  for (int offset = 8; offset > 0; offset /= 2) v += __shfl_xor_sync(mask, v, offset);
  out[threadIdx.x] = v;
})";
  const auto out = outputs<int>(32, source, "halves", shape(1, 32));
  EXPECT_EQ(out[0], 120);
  EXPECT_EQ(out[31], 376);
}

}  // namespace
}  // namespace tuner::host_test
