// consumer PREFIX: uses tuner as a library, and finds the worker and the shipped wisdom in the package in PREFIX.
#include <tuner/tuner.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "places.hpp"

namespace {

bool lies_in(const std::string& path, const std::string& prefix) { return path.compare(0, prefix.size(), prefix) == 0; }

}  // namespace

int main(int argc, char** argv) {
  const std::string prefix = argc > 1 ? argv[1] : "";
  std::vector<float> ones(1000, 1.0f);
  try {
    const float sum = tuner::reduce(ones.data(), ones.size());
    const std::string worker = worker_program();
    std::size_t shipped = 0;
    for (const std::string& file : shipped_databases()) shipped += lies_in(file, prefix);
    std::printf("sum = %g, worker %s, %zu shipped databases\n", sum, worker.c_str(), shipped);
    return sum == 1000.0f && lies_in(worker, prefix) && shipped > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
