// Compares tuner's serving calls with CUB's on the same buffers in the same run. Measures sums over types and sizes, C
// = A + B on matrices beside cub::DeviceTransform and a copy, and the host's cost of a call. Configurations come from
// the user's database, shipped wisdom, or tuning on first use, as in any program; each is printed with its origin.
//
//   against_cub [--samples 101] [--calls 100000] [--log2 16,20,24,28,30] [--matrix 16384]
//   against_cub --every-size [--samples 101] [--least 10] [--most 30]
//
// --every-size: sums of float and int for n = 2^least to 2^most, also with n - 1 and n + 3, aligned and shifted by one
// element. Then prints the worst ratio and the geometric mean up to 2^26.
//
// Verifies every result: sums against CUB's (integers and doubles exactly), matrices word by word. Exit status 0: all
// agree.

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
#include <bench/options.hpp>
#include <tuner/kernel.hpp>
#include <tuner/measure/numbers/statistics.hpp>
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
  bool every_size = false;
  int least = 10, most = 30;
};

Options parse(int argc, char** argv) {
  Options options;
  const auto read_list = [&](const std::string& text) {
    options.log2.clear();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      options.log2.push_back(static_cast<int>(bench::number(text.substr(begin, end - begin), 0, 36)));
      begin = end + 1;
    }
  };
  bench::parse(argc, argv,
               {{"--samples", bench::into(options.samples, 30)},
                {"--calls", bench::into(options.calls, 1)},
                {"--matrix", bench::into(options.matrix, 1, 1 << 16)},
                {"--least", bench::into(options.least, 2, 36)},
                {"--most", bench::into(options.most, 2, 36)},
                {"--log2", read_list}},
               {{"--every-size", &options.every_size}});
  return options;
}

/// The ratio of two lists of samples that were taken in pairs.
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
  const char* name;  ///< in the spelling of kernel files
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

/// Reads a result on the device as a number.
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

struct Sums {
  double tuner_us = 0, cub_us = 0;  ///< medians
  Ratio ratio;                      ///< tuner's time over CUB's
  bool agree = false;
};

/// Sums \p n elements at \p data both ways, alternating.
Sums compare_sums(const Type& type, const void* data, std::size_t n, bench::GpuClock& clock, std::size_t samples,
                  cudaStream_t stream) {
  const DeviceMemory tuners = allocate(8), cubs = allocate(8);
  const std::size_t bytes = bench::cub_sum_bytes(type.element, n);
  const DeviceMemory storage = allocate(bytes);
  check(cudaMemsetAsync(tuners.get(), 0xff, 8, stream), "cudaMemsetAsync");
  const std::vector<std::function<void()>> calls{
      [&] { type.reduce(data, n, tuners.get(), stream); },
      [&] { bench::cub_sum(type.element, storage.get(), bytes, data, n, cubs.get(), stream); }};
  calls[0]();  // looks up the configuration, or tunes
  const auto us = clock.interleaved(calls, samples);
  const double ours = value_of(type.element, tuners.get()), theirs = value_of(type.element, cubs.get());
  const Sums sums{tuner::median(us[0]), tuner::median(us[1]), ratio(us[0], us[1]), agree(type.element, ours, theirs)};
  if (!sums.agree) fmt::print(stderr, "against_cub: {} n={}: tuner gives {}, CUB {}\n", type.name, n, ours, theirs);
  return sums;
}

/// One row of the table; false when the sums differ.
bool sum_row(const Type& type, int log2, bench::GpuClock& clock, std::size_t samples, cudaStream_t stream) {
  const std::size_t n = std::size_t{1} << log2;
  if (!fits(n * type.bytes)) {
    fmt::print("| {:<6} | 2^{:<2} | does not fit on this GPU |\n", type.name, log2);
    return true;
  }
  const DeviceMemory data = allocate(n * type.bytes);
  bench::fill(type.element, data.get(), n, 1, stream);
  const Sums sums = compare_sums(type, data.get(), n, clock, samples, stream);
  const std::string how = tuner::Kernel::from_file("reduce")
                              .with({{"operation", "sum"}})
                              .explain({static_cast<std::int64_t>(n)}, {{"T", type.name}});
  fmt::print("| {:<6} | 2^{:<2} | {:8.2f} us | {:8.2f} us | {:7.1f} | {:7.1f} | {:.3f} | {:.3f} to {:.3f} | {} |\n",
             type.name, log2, sums.tuner_us, sums.cub_us, gigabytes(double(n * type.bytes), sums.tuner_us),
             gigabytes(double(n * type.bytes), sums.cub_us), sums.ratio.median, sums.ratio.interval.low,
             sums.ratio.interval.high, how);
  return sums.agree;
}

/// The table of --every-size; false when sums differ.
bool every_size(const Options& options, bench::GpuClock& clock, cudaStream_t stream) {
  constexpr int kSmall = 26;
  constexpr int kAdded[] = {-1, 0, 3};
  bool good = true;
  double worst = 0, log_sum = 0;
  std::size_t rows = 0, small_rows = 0, losses = 0;
  std::string worst_row;
  fmt::print("| sum of | n | first element | tuner | CUB | tuner / CUB | 95% interval |\n");
  fmt::print("| --- | --- | --- | ---: | ---: | ---: | --- |\n");
  for (const Type& type : {kTypes[0], kTypes[1]}) {
    const std::size_t most = (std::size_t{1} << options.most) + 8;
    if (!fits(most * type.bytes)) throw std::runtime_error("2^" + std::to_string(options.most) + " do not fit here");
    const DeviceMemory memory = allocate(most * type.bytes);
    bench::fill(type.element, memory.get(), most, 1, stream);
    for (int log2 = options.least; log2 <= options.most; ++log2) {
      for (const int added : kAdded) {
        for (const std::size_t offset : {0, 1}) {
          const std::size_t n = (std::size_t{1} << log2) + static_cast<std::size_t>(added);
          const void* const data = static_cast<const char*>(memory.get()) + offset * type.bytes;
          const Sums sums = compare_sums(type, data, n, clock, options.samples, stream);
          const std::string row =
              fmt::format("{:<5} | 2^{}{} | {}", type.name, log2,
                          added == 0 ? "" : fmt::format(" {} {}", added < 0 ? '-' : '+', std::abs(added)),
                          offset == 0 ? "aligned" : "off by one");
          fmt::print("| {:<32} | {:8.2f} us | {:8.2f} us | {:.3f} | {:.3f} to {:.3f} |\n", row, sums.tuner_us,
                     sums.cub_us, sums.ratio.median, sums.ratio.interval.low, sums.ratio.interval.high);
          good = good && sums.agree;
          ++rows;
          losses += sums.ratio.median > 1.0 ? 1 : 0;
          if (sums.ratio.median > worst) {
            worst = sums.ratio.median;
            worst_row = row;
          }
          if (log2 > kSmall) continue;
          ++small_rows;
          log_sum += std::log(sums.ratio.median);
        }
      }
      std::fflush(stdout);
    }
  }
  fmt::print("\ntuner / CUB: worst {:.3f} ({}); above 1: {} of {}; geometric mean up to 2^{}: {:.3f}\n", worst,
             worst_row, losses, rows, kSmall,
             std::exp(log_sum / static_cast<double>(std::max<std::size_t>(small_rows, 1))));
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

  // The copy is the last call that is verified, because it overwrites CUB's matrix.
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

/// \p cost - \p base, whose entries were taken in pairs: `+212 | +205 to +219`.
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
  check(cudaFree(nullptr), "cudaFree");  // makes the context current that tuner serves in
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  fmt::print("{}, driver for CUDA {}.{}, runtime {}.{}, CUB {}; L2 of {} MiB flushed before each of {} samples\n\n",
             properties.name, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
             bench::cub_version(), properties.l2CacheSize >> 20, options.samples);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  bench::GpuClock clock(stream);

  if (options.every_size) {
    const bool all = every_size(options, clock, stream);
    fmt::print("{}\n", all ? "all results agree with CUB's" : "RESULTS DIFFER");
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
  }
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
  fmt::print("from C: {} ns\n", difference(enqueued[4], enqueued[1], " ns, 95% interval "));
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
