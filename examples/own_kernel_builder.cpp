// Your own kernel, described in code. Every call of the builder is the directive of the same name.
#include <cstdio>
#include <exception>
#include <vector>

#include <tuner/tuner.hpp>

namespace {

constexpr const char* kSource = R"(
template <int block, int unroll>
__global__ void scale(const float* x, float* y, float factor, int n) {
  const int first = blockIdx.x * block * unroll + threadIdx.x;
#pragma unroll
  for (int k = 0; k < unroll; ++k) {
    const int i = first + k * block;
    if (i < n) y[i] = factor * x[i];
  }
}

__global__ void scaleReference(const float* x, float* y, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
)";

tuner::Kernel scale() {
  return tuner::KernelBuilder("scale", kSource)
      .size("n")
      .parameter("block", {64, 128, 256})
      .parameter("unroll", {1, 2, 4})
      .in("x", "n", "float")
      .out("y", "n", "float")
      .scalar("factor", "float", 0.5)
      .grid("max(1, ceil_div(n, block * unroll))")
      .block("block")
      .arguments({"x", "y", "factor", "n"})
      .instantiate("scale<block, unroll>")
      .reference("scaleReference")
      .verify("n=1001 offset=1")
      .bytes("8 * n")
      .default_configuration("block=256 unroll=1")
      .build();
}

}  // namespace

int main() try {
  const tuner::Kernel kernel = scale();
  constexpr int n = 50'000;
  const tuner::Array<float> x(std::vector<float>(n, 8.0f));
  tuner::Array<float> y(n);

  // On a GPU the first call tunes, for at most two seconds, and remembers the answer. TUNER_TUNE changes that.
  kernel.launch(nullptr, {n}, x.data(), y.data(), 0.25f);
  std::printf("%s\n", kernel.explain({n}).c_str());
  const float last = y.to_vector().back();
  std::printf("8 * 0.25 = %g\n", last);
  return last == 2.0f ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
