// Your own kernel, read from a file. The first run tunes it for one size; later runs are served from the cache.
//   own_kernel_file [path of axpy.cu]
#include <cstdio>
#include <exception>
#include <vector>

#include <tuner/tuner.hpp>

int main(int argc, char** argv) try {
  const tuner::Kernel axpy = tuner::Kernel::from_file(argc > 1 ? argv[1] : "./axpy.cu");

  constexpr std::int64_t n = 100'000;
  const tuner::Array<float> x(std::vector<float>(n, 3.0f));
  tuner::Array<float> y(std::vector<float>(n, 1.0f));

  tuner::TuneOptions options;
  options.trials = 8;
  const tuner::TuneResult tuned = tuner::tune(axpy, {n}, {{"T", "float"}}, options);
  std::printf("%s: %s, %.1f us\n", tuned.from_cache ? "known" : "tuned", tuned.configuration.c_str(),
              tuned.median_ns / 1000);

  axpy.launch(nullptr, {n}, 2.0f, x.data(), y.data());
  const float last = y.to_vector().back();
  std::printf("2 * 3 + 1 = %g\n", last);
  return last == 7.0f ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
