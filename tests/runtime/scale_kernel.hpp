#pragma once
/// A kernel that multiplies by a number, as the text of its file; for kernel_named().

namespace tuner::testing {

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

}  // namespace tuner::testing
