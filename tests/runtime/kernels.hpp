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
