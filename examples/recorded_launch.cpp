// A program whose launches can be recorded, without any special code. recording.sh tunes it for its own data.
//   recorded_launch [path of axpy.cu]
#include <cstdio>
#include <exception>
#include <vector>

#include <tuner/tuner.hpp>

int main(int argc, char** argv) try {
  const tuner::Kernel axpy = tuner::Kernel::from_file(argc > 1 ? argv[1] : "./axpy.cu");

  constexpr std::int64_t n = 100'000;
  const tuner::Array<float> x(std::vector<float>(n, 3.0f));
  tuner::Array<float> y(std::vector<float>(n, 1.0f));
  axpy.launch(nullptr, {n}, 0.5f, x.data(), y.data());

  const float last = y.to_vector().back();
  std::printf("0.5 * 3 + 1 = %g, with %s\n", last, axpy.explain({n}).c_str());
  return last == 2.5f ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
