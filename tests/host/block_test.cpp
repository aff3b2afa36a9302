// Thread blocks: barriers, warps, atomics, shared memory, and what happens when they are misused.

#include <cmath>
#include <numeric>

#include "host_fixture.hpp"

namespace tuner::host_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

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

}  // namespace
}  // namespace tuner::host_test
