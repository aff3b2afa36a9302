#pragma once
/// Kernels that several tests of serving launch.

#include <algorithm>
#include <string>

#include <templates/embedded.hpp>
#include <tuner/kernel.hpp>

namespace tuner::testing {

/// Multiplies by a number; for kernel_named().
inline constexpr const char* kScale = R"(
#pragma tuner kernel NAME
#pragma tuner type T = float double
#pragma tuner size n
#pragma tuner parameter block = 32 64
#pragma tuner in x[n]
#pragma tuner out y[n]
#pragma tuner scalar factor : T = 2
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
#pragma tuner arguments x, factor, y, n
#pragma tuner instantiate scale<T, block>
#pragma tuner reference scaleReference<T>
#pragma tuner default block=32
template <typename T, int block> __global__ void scale(const T* x, T factor, T* y, int n) {
  const int i = blockIdx.x * block + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
template <typename T> __global__ void scaleReference(const T* x, T factor, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
)";

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

inline constexpr const char* kFinishes[] = {"one_block", "last_block", "atomic", "two_launches", "counted"};

/// The kernel `reduce` with a finish that the test chooses, for calls that share a stream. `counted` is for sums of int
/// and unsigned alone.
inline Kernel reduce_with(const std::string& finish, const std::string& operation) {
  const auto files = embedded_templates();
  const auto file = std::find_if(files.begin(), files.end(), [](const auto& one) { return one.name == "reduce"; });
  std::string text(file->text);
  const auto replace = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("finish=last_block", "finish=" + finish);
  if (finish == "one_block") replace("blocks_per_sm=8", "blocks_per_sm=1");
  return Kernel::from_source(text, "reduce_" + finish + ".cu").with({{"operation", operation}, {"order", "any"}});
}

}  // namespace tuner::testing
