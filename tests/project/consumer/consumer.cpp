#include <tuner/tuner.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> ones(1000, 1.0f);
  try {
    const float sum = tuner::reduce(ones.data(), ones.size());
    std::printf("sum = %g\n", sum);
    return sum == 1000.0f ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
