// How long the first tuner::reduce() of a process takes, after its CUDA context exists: in new processes, with the
// compiled image kept from an earlier one, and with an empty cache folder. The driver's own part is shown beside it:
// what loading and launching the smallest kernel takes in a new process.
//   first_call [--processes 20] [--elements 1048576]
//   first_call --one reduce|driver: one process; prints microseconds. For strace and perf.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tuner/backend/cuda/context.hpp>
#include <tuner/backend/cuda/driver.hpp>
#include <tuner/reduce.hpp>

#include <bench/options.hpp>

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
  const auto work = what == "driver" ? &launch_the_smallest : &reduce_them;
  const double first = microseconds_of(work, memory, elements), second = microseconds_of(work, memory, elements);
  std::printf("%.1f %.1f\n", first, second);
}

/// The time of the first call in a new process that runs `--one WHAT` with \p cache as its cache folder.
double in_new_process(const std::string& what, const fs::path& cache, std::size_t elements) {
  ::setenv("TUNER_CACHE_DIR", cache.c_str(), 1);
  ::setenv("TUNER_TUNE", "never", 1);
  const std::string command =
      fmt::format("{} --one {} --elements {}", fs::read_symlink("/proc/self/exe").string(), what, elements);
  FILE* const output = ::popen(command.c_str(), "r");
  double first = 0, second = 0;
  const bool read = output != nullptr && std::fscanf(output, "%lf %lf", &first, &second) == 2;
  if (output == nullptr || ::pclose(output) != 0 || !read) throw std::runtime_error("failed: " + command);
  return first;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + std::ptrdiff_t(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void compare(std::size_t processes, std::size_t elements) {
  std::string name = (fs::temp_directory_path() / "first_call-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const fs::path folder = name, kept = folder / "kept";
  in_new_process("reduce", kept, elements);
  std::vector<double> of_driver, with_image, without;
  for (std::size_t i = 0; i < processes; ++i) {
    of_driver.push_back(in_new_process("driver", kept, elements));
    with_image.push_back(in_new_process("reduce", kept, elements));
    without.push_back(in_new_process("reduce", folder / std::to_string(i), elements));
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
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) try {
  std::size_t processes = 20, elements = std::size_t{1} << 20;
  std::string one;
  bench::parse(argc, argv,
               {{"--processes", bench::into(processes, 1)},
                {"--elements", bench::into(elements, 1)},
                {"--one", bench::into(one)}});
  if (!tuner::cuda::driver_status().available) {
    std::printf("skipped: %s\n", tuner::cuda::driver_status().reason.c_str());
    return 77;
  }
  if (one.empty())
    compare(processes, elements);
  else
    run_one(one, elements);
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::fprintf(stderr, "first_call: %s\n", error.what());
  return EXIT_FAILURE;
}
