// How much does the time of a short kernel depend on where its data lie? CUB's sum of the 1024 floats of a page, with a
// cold L2, for some pages of one buffer. Prints medians of 51 samples.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include <bench/cub_calls.hpp>
#include <bench/device_memory.hpp>
#include <bench/gpu_clock.hpp>

#include <tuner/measure/numbers/statistics.hpp>

namespace {

constexpr std::size_t kPages = 16;
constexpr std::size_t kFloats = 1024;
constexpr std::size_t kStep = 5 * kFloats;
constexpr std::size_t kSamples = 51;

int run() {
  using namespace bench;
  const DeviceMemory data = allocate(kPages * kStep * sizeof(float)), result = allocate(sizeof(float));
  const std::size_t bytes = cub_sum_bytes(Element::float32, kFloats);
  const DeviceMemory storage = allocate(bytes);
  fill(Element::float32, data.get(), kPages * kStep, 1, nullptr);
  const auto* const floats = static_cast<const float*>(data.get());
  std::vector<std::function<void()>> calls;
  for (std::size_t page = 0; page < kPages; ++page) {
    const void* const from = floats + page * kStep;
    calls.emplace_back(
        [&, from] { cub_sum(Element::float32, storage.get(), bytes, from, kFloats, result.get(), nullptr); });
  }
  GpuClock clock(nullptr);
  std::vector<double> times;
  for (const std::vector<double>& samples : clock.interleaved(calls, kSamples)) times.push_back(tuner::median(samples));
  fmt::print("| page | the sum of its 1024 floats, us |\n| --- | --- |\n");
  for (std::size_t page = 0; page < kPages; ++page) fmt::print("| {} | {:.2f} |\n", page, times[page]);
  std::ranges::sort(times);
  fmt::print("\nleast {:.2f} us, first quartile {:.2f} us, third quartile {:.2f} us, most {:.2f} us\n", times.front(),
             times[kPages / 4], times[kPages * 3 / 4], times.back());
  return EXIT_SUCCESS;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "data_place: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
