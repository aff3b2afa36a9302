// How much does the time of a short kernel depend on where its data and its code lie? Sums the 1024 floats of a page
// with one block and with a cold L2: on some pages of one buffer, and as loaded some times. Prints medians of 101
// samples. Another process has other times: run it again.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <tuner/backend/all/backends.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/session/tuning/device_choice.hpp>

namespace {

using namespace tuner;

constexpr std::size_t kPlaces = 16;
constexpr unsigned kFloats = 1024;
constexpr std::size_t kPageBytes = kFloats * sizeof(float);
constexpr std::size_t kStepBytes = 5 * kPageBytes;
constexpr std::size_t kSamples = 101;

constexpr const char* kSource = R"(
__global__ void sum_page(const float* page, float* sum) {
  __shared__ float all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  atomicAdd(&all, page[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *sum = all;
}
)";

using Modules = std::vector<std::unique_ptr<Module>>;

/// None is unloaded, so all lie at different places.
Modules loaded(Backend& backend) {
  CompileRequest request;
  request.source = kSource;
  request.file_name = "sum_page.cu";
  request.expressions = {"sum_page"};
  request.architecture = backend.architecture();
  const CompileResult compiled = backend.compiler().compile(request);
  if (const auto* const error = std::get_if<CompileError>(&compiled)) throw Error(error->message);
  Modules all;
  while (all.size() < kPlaces) {
    auto module = backend.load(std::get<Image>(compiled));
    if (const auto* const error = std::get_if<LaunchError>(&module)) throw Error(error->message);
    all.push_back(std::get<std::unique_ptr<Module>>(std::move(module)));
  }
  return all;
}

double median_us(Backend& backend, const Module& module, DevicePointer page, DevicePointer sum) {
  const Launch launch{&module, 0, {{1, 1, 1}, {kFloats, 1, 1}}, {Argument::of(page), Argument::of(sum)}};
  const SampleResult result = backend.sample({&launch, 1}, {kSamples});
  const auto* const samples = std::get_if<std::vector<Sample>>(&result);
  if (samples == nullptr) throw Error("a sample failed");
  std::vector<double> ns;
  for (const Sample& sample : *samples) ns.push_back(sample.ns);
  return median(ns) / 1e3;
}

void print_range(std::string_view what, std::vector<double> times) {
  std::ranges::sort(times);
  fmt::print("{}: least {:.2f} us, first quartile {:.2f}, third quartile {:.2f}, most {:.2f}\n", what, times.front(),
             times[kPlaces / 4], times[kPlaces * 3 / 4], times.back());
}

int run() {
  const std::unique_ptr<Backend> backend = open_backend(choose_device("cuda").device);
  const Modules modules = loaded(*backend);
  const auto pages = backend->allocate(kPlaces * kStepBytes), sum = backend->allocate(sizeof(float));
  backend->fill_bytes(pages->address(), 0, pages->bytes());

  std::vector<double> times;
  for (std::size_t i = 0; i < kPlaces; ++i)
    times.push_back(median_us(*backend, *modules.front(), pages->address() + i * kStepBytes, sum->address()));
  print_range("places of the data", std::move(times));

  times.clear();
  for (const auto& module : modules) times.push_back(median_us(*backend, *module, pages->address(), sum->address()));
  print_range("places of the code", std::move(times));
  return EXIT_SUCCESS;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "places: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
