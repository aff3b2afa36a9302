// tuner's serving calls against CUB's on the same buffers in the same run: sums over types and sizes, C = A + B on
// matrices beside cub::DeviceTransform and a copy, and what a call costs the host. Configurations come as they do for
// any program: from the user's database, shipped wisdom, or tuning on first use; each is printed with how it was found.
//
//   against_cub [--samples 101] [--calls 100000] [--log2 16,20,24,28,30] [--matrix 16384]
//
// Every result is verified: sums against CUB's (integers and doubles exactly), matrices word by word. Exit status 0
// when all agree.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/call_cost.hpp>
#include <bench/cub_calls.hpp>
#include <bench/device_memory.hpp>
#include <bench/gpu_clock.hpp>
#include <tuner/kernel.hpp>
#include <tuner/measure/statistics.hpp>
#include <tuner/reduce.hpp>
#include <tuner/sum_matrix_2d.hpp>

namespace {

using bench::allocate;
using bench::check;
using bench::DeviceMemory;
using bench::Element;

struct Options {
  std::size_t samples = 101;
  std::size_t calls = 100'000;
  std::vector<int> log2{16, 20, 24, 28, 30};
  int matrix = 16384;
};

std::size_t number(const std::string& name, const char* text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (end == text || *end != '\0' || value == 0) throw std::runtime_error(name + " " + text + ": no number above 0");
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (i + 1 >= argc) throw std::runtime_error(name + " needs a value, or is unknown");
    const char* const value = argv[++i];
    if (name == "--samples") {
      options.samples = std::max<std::size_t>(number(name, value), 30);
    } else if (name == "--calls") {
      options.calls = number(name, value);
    } else if (name == "--matrix") {
      options.matrix = static_cast<int>(std::min<std::size_t>(number(name, value), 1 << 16));
    } else if (name == "--log2") {
      options.log2.clear();
      std::string list = value;
      for (char* part = std::strtok(list.data(), ","); part != nullptr; part = std::strtok(nullptr, ","))
        options.log2.push_back(static_cast<int>(std::min<std::size_t>(number(name, part), 36)));
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  return options;
}

/// Two lists of samples taken in pairs.
struct Ratio {
  double median = 0;
  tuner::MedianInterval interval;
};
Ratio ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return {tuner::median(ratios), tuner::median_interval(ratios)};
}

double gigabytes(double bytes, double us) { return bytes / us / 1e3; }

struct Type {
  Element element;
  const char* name;  ///< as kernel files write it
  std::size_t bytes;
  std::size_t result_bytes;
  void (*reduce)(const void* data, std::size_t n, void* out, cudaStream_t stream);
};

template <typename T>
void reduce(const void* data, std::size_t n, void* out, cudaStream_t stream) {
  tuner::ReduceOptions options;
  options.stream = stream;
  tuner::reduce_async(static_cast<const T*>(data), n, static_cast<tuner::reduce_result_t<T>*>(out), options);
}

constexpr Type kTypes[] = {{Element::float32, "float", 4, 4, reduce<float>},
                           {Element::int32, "int", 4, 4, reduce<int>},
                           {Element::float64, "double", 8, 8, reduce<double>},
                           {Element::half, "half", 2, 4, reduce<__half>}};

/// A result on the device as a number.
double value_of(Element element, const void* result) {
  if (element == Element::float64) {
    double value = 0;
    check(cudaMemcpy(&value, result, sizeof(value), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }
  if (element == Element::int32) {
    int value = 0;
    check(cudaMemcpy(&value, result, sizeof(value), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }
  float value = 0;
  check(cudaMemcpy(&value, result, sizeof(value), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return double{value};
}

bool agree(Element element, double tuners, double cubs) {
  const bool exact = element == Element::int32 || element == Element::float64;
  return std::abs(tuners - cubs) <= (exact ? 0 : 1e-5 * std::abs(cubs));  // false for NaN
}

bool fits(std::size_t bytes) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return bytes < free - free / 8;
}

/// One row of the table; false when the sums differ.
bool sum_row(const Type& type, int log2, bench::GpuClock& clock, std::size_t samples, cudaStream_t stream) {
  const std::size_t n = std::size_t{1} << log2;
  if (!fits(n * type.bytes)) {
    fmt::print("| {:<6} | 2^{:<2} | does not fit on this GPU |\n", type.name, log2);
    return true;
  }
  const DeviceMemory data = allocate(n * type.bytes), tuners = allocate(8), cubs = allocate(8);
  const std::size_t bytes = bench::cub_sum_bytes(type.element, n);
  const DeviceMemory storage = allocate(bytes);
  bench::fill(type.element, data.get(), n, 1, stream);
  check(cudaMemsetAsync(tuners.get(), 0xff, 8, stream), "cudaMemsetAsync");

  const std::vector<std::function<void()>> calls{
      [&] { type.reduce(data.get(), n, tuners.get(), stream); },
      [&] { bench::cub_sum(type.element, storage.get(), bytes, data.get(), n, cubs.get(), stream); }};
  calls[0]();  // looks the configuration up, or tunes
  const auto us = clock.interleaved(calls, samples);
  const double ours = value_of(type.element, tuners.get()), theirs = value_of(type.element, cubs.get());
  const bool good = agree(type.element, ours, theirs);

  const Ratio against = ratio(us[0], us[1]);
  const double median = tuner::median(us[0]);
  const std::string how = tuner::Kernel::from_file("reduce")
                              .with({{"operation", "sum"}})
                              .explain({static_cast<std::int64_t>(n)}, {{"T", type.name}});
  fmt::print("| {:<6} | 2^{:<2} | {:8.2f} us | {:8.2f} us | {:7.1f} | {:7.1f} | {:.3f} | {:.3f} to {:.3f} | {} |\n",
             type.name, log2, median, tuner::median(us[1]), gigabytes(double(n * type.bytes), median),
             gigabytes(double(n * type.bytes), tuner::median(us[1])), against.median, against.interval.low,
             against.interval.high, how);
  if (!good) fmt::print(stderr, "against_cub: {} 2^{}: tuner gives {}, CUB {}\n", type.name, log2, ours, theirs);
  return good;
}

/// The rows of the matrix table; false when the matrices differ.
bool matrix_rows(int side, bench::GpuClock& clock, std::size_t samples, cudaStream_t stream) {
  const std::size_t n = static_cast<std::size_t>(side) * static_cast<std::size_t>(side), bytes = n * sizeof(float);
  if (!fits(4 * bytes)) {
    fmt::print("four matrices of {} x {} do not fit on this GPU\n", side, side);
    return true;
  }
  const DeviceMemory a = allocate(bytes), b = allocate(bytes), tuners = allocate(bytes), cubs = allocate(bytes);
  bench::fill(Element::float32, a.get(), n, 1, stream);
  bench::fill(Element::float32, b.get(), n, 2, stream);
  check(cudaMemsetAsync(tuners.get(), 0xff, bytes, stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(cubs.get(), 0xee, bytes, stream), "cudaMemsetAsync");
  const auto floats = [](const DeviceMemory& memory) { return static_cast<float*>(memory.get()); };

  // The copy comes last in verification only: it overwrites CUB's matrix.
  const std::vector<std::function<void()>> calls{
      [&] { tuner::sum_matrix_2d<float>(floats(a), floats(b), floats(tuners), side, side, stream); },
      [&] { bench::cub_add(floats(a), floats(b), floats(cubs), n, stream); },
      [&] { check(cudaMemcpyAsync(cubs.get(), a.get(), bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync"); }};
  calls[0]();
  const auto us = clock.interleaved(calls, samples);
  check(cudaMemsetAsync(tuners.get(), 0xff, bytes, stream), "cudaMemsetAsync");
  calls[0]();
  calls[1]();
  const std::uint64_t different = bench::count_differences(tuners.get(), cubs.get(), n, stream);

  const std::string how = tuner::Kernel::from_file("sumMatrix2D").explain({side, side}, {{"T", "float"}});
  const char* const names[] = {"tuner::sum_matrix_2d", "cub::DeviceTransform", "cudaMemcpyAsync, one matrix"};
  const double moved[] = {3.0 * double(bytes), 3.0 * double(bytes), 2.0 * double(bytes)};
  fmt::print("\n| C = A + B, float, {0} x {0} | median | GB/s | tuner / CUB | 95% interval | configuration |\n", side);
  fmt::print("| --- | --- | --- | --- | --- | --- |\n");
  for (std::size_t i = 0; i < us.size(); ++i) {
    const double median = tuner::median(us[i]);
    fmt::print("| {:<27} | {:8.2f} us | {:7.1f} |", names[i], median, gigabytes(moved[i], median));
    if (i == 0) {
      const Ratio against = ratio(us[0], us[1]);
      fmt::print(" {:.3f} | {:.3f} to {:.3f} | {} |\n", against.median, against.interval.low, against.interval.high,
                 how);
    } else {
      fmt::print(" | | |\n");
    }
  }
  if (different != 0) fmt::print(stderr, "against_cub: {} of {} elements of C differ\n", different, n);
  return different == 0;
}

/// Of \p cost - \p base, whose entries were taken in pairs: `+212 | +205 to +219`.
std::string difference(const bench::CallCost& cost, const bench::CallCost& base, const char* between) {
  std::vector<double> more;
  for (std::size_t i = 0; i < cost.ns.size(); ++i) more.push_back(cost.ns[i] - base.ns[i]);
  const tuner::MedianInterval interval = tuner::median_interval(more);
  return fmt::format("{:+.0f}{}{:+.0f} to {:+.0f}", tuner::median(more), between, interval.low, interval.high);
}

void print(const char* title, const std::vector<bench::CallCost>& costs, const char* more_than_first) {
  fmt::print("\n| {} | ns a call | {} | 95% interval |\n| --- | --- | --- | --- |\n", title, more_than_first);
  for (const bench::CallCost& cost : costs) {
    fmt::print("| {:<47} | {:8.0f} | {} |\n", cost.call, tuner::median(cost.ns),
               &cost == &costs.front() ? "|" : difference(cost, costs.front(), " | "));
  }
}

int run(const Options& options) {
  int device = 0, runtime = 0, driver = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaFree(nullptr), "cudaFree");  // makes the context current in which tuner will serve
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  fmt::print("{}, driver for CUDA {}.{}, runtime {}.{}, CUB {}; L2 of {} MiB flushed before each of {} samples\n\n",
             properties.name, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
             bench::cub_version(), properties.l2CacheSize >> 20, options.samples);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  bench::GpuClock clock(stream);

  bool good = true;
  fmt::print("| sum of | n | tuner | CUB | tuner GB/s | CUB GB/s | tuner / CUB | 95% interval | configuration |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Type& type : kTypes) {
    for (const int log2 : options.log2) {
      good = sum_row(type, log2, clock, options.samples, stream) && good;
      std::fflush(stdout);
    }
  }
  good = matrix_rows(options.matrix, clock, options.samples, stream) && good;

  const auto enqueued = bench::enqueue_costs(options.calls, stream);
  print("host, to enqueue a sum of 1024 floats", enqueued, "more than cuLaunchKernel alone");
  fmt::print("\nan ever new number of elements: {} ns\n", difference(enqueued[2], enqueued[1], " ns, 95% interval "));
  print("host, until the sum of 1024 floats is there", bench::waiting_costs(options.calls / 10, stream),
        "more than CUB");
  fmt::print("\n{}\n", good ? "all results agree with CUB's" : "RESULTS DIFFER");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "against_cub: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
