// Calls a kernel for some sizes as a process of a job and prints what it was served with: picks KERNEL.cu N...
// The kernel answers -1 with its configuration: what was really launched, not what explain() would say by now.
// With --explain in front it asks explain() instead, which compiles nothing.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include <tuner/kernel.hpp>

int main(int argc, char** argv) {
  try {
    const bool explains = argc > 1 && std::strcmp(argv[1], "--explain") == 0;
    const int first = explains ? 2 : 1;
    if (argc <= first) return 2;
    const tuner::Kernel kernel = tuner::Kernel::from_file(argv[first]);
    for (int i = first + 1; i < argc; ++i) {
      const int n = std::atoi(argv[i]);
      if (explains) {
        std::printf("%d %s\n", n, kernel.explain({n}).c_str());
        continue;
      }
      const std::vector<float> x(static_cast<std::size_t>(n), -1.0f);
      std::vector<float> y(x.size());
      const auto start = std::chrono::steady_clock::now();
      kernel.launch(nullptr, {n}, x.data(), y.data());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      std::printf("%d block=%d\n", n, static_cast<int>(y[0]));
      std::fprintf(stderr, "%d took %.3f s\n", n, took.count());
      std::fflush(stdout);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
