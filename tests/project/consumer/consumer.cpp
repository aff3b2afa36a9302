// A program outside of tuner's tree. It sums on the host, and finds in the package a result that was shipped there for
// the kernel sumMatrix2D, and the worker.
#include <tuner/tuner.hpp>

#include <cstdio>
#include <string>
#include <vector>

static_assert(TUNER_VERSION_MAJOR == 0 && TUNER_VERSION_MINOR >= 1, "tuner/version.hpp");

int main() {
  const std::vector<float> ones(1000, 1.0f);
  try {
    const float sum = tuner::reduce(ones.data(), ones.size());
    const tuner::Kernel kernel = tuner::Kernel::from_file("sumMatrix2D");
    const std::string known = kernel.explain({70, 30}, {{"T", "float"}});
    std::printf("sum = %g; %s\n", sum, known.c_str());
    if (sum != 1000.0f || known.find("measured on this device for exactly this problem") == std::string::npos) return 1;
    tuner::TuneOptions options;
    options.trials = 1;
    options.isolated = options.force = true;
    tuner::tune(kernel, {70, 30}, {{"T", "float"}}, options);
    return 0;
  } catch (const tuner::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
