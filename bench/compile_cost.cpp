// How much processor time does the compile of a configuration take, and for what? Compiles random configurations of
// kernels with NVRTC, in this process: one by one, and in batches as workers compile them. Then does both again with
// precompiled headers, if the kernel has headers. Needs no GPU.
//
//   compile_cost [--kernel FILE]... [--count 24] [--batch 8] [--arch sm_90] [--seed 1]
//
// Prints milliseconds of a processor for each configuration, and the shares of NVRTC's phases. A first compile of each
// kernel, which loads NVRTC, does not count. With precompiled headers, the compiles that make them count.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <bench/job.hpp>

#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/measure/compile_queue.hpp>
#include <tuner/measure/expressions.hpp>

namespace {

using namespace tuner;
namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> kernels;
  std::size_t count = 24, batch = 8;
  std::string architecture = "sm_90";
  std::uint64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv,
               {{"--kernel", [&](const std::string& file) { options.kernels.push_back(file); }},
                {"--count", bench::into(options.count, 1)},
                {"--batch", bench::into(options.batch, 1)},
                {"--arch", bench::into(options.architecture)},
                {"--seed", bench::into(options.seed)}});
  if (options.kernels.empty())
    for (const char* const name : {"templates/sumMatrix2D.cu", "templates/reduce.cu", "examples/gallery/stencil3D.cu"})
      options.kernels.push_back(bench::source_file(name).string());
  return options;
}

/// Removed at the end.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("compile_cost.{}", ::getpid())) {
    fs::create_directory(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Compiles that each have an expression which no other one has.
std::vector<CompileJob> draw(const Options& options, const KernelSpec& spec) {
  const DeviceLimits limits = cuda::limits_of_architecture(options.architecture);
  const ProblemSize size = complete(spec, {});
  const EnumeratedSpace space = enumerate(spec, size, limits);
  if (space.size() == 0) throw Error(spec.name + " has no valid configuration");
  std::mt19937_64 random(options.seed);
  std::vector<CompileJob> jobs;
  for (std::size_t tries = 0; jobs.size() < options.count && tries < 100 * options.count; ++tries) {
    const auto configuration = space.configuration(static_cast<EnumeratedSpace::Index>(random() % space.size()));
    CompileRequest request = compile_request(spec, size, limits, options.architecture, configuration);
    if (!covers(jobs, request)) jobs.push_back({jobs.size(), configuration, std::move(request)});
  }
  return jobs;
}

/// Compiles all \p jobs and prints a row, called \p what.
void measure(const char* what, Compiler& compiler, const std::vector<CompileJob>& jobs, std::size_t batch,
             const fs::path& times) {
  const std::clock_t begin = std::clock();
  for (std::size_t i = 0; i < jobs.size(); i += batch) {
    CompileRequest request = merge(std::span(jobs).subspan(i, std::min(batch, jobs.size() - i)));
    request.options.push_back({"--time=" + times.string(), {}});
    const CompileResult result = compiler.compile(request);
    if (const auto* const error = std::get_if<CompileError>(&result)) throw Error(error->message);
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;

  // "kernel.cu, NVVM Optimizer, 183, ms" for each phase of each compile.
  std::map<std::string, double> phases;
  double all = 0;
  std::ifstream file(times);
  for (std::string line; std::getline(file, line);) {
    const auto last = line.rfind(", "), number = line.rfind(", ", last - 1), name = line.rfind(", ", number - 1);
    if (name == std::string::npos || name == 0 || line.substr(last) != ", ms") continue;
    const double ms = std::strtod(line.c_str() + number + 2, nullptr);
    phases[line.substr(name + 2, number - name - 2)] += ms;
    all += ms;
  }
  fs::remove(times);
  fmt::print("  {:<40} {:8.1f} ms", what, 1e3 * seconds / static_cast<double>(jobs.size()));
  for (const auto& [name, ms] : phases) fmt::print("  {} {:.0f}%", name, 100 * ms / all);
  fmt::print("\n");
  std::fflush(stdout);
}

void run(const Options& options, const std::string& kernel, const fs::path& folder) {
  const KernelSpec spec = read_kernel_file(kernel);
  const std::vector<CompileJob> jobs = draw(options, spec);
  fmt::print("{}: {} configurations for {}\n", spec.name, jobs.size(), options.architecture);
  const fs::path times = folder / "times.csv";
  const auto plain = cuda::make_nvrtc_compiler(cuda::nvrtc());
  (void)plain->compile(jobs.front().request);
  const std::string together = fmt::format("in batches of {}", options.batch);
  measure("one by one", *plain, jobs, 1, times);
  measure(together.c_str(), *plain, jobs, options.batch, times);
  if (!spec.program.includes || spec.program.includes->files.empty()) return;
  const auto precompiling = [&] {
    return cuda::make_nvrtc_compiler(cuda::nvrtc(), {.folder_of_headers = [&] { return folder; }});
  };
  measure("one by one, precompiled headers", *precompiling(), jobs, 1, times);
  measure((together + ", precompiled headers").c_str(), *precompiling(), jobs, options.batch, times);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    const Folder folder;
    for (const std::string& kernel : options.kernels) run(options, kernel, folder.path());
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "compile_cost: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
