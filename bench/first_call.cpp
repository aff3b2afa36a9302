// Measures the first tuner::reduce() of new processes, after their CUDA context exists. They have a compiled image from
// an earlier process, or an empty cache folder: with shipped images (`tune db export --as images`) and no compiler, or
// without images. Also prints the driver's part: loading and launching the smallest kernel in a new process.
//   first_call [--processes 20] [--elements 1048576] [--images FOLDER]
//   first_call --one reduce|driver: one process; prints microseconds. For strace and perf.
//   first_call --one kernels: 100 plans in one process (prepare_reduce() for other types, operations and sizes).
//   first_call --one kernels4: the same by four threads.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/reduce.hpp>

#include <bench/options.hpp>
#include <bench/processes.hpp>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using tuner::cuda::check;
using tuner::cuda::driver;

constexpr const char* kSmallest = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";

double microseconds_of(void (*work)(CUdeviceptr, std::size_t), CUdeviceptr memory, std::size_t elements) {
  const auto begin = Clock::now();
  work(memory, elements);
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void reduce_them(CUdeviceptr memory, std::size_t elements) {
  tuner::reduce(reinterpret_cast<const float*>(memory), elements);
}

template <typename T>
void prepare_sizes(tuner::Operation operation, CUdeviceptr memory, std::size_t elements) {
  for (std::size_t n = elements; n > elements / 32; n /= 2)
    tuner::prepare_reduce(reinterpret_cast<const T*>(memory), n, {operation}, /*captures=*/0);
}

void prepare_types(tuner::Operation operation, CUdeviceptr memory, std::size_t elements) {
  prepare_sizes<float>(operation, memory, elements), prepare_sizes<int>(operation, memory, elements);
  prepare_sizes<double>(operation, memory, elements / 2), prepare_sizes<std::int64_t>(operation, memory, elements / 2);
  prepare_sizes<unsigned>(operation, memory, elements);
}

constexpr tuner::Operation kOperations[] = {tuner::Operation::sum, tuner::Operation::min, tuner::Operation::max,
                                            tuner::Operation::product};

void prepare_many(CUdeviceptr memory, std::size_t elements) {
  for (const tuner::Operation operation : kOperations) prepare_types(operation, memory, elements);
}

void prepare_many_by_threads(CUdeviceptr memory, std::size_t elements) {
  CUcontext context = nullptr;
  check(driver().cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  std::vector<std::jthread> threads;
  for (const tuner::Operation operation : kOperations)
    threads.emplace_back([=] {
      const tuner::cuda::ContextGuard guard(context);
      prepare_types(operation, memory, elements);
    });
}

void launch_the_smallest(CUdeviceptr, std::size_t) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  check(driver().cuModuleLoadData(&module, kSmallest), "cuModuleLoadData");
  check(driver().cuModuleGetFunction(&function, module, "nothing"), "cuModuleGetFunction");
  check(driver().cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), "cuLaunchKernel");
  check(driver().cuCtxSynchronize(), "cuCtxSynchronize");
}

/// Prints the times of the first and the second call.
void run_one(const std::string& what, std::size_t elements) {
  CUdevice device = 0;
  check(driver().cuDeviceGet(&device, 0), "cuDeviceGet");
  CUcontext context = nullptr;
  check(driver().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  const tuner::cuda::ContextGuard guard(context);
  CUdeviceptr memory = 0;
  check(driver().cuMemAlloc(&memory, elements * sizeof(float)), "cuMemAlloc");
  check(driver().cuMemsetD8Async(memory, 0, elements * sizeof(float), nullptr), "cuMemsetD8Async");
  check(driver().cuCtxSynchronize(), "cuCtxSynchronize");
  const auto work = what == "driver"     ? &launch_the_smallest
                    : what == "kernels"  ? &prepare_many
                    : what == "kernels4" ? &prepare_many_by_threads
                                         : &reduce_them;
  const double first = microseconds_of(work, memory, elements), second = microseconds_of(work, memory, elements);
  std::printf("%.1f %.1f\n", first, second);
}

/// The time of the first call in a new process that runs `--one WHAT` with this cache folder and \p environment.
double in_new_process(const std::string& what, const fs::path& cache, std::size_t elements,
                      const std::string& environment = {}) {
  ::setenv("TUNER_CACHE_DIR", cache.c_str(), 1);
  ::setenv("TUNER_TUNE", "never", 1);
  const std::string command =
      fmt::format("{} {} --one {} --elements {}", environment, bench::this_program().string(), what, elements);
  return std::stod(bench::output_of(command));
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// \p images: a folder with shipped images; empty: do not measure them.
void compare(std::size_t processes, std::size_t elements, const std::string& images) {
  const bench::ScratchFolder scratch("first_call");
  const fs::path& folder = scratch.path();
  const fs::path kept = folder / "kept";
  in_new_process("reduce", kept, elements);
  const std::string no_compiler = fmt::format("TUNER_DB_PATH='{}' TUNER_NVRTC=/nonexistent", images);
  std::vector<double> of_driver, with_image, without, shipped, kernels, by_threads;
  for (std::size_t i = 0; i < processes; ++i) {
    of_driver.push_back(in_new_process("driver", kept, elements));
    with_image.push_back(in_new_process("reduce", kept, elements));
    without.push_back(in_new_process("reduce", folder / std::to_string(i), elements));
    if (images.empty()) continue;
    shipped.push_back(in_new_process("reduce", folder / ("shipped" + std::to_string(i)), elements, no_compiler));
    kernels.push_back(in_new_process("kernels", kept, elements, no_compiler));
    by_threads.push_back(in_new_process("kernels4", kept, elements, no_compiler));
  }
  const auto row = [&](const char* what, const std::vector<double>& times) {
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.1f} |\n", what, median(times) / 1e3, *least / 1e3, *most / 1e3,
               median(times) / median(of_driver));
  };
  fmt::print("| first call, {} processes | median ms | least | most | of the driver's |\n", processes);
  fmt::print("| --- | --- | --- | --- | --- |\n");
  row("the driver's smallest kernel", of_driver);
  row("reduce, image kept", with_image);
  row("reduce, empty cache folder", without);
  if (!images.empty()) row("reduce, empty cache folder, shipped image, no compiler", shipped);
  if (!images.empty()) row("100 kernels from shipped images", kernels);
  if (!images.empty()) row("100 kernels from shipped images, four threads", by_threads);
}

}  // namespace

int main(int argc, char** argv) try {
  std::size_t processes = 20, elements = std::size_t{1} << 20;
  std::string one, images;
  bench::parse(argc, argv,
               {{"--processes", bench::into(processes, 1)},
                {"--elements", bench::into(elements, 1)},
                {"--images", bench::into(images)},
                {"--one", bench::into(one)}});
  if (!tuner::cuda::driver_status().available) {
    std::printf("skipped: %s\n", tuner::cuda::driver_status().reason.c_str());
    return 77;
  }
  if (one.empty())
    compare(processes, elements, images);
  else
    run_one(one, elements);
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::fprintf(stderr, "first_call: %s\n", error.what());
  return EXIT_FAILURE;
}
