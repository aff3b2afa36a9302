#pragma once
/// A kernel whose grid meets, for serving on the host and on a GPU.

namespace tuner::testing {

/// y[i] = x[i] + x[n - 1 - i]; sizes: n; arguments: x, y.
inline constexpr const char* kMeeting = R"(
#pragma tuner kernel meeting
#pragma tuner size n
#pragma tuner parameter block = 32
#pragma tuner in x[n] : int
#pragma tuner out y[n] : int
#pragma tuner let resident = sm_count * min(max_blocks_per_sm, max_threads_per_sm / block)
#pragma tuner grid max(1, min(resident, ceil_div(n, block)))
#pragma tuner block block
#pragma tuner cooperative
#pragma tuner arguments x, y, n
#pragma tuner instantiate meeting
#pragma tuner reference meetingReference
#pragma tuner default block=32
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
__global__ void meeting(const int* x, int* y, int n) {  // y[i] = x[i] + x[n - 1 - i], by way of y
  const auto grid = cooperative_groups::this_grid();
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (int i = first; i < n; i += step) y[i] = x[i];
  grid.sync();
  for (int i = first; 2 * i < n; i += step) {
    const int sum = y[i] + y[n - 1 - i];
    y[i] = sum;
    y[n - 1 - i] = sum;
  }
}
__global__ void meetingReference(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
)";

}  // namespace tuner::testing
